#ifndef UTSTUBS_H
#define UTSTUBS_H
#include "cfe.h"
typedef void (*UT_EntryKey_t)(void);
#define UT_KEY(Func) ((UT_EntryKey_t)Func)
void   UT_ResetState(UT_EntryKey_t FuncKey);
void   UT_SetDataBuffer(UT_EntryKey_t FuncKey, void *DataBuffer, size_t BufferSize, bool AllocateCopy);
void   UT_SetDeferredRetcode(UT_EntryKey_t FuncKey, int32 Count, int32 Retcode);
uint32 UT_GetStubCount(UT_EntryKey_t FuncKey);
#endif
