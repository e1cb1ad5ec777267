// Stands for Arduino's header: the serial port is the standard output.
#include <cstdio>
struct SerialPort {
    void begin(long) {}
    void print(const char* text) { std::printf("%s", text); }
    void print(double value) { std::printf("%.2f", value); }
    template <typename T>
    void println(T what)
    {
        print(what);
        std::printf("\n");
    }
};
static SerialPort Serial;
static inline void delay(unsigned long) {}
