/* The other side of cfe.h: a query, one that is refused, one of a wrong length, then a wake-up for
   every step of a self-test; prints what the app sends. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "iris_app.h"

static IRIS_APP_Query_t query;
static unsigned turn;

CFE_Status_t CFE_EVS_Register(const void *filters, uint16 n, uint16 scheme)
{
    (void)filters, (void)n, (void)scheme;
    return CFE_SUCCESS;
}
CFE_Status_t CFE_EVS_SendEvent(uint16 id, uint16 type, const char *format, ...)
{
    va_list arguments;
    (void)type;
    printf("event %u: ", id);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    return CFE_SUCCESS;
}
CFE_Status_t CFE_MSG_Init(CFE_MSG_Message_t *message, CFE_SB_MsgId_t id, CFE_MSG_Size_t size)
{
    (void)message;
    printf("message 0x%X of %lu bytes\n", (unsigned)id.value, (unsigned long)size);
    return CFE_SUCCESS;
}
CFE_Status_t CFE_MSG_GetMsgId(const CFE_MSG_Message_t *message, CFE_SB_MsgId_t *id)
{
    (void)message;
    *id = CFE_SB_ValueToMsgId((turn <= 3U) ? IRIS_APP_QUERY_MID : IRIS_APP_WAKEUP_MID);
    return CFE_SUCCESS;
}
CFE_Status_t CFE_MSG_GetSize(const CFE_MSG_Message_t *message, CFE_MSG_Size_t *size)
{
    (void)message;
    *size = (turn == 3U) ? 1U : sizeof(query);
    return CFE_SUCCESS;
}
CFE_Status_t CFE_SB_CreatePipe(CFE_SB_PipeId_t *pipe, uint16 depth, const char *name)
{
    (void)depth, (void)name;
    pipe->value = 1U;
    return CFE_SUCCESS;
}
CFE_Status_t CFE_SB_Subscribe(CFE_SB_MsgId_t id, CFE_SB_PipeId_t pipe)
{
    (void)pipe;
    printf("subscribes to 0x%X\n", (unsigned)id.value);
    return CFE_SUCCESS;
}
CFE_Status_t CFE_SB_ReceiveBuffer(CFE_SB_Buffer_t **buffer, CFE_SB_PipeId_t pipe, int32 timeout)
{
    (void)pipe, (void)timeout;
    turn++;
    query.x[0] = (turn == 2U) ? 3e38f * 10.0f : 5.0f;
    *buffer = (CFE_SB_Buffer_t *)(void *)&query;
    return (turn <= 4000U) ? CFE_SUCCESS : -1;
}
void CFE_SB_TimeStampMsg(CFE_MSG_Message_t *message) { (void)message; }
CFE_Status_t CFE_SB_TransmitMsg(const CFE_MSG_Message_t *message, bool origin)
{
    IRIS_APP_Answer_t answer;
    (void)origin;
    memcpy(&answer, message, sizeof(answer));
    printf("label %d, certified %u\n", (int)answer.label, answer.certified);
    return CFE_SUCCESS;
}
bool CFE_ES_RunLoop(uint32 *status) { return *status == CFE_ES_RunStatus_APP_RUN; }
void CFE_ES_ExitApp(uint32 status) { printf("exit %u\n", (unsigned)status); }
int main(void)
{
    IRIS_APP_Main();
    return 0;
}
