/* Stands for the core Flight Executive: types, limits and functions that the app uses, named as in
   cFE's core_api and OSAL's common_types.h of Caelum rc4, Draco rc5 and 7.0.0. CAELUM, DRACO or SEVEN
   is defined, where they differ. */
#ifndef CFE_H
#define CFE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int32_t  int32;
typedef uint32_t uint32;
typedef uint16_t uint16;
typedef uint8_t  uint8;

/* OSAL: names with their ends, and the deepest queue (default_config.cmake). */
#define OS_MAX_API_NAME    20
#define OS_MAX_FILE_NAME   20
#define OS_QUEUE_MAX_DEPTH 50
#define OS_PRINTF(n, m)    __attribute__((format(printf, n, m)))
#define CompileTimeAssert(Condition, Message) typedef char Message[(Condition) ? 1 : -1]

/* Messages: the primary header of 6 bytes, and the secondary header of commands or of telemetry. */
typedef struct { uint8 StreamId[2]; uint8 Sequence[2]; uint8 Length[2]; } CFE_MSG_Message_t;
typedef struct
{
    CFE_MSG_Message_t Msg;
    struct { uint8 FunctionCode; uint8 Checksum; } Sec;
} CFE_MSG_CommandHeader_t;
typedef struct
{
    CFE_MSG_Message_t Msg;
    struct { uint8 Time[6]; } Sec;
    uint8 Spare[4];
} CFE_MSG_TelemetryHeader_t;
typedef union { CFE_MSG_Message_t Msg; long long int LongInt; long double LongDouble; } CFE_SB_Buffer_t;
#ifndef CAELUM
#define CFE_MSG_PTR(shdr) (&((shdr).Msg))
#endif

typedef int32  CFE_Status_t;
typedef size_t CFE_MSG_Size_t;
typedef uint16 CFE_MSG_FcnCode_t;
typedef uint32 CFE_SB_MsgId_Atom_t;
typedef struct { CFE_SB_MsgId_Atom_t Value; } CFE_SB_MsgId_t;
typedef struct { uint32 id; } CFE_SB_PipeId_t;
typedef struct { uint8 Priority; uint8 Reliability; } CFE_SB_Qos_t;
typedef struct { uint16 EventID; uint16 Mask; } CFE_EVS_BinFilter_t;

#define CFE_SUCCESS               ((CFE_Status_t)0)
#define CFE_EVS_INVALID_PARAMETER ((CFE_Status_t)0xc2000008)
#define CFE_SB_BAD_ARGUMENT       ((CFE_Status_t)0xca000003)
#define CFE_SB_PIPE_CR_ERR        ((CFE_Status_t)0xca000005)
#define CFE_SB_PIPE_RD_ERR        ((CFE_Status_t)0xca000006)

#define CFE_SB_PEND_FOREVER              (-1)
#define CFE_SB_DEFAULT_QOS               ((CFE_SB_Qos_t) {0})
#define CFE_SB_MSGID_WRAP_VALUE(val)     {(CFE_SB_MsgId_Atom_t)(val)}
#define CFE_SB_INVALID_MSG_ID            ((CFE_SB_MsgId_t) CFE_SB_MSGID_WRAP_VALUE(0))
#define CFE_PLATFORM_SB_DEFAULT_MSG_LIMIT 4
#define CFE_MISSION_SB_MAX_SB_MSG_SIZE    32768
#define CFE_MISSION_EVS_MAX_MESSAGE_LENGTH 122
#define CFE_PLATFORM_EVS_MAX_EVENT_FILTERS 8
#define CFE_PLATFORM_EVS_MAX_APP_EVENT_BURST 32
#define CFE_EVS_FIRST_8_STOP              0xFFF8

enum { CFE_EVS_EventFilter_BINARY = 0 };
enum { CFE_EVS_EventType_INFORMATION = 2, CFE_EVS_EventType_ERROR, CFE_EVS_EventType_CRITICAL };
enum { CFE_ES_RunStatus_APP_RUN = 1, CFE_ES_RunStatus_APP_EXIT, CFE_ES_RunStatus_APP_ERROR };

static inline CFE_SB_MsgId_t CFE_SB_ValueToMsgId(CFE_SB_MsgId_Atom_t value)
{
    const CFE_SB_MsgId_t id = CFE_SB_MSGID_WRAP_VALUE(value);
    return id;
}
static inline CFE_SB_MsgId_Atom_t CFE_SB_MsgIdToValue(CFE_SB_MsgId_t id) { return id.Value; }
static inline bool CFE_SB_MsgId_Equal(CFE_SB_MsgId_t a, CFE_SB_MsgId_t b)
{
    return a.Value == b.Value;
}

CFE_Status_t CFE_EVS_Register(const void *Filters, uint16 NumEventFilters, uint16 FilterScheme);
CFE_Status_t CFE_EVS_SendEvent(uint16 EventID, uint16 EventType, const char *Spec, ...)
    OS_PRINTF(3, 4);
CFE_Status_t CFE_MSG_Init(CFE_MSG_Message_t *MsgPtr, CFE_SB_MsgId_t MsgId, CFE_MSG_Size_t Size);
CFE_Status_t CFE_MSG_GetMsgId(const CFE_MSG_Message_t *MsgPtr, CFE_SB_MsgId_t *MsgId);
CFE_Status_t CFE_MSG_GetSize(const CFE_MSG_Message_t *MsgPtr, CFE_MSG_Size_t *Size);
CFE_Status_t CFE_MSG_GetFcnCode(const CFE_MSG_Message_t *MsgPtr, CFE_MSG_FcnCode_t *FcnCode);
CFE_Status_t CFE_SB_CreatePipe(CFE_SB_PipeId_t *PipeIdPtr, uint16 Depth, const char *PipeName);
CFE_Status_t CFE_SB_Subscribe(CFE_SB_MsgId_t MsgId, CFE_SB_PipeId_t PipeId);
CFE_Status_t CFE_SB_SubscribeEx(CFE_SB_MsgId_t MsgId, CFE_SB_PipeId_t PipeId, CFE_SB_Qos_t Quality,
                                uint16 MsgLim);
CFE_Status_t CFE_SB_ReceiveBuffer(CFE_SB_Buffer_t **BufPtr, CFE_SB_PipeId_t PipeId, int32 TimeOut);
CFE_Status_t CFE_SB_TransmitMsg(const CFE_MSG_Message_t *MsgPtr, bool IncrementSequenceCount);
void         CFE_SB_TimeStampMsg(CFE_MSG_Message_t *MsgPtr);
CFE_Status_t CFE_ES_WriteToSysLog(const char *SpecStringPtr, ...) OS_PRINTF(1, 2);
void         CFE_ES_PerfLogAdd(uint32 Marker, uint32 EntryExit);
bool         CFE_ES_RunLoop(uint32 *RunStatus);
void         CFE_ES_ExitApp(uint32 ExitStatus);
#define CFE_ES_PerfLogEntry(id) (CFE_ES_PerfLogAdd(id, 0))
#define CFE_ES_PerfLogExit(id)  (CFE_ES_PerfLogAdd(id, 1))
#endif
