/* Stands for OSAL's ut_assert and for cFE's ut_core_api_stubs: each function counts its calls, returns
   what a test has put in, and takes what it gives out from the buffer of the test. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "utassert.h"
#include "utstubs.h"
#include "uttest.h"

static struct
{
    UT_EntryKey_t key;
    uint32        calls;
    int32         deferred, retcode;
    uint8         data[64];
    size_t        size;
} stubs[24];
static unsigned failures;

static unsigned find(UT_EntryKey_t key)
{
    unsigned i = 0;

    while ((stubs[i].key != NULL) && (stubs[i].key != key))
    {
        ++i;
    }
    stubs[i].key = key;
    return i;
}

static int32 call(UT_EntryKey_t key, void *result, size_t size)
{
    const unsigned i = find(key);

    stubs[i].calls++;
    if (size > 0)
    {
        UtAssert_True(size <= stubs[i].size, "a value is there");
        memcpy(result, stubs[i].data, size);
        stubs[i].size -= (size <= stubs[i].size) ? size : stubs[i].size;
        memmove(stubs[i].data, &stubs[i].data[size], sizeof(stubs[i].data) - size);
    }
    return ((stubs[i].deferred > 0) && (--stubs[i].deferred == 0)) ? stubs[i].retcode : 0;
}

void UT_ResetState(UT_EntryKey_t key)
{
    if (key == NULL)
    {
        memset(stubs, 0, sizeof(stubs));
    }
    else
    {
        const unsigned i = find(key);
        memset(&stubs[i], 0, sizeof(stubs[i]));
        stubs[i].key = key;
    }
}
void UT_SetDataBuffer(UT_EntryKey_t key, void *data, size_t size, bool copy)
{
    const unsigned i = find(key);

    (void)copy;
    memcpy(stubs[i].data, data, size);
    stubs[i].size = size;
}
void UT_SetDeferredRetcode(UT_EntryKey_t key, int32 count, int32 retcode)
{
    stubs[find(key)].deferred = count;
    stubs[find(key)].retcode  = retcode;
}
uint32 UT_GetStubCount(UT_EntryKey_t key) { return stubs[find(key)].calls; }

void UtAssertEx(bool expression, const char *file, int line, const char *text, ...)
{
    va_list arguments;

    if (!expression)
    {
        ++failures;
        printf("%s:%d: ", file, line);
        va_start(arguments, text);
        vprintf(text, arguments);
        va_end(arguments);
        printf("\n");
    }
}
void UtTest_Add(void (*test)(void), void (*setup)(void), void (*teardown)(void), const char *name)
{
    setup();
    test();
    teardown();
    printf("%s: %u failures\n", name, failures);
}
int main(void)
{
    UtTest_Setup();
    return (failures == 0) ? 0 : 1;
}

#define STUB(function) call(UT_KEY(function), NULL, 0)
CFE_Status_t CFE_EVS_Register(const void *a, uint16 b, uint16 c)
{
    (void)a, (void)b, (void)c;
    return STUB(CFE_EVS_Register);
}
CFE_Status_t CFE_EVS_SendEvent(uint16 a, uint16 b, const char *c, ...)
{
    (void)a, (void)b, (void)c;
    return STUB(CFE_EVS_SendEvent);
}
CFE_Status_t CFE_MSG_Init(CFE_MSG_Message_t *a, CFE_SB_MsgId_t b, CFE_MSG_Size_t c)
{
    (void)a, (void)b, (void)c;
    return STUB(CFE_MSG_Init);
}
CFE_Status_t CFE_MSG_GetMsgId(const CFE_MSG_Message_t *a, CFE_SB_MsgId_t *id)
{
    (void)a;
    return call(UT_KEY(CFE_MSG_GetMsgId), id, sizeof(*id));
}
CFE_Status_t CFE_MSG_GetSize(const CFE_MSG_Message_t *a, CFE_MSG_Size_t *size)
{
    (void)a;
    return call(UT_KEY(CFE_MSG_GetSize), size, sizeof(*size));
}
CFE_Status_t CFE_MSG_GetFcnCode(const CFE_MSG_Message_t *a, CFE_MSG_FcnCode_t *code)
{
    (void)a;
    return call(UT_KEY(CFE_MSG_GetFcnCode), code, sizeof(*code));
}
CFE_Status_t CFE_SB_CreatePipe(CFE_SB_PipeId_t *a, uint16 b, const char *c)
{
    (void)a, (void)b, (void)c;
    return STUB(CFE_SB_CreatePipe);
}
CFE_Status_t CFE_SB_SubscribeEx(CFE_SB_MsgId_t a, CFE_SB_PipeId_t b, CFE_SB_Qos_t c, uint16 d)
{
    (void)a, (void)b, (void)c, (void)d;
    return STUB(CFE_SB_SubscribeEx);
}
CFE_Status_t CFE_SB_ReceiveBuffer(CFE_SB_Buffer_t **a, CFE_SB_PipeId_t b, int32 c)
{
    (void)a, (void)b, (void)c;
    return STUB(CFE_SB_ReceiveBuffer);
}
CFE_Status_t CFE_SB_TransmitMsg(const CFE_MSG_Message_t *a, bool b)
{
    (void)a, (void)b;
    return STUB(CFE_SB_TransmitMsg);
}
CFE_Status_t CFE_ES_WriteToSysLog(const char *a, ...)
{
    (void)a;
    return STUB(CFE_ES_WriteToSysLog);
}
bool CFE_ES_RunLoop(uint32 *a)
{
    (void)a;
    return STUB(CFE_ES_RunLoop) != 0;
}
void CFE_SB_TimeStampMsg(CFE_MSG_Message_t *a) { (void)a; }
void CFE_ES_PerfLogAdd(uint32 a, uint32 b) { (void)a, (void)b; }
void CFE_ES_ExitApp(uint32 a)
{
    (void)a;
    (void)STUB(CFE_ES_ExitApp);
}
