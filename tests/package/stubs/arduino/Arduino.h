// Stands for Arduino's header (ArduinoCore-avr 1.8.8, Print.h and HardwareSerial.h): the serial
// port is the standard output. A floating number is printed with two decimals unless told.
#include <cstdio>
struct SerialPort {
    void begin(unsigned long) {}
    void print(const char text[]) { std::printf("%s", text); }
    void print(double value, int digits = 2) { std::printf("%.*f", digits, value); }
    void println(const char text[]) { std::printf("%s\n", text); }
    void println(double value, int digits = 2) { std::printf("%.*f\n", digits, value); }
};
static SerialPort Serial;
static inline void delay(unsigned long) {}
