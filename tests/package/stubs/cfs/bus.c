/* Stands for SB and MSG: pipes of limited depth, subscriptions of limited messages, the headers'
   bytes. Prints what is dropped and all telemetry. */
#include <stdio.h>
#include <string.h>

#include "standin.h"

enum { MOST_PIPES = 4, MOST_SUBSCRIPTIONS = 16 };

typedef union
{
    CFE_SB_Buffer_t aligned;
    uint8           bytes[CFE_MISSION_SB_MAX_SB_MSG_SIZE];
} buffer_t;

static struct
{
    unsigned depth, first, count;
    buffer_t queue[OS_QUEUE_MAX_DEPTH + 1];
} pipes[MOST_PIPES];
static unsigned n_pipes;

static struct
{
    CFE_SB_MsgId_Atom_t mid;
    unsigned            pipe, limit;
} subscriptions[MOST_SUBSCRIPTIONS];
static unsigned n_subscriptions;

static CFE_SB_MsgId_Atom_t mid_of(const CFE_MSG_Message_t *message)
{
    return ((unsigned)message->StreamId[0] << 8) | message->StreamId[1];
}

static size_t size_of(const CFE_MSG_Message_t *message)
{
    return (((size_t)message->Length[0] << 8) | message->Length[1]) + 7U;
}

CFE_Status_t CFE_MSG_Init(CFE_MSG_Message_t *message, CFE_SB_MsgId_t id, CFE_MSG_Size_t size)
{
    memset(message, 0, size);
    message->StreamId[0] = (uint8)(id.Value >> 8);
    message->StreamId[1] = (uint8)id.Value;
    message->Length[0]   = (uint8)((size - 7U) >> 8);
    message->Length[1]   = (uint8)(size - 7U);
    return fails("CFE_MSG_Init") ? CFE_SB_BAD_ARGUMENT : CFE_SUCCESS;
}
CFE_Status_t CFE_MSG_GetMsgId(const CFE_MSG_Message_t *message, CFE_SB_MsgId_t *id)
{
    *id = CFE_SB_ValueToMsgId(mid_of(message));
    return CFE_SUCCESS;
}
CFE_Status_t CFE_MSG_GetSize(const CFE_MSG_Message_t *message, CFE_MSG_Size_t *size)
{
    *size = size_of(message);
    return CFE_SUCCESS;
}
CFE_Status_t CFE_MSG_GetFcnCode(const CFE_MSG_Message_t *message, CFE_MSG_FcnCode_t *code)
{
    *code = ((const uint8 *)message)[sizeof(*message)] & 0x7FU;
    return CFE_SUCCESS;
}

CFE_Status_t CFE_SB_CreatePipe(CFE_SB_PipeId_t *pipe, uint16 depth, const char *name)
{
    if ((strlen(name) >= OS_MAX_API_NAME) || (depth > OS_QUEUE_MAX_DEPTH) ||
        (n_pipes == MOST_PIPES) || fails("CFE_SB_CreatePipe"))
    {
        return CFE_SB_PIPE_CR_ERR;
    }
    pipes[n_pipes].depth = depth;
    pipe->id = n_pipes++;
    return CFE_SUCCESS;
}
CFE_Status_t CFE_SB_SubscribeEx(CFE_SB_MsgId_t id, CFE_SB_PipeId_t pipe, CFE_SB_Qos_t quality,
                                uint16 limit)
{
    (void)quality;
    if ((n_subscriptions == MOST_SUBSCRIPTIONS) || fails("CFE_SB_SubscribeEx"))
    {
        return CFE_SB_BAD_ARGUMENT;
    }
    subscriptions[n_subscriptions].mid   = id.Value;
    subscriptions[n_subscriptions].pipe  = pipe.id;
    subscriptions[n_subscriptions].limit = limit;
    n_subscriptions++;
    return CFE_SUCCESS;
}
CFE_Status_t CFE_SB_Subscribe(CFE_SB_MsgId_t id, CFE_SB_PipeId_t pipe)
{
    return CFE_SB_SubscribeEx(id, pipe, CFE_SB_DEFAULT_QOS, CFE_PLATFORM_SB_DEFAULT_MSG_LIMIT);
}

void deliver(const CFE_MSG_Message_t *message)
{
    const CFE_SB_MsgId_Atom_t mid = mid_of(message);
    unsigned                  s, i;

    for (s = 0; s < n_subscriptions; ++s)
    {
        const unsigned p = subscriptions[s].pipe;
        unsigned       waiting = 0;

        if (subscriptions[s].mid != mid)
        {
            continue;
        }
        for (i = 0; i < pipes[p].count; ++i)
        {
            const unsigned at = (pipes[p].first + i) % (OS_QUEUE_MAX_DEPTH + 1);
            waiting += mid_of(&pipes[p].queue[at].aligned.Msg) == mid;
        }
        if ((waiting >= subscriptions[s].limit) || (pipes[p].count >= pipes[p].depth))
        {
            printf("dropped %04X\n", (unsigned)mid);
            continue;
        }
        i = (pipes[p].first + pipes[p].count++) % (OS_QUEUE_MAX_DEPTH + 1);
        memcpy(pipes[p].queue[i].bytes, message, size_of(message));
    }
}

CFE_Status_t CFE_SB_ReceiveBuffer(CFE_SB_Buffer_t **buffer, CFE_SB_PipeId_t pipe, int32 timeout)
{
    (void)timeout;
    while (pipes[pipe.id].count == 0)
    {
        if (!wait_for_message())
        {
            return CFE_SB_PIPE_RD_ERR;
        }
    }
    *buffer = &pipes[pipe.id].queue[pipes[pipe.id].first].aligned;
    pipes[pipe.id].first = (pipes[pipe.id].first + 1U) % (OS_QUEUE_MAX_DEPTH + 1);
    pipes[pipe.id].count--;
    return CFE_SUCCESS;
}

void CFE_SB_TimeStampMsg(CFE_MSG_Message_t *message) { (void)message; }

CFE_Status_t CFE_SB_TransmitMsg(const CFE_MSG_Message_t *message, bool count)
{
    const uint8 *bytes = (const uint8 *)message;
    size_t       i;

    (void)count;
    printf("sent %04X ", (unsigned)mid_of(message));
    for (i = sizeof(CFE_MSG_TelemetryHeader_t); i < size_of(message); ++i)
    {
        printf("%02x", bytes[i]);
    }
    printf("\n");
    deliver(message);
    return CFE_SUCCESS;
}
