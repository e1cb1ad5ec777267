// Stands for Arduino's header (ArduinoCore-avr 1.8.8, Print.h and HardwareSerial.h): the serial
// port is the standard output. A floating number is printed with two decimals unless told.
/* A clock that each look finds 10 microseconds later. */
static inline unsigned long micros(void)
{
    static unsigned long now;
    now += 10UL;
    return now;
}
#ifdef __cplusplus
#include <cstdio>
struct SerialPort {
    void begin(unsigned long) {}
    void print(const char text[]) { std::printf("%s", text); }
    void print(double value, int digits = 2) { std::printf("%.*f", digits, value); }
    void println(const char text[]) { std::printf("%s\n", text); }
    void flush() {}
    void println(double value, int digits = 2) { std::printf("%.*f\n", digits, value); }
};
static SerialPort Serial;
static inline void delay(unsigned long) {}
#endif
