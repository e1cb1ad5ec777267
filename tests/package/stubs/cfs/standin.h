/* What bus.c and executive.c share. */
#ifndef STANDIN_H
#define STANDIN_H
#include "cfe.h"

/* Whether a test wants this function to fail: STANDIN_FAILS names it, and which of its calls. */
bool fails(const char *function);
/* Lets the executive go on until a message has come; false: the system stops. */
bool wait_for_message(void);
/* Brings a message to the pipes that subscribed to it. */
void deliver(const CFE_MSG_Message_t *message);
#endif
