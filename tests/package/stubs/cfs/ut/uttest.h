#ifndef UTTEST_H
#define UTTEST_H
void UtTest_Add(void (*Test)(void), void (*Setup)(void), void (*Teardown)(void), const char *Name);
void UtTest_Setup(void);
#endif
