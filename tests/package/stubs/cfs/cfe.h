/* Stands for the core Flight Executive: a software bus of one app, whose messages a test gives
   (cFE API of the Caelum and Draco releases). */
#ifndef CFE_H
#define CFE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int32_t  int32;
typedef uint32_t uint32;
typedef uint16_t uint16;
typedef uint8_t  uint8;
typedef int32    CFE_Status_t;
typedef size_t   CFE_MSG_Size_t;
typedef struct { uint32 value; } CFE_SB_MsgId_t;
typedef struct { uint32 value; } CFE_SB_PipeId_t;
typedef struct { uint8 bytes[8]; } CFE_MSG_Message_t;
typedef struct { CFE_MSG_Message_t Msg; } CFE_MSG_CommandHeader_t;
typedef struct { CFE_MSG_Message_t Msg; uint8 time[8]; } CFE_MSG_TelemetryHeader_t;
typedef union { CFE_MSG_Message_t Msg; long double align; } CFE_SB_Buffer_t;

#define CFE_SUCCESS 0
#define CFE_SB_PEND_FOREVER (-1)
#define CFE_SB_INVALID_MSG_ID CFE_SB_ValueToMsgId(0)
#define CFE_MSG_PTR(header) (&(header).Msg)
enum { CFE_EVS_EventFilter_BINARY };
enum { CFE_ES_RunStatus_APP_RUN = 1, CFE_ES_RunStatus_APP_ERROR };
enum { CFE_EVS_EventType_INFORMATION, CFE_EVS_EventType_ERROR, CFE_EVS_EventType_CRITICAL };

static inline CFE_SB_MsgId_t CFE_SB_ValueToMsgId(uint32 value)
{
    const CFE_SB_MsgId_t id = { value };
    return id;
}
static inline uint32 CFE_SB_MsgIdToValue(CFE_SB_MsgId_t id) { return id.value; }
CFE_Status_t CFE_EVS_Register(const void *filters, uint16 n, uint16 scheme);
CFE_Status_t CFE_EVS_SendEvent(uint16 id, uint16 type, const char *format, ...);
CFE_Status_t CFE_MSG_Init(CFE_MSG_Message_t *message, CFE_SB_MsgId_t id, CFE_MSG_Size_t size);
CFE_Status_t CFE_MSG_GetMsgId(const CFE_MSG_Message_t *message, CFE_SB_MsgId_t *id);
CFE_Status_t CFE_MSG_GetSize(const CFE_MSG_Message_t *message, CFE_MSG_Size_t *size);
CFE_Status_t CFE_SB_CreatePipe(CFE_SB_PipeId_t *pipe, uint16 depth, const char *name);
CFE_Status_t CFE_SB_Subscribe(CFE_SB_MsgId_t id, CFE_SB_PipeId_t pipe);
CFE_Status_t CFE_SB_ReceiveBuffer(CFE_SB_Buffer_t **buffer, CFE_SB_PipeId_t pipe, int32 timeout);
void CFE_SB_TimeStampMsg(CFE_MSG_Message_t *message);
CFE_Status_t CFE_SB_TransmitMsg(const CFE_MSG_Message_t *message, bool origin);
bool CFE_ES_RunLoop(uint32 *status);
void CFE_ES_ExitApp(uint32 status);
#endif
