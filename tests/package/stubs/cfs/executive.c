/* Stands for ES and EVS. Each line of standard input is an order:

       app FILE ENTRY NAME     load an app from the folder cf, as a start-up script does
       send MID CODE BYTES     send a command: two hexadecimal numbers, its payload (or -)
       run                     let the apps work until no message waits

   Apps are threads of which one runs at a time. The end of the input stops all of them. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

enum { MOST_APPS = 4 };

typedef struct
{
    char                name[OS_MAX_API_NAME];
    void (*entry)(void);
    pthread_t           thread;
    bool                ended;
    CFE_EVS_BinFilter_t filters[CFE_PLATFORM_EVS_MAX_EVENT_FILTERS];
    unsigned            counts[CFE_PLATFORM_EVS_MAX_EVENT_FILTERS];
    unsigned            n_filters, n_events;
} app_t;

static app_t           apps[MOST_APPS];
static unsigned        n_apps;
static unsigned        turn = MOST_APPS; /* which app runs; MOST_APPS: none */
static bool            stops;
static pthread_mutex_t lock    = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  changed = PTHREAD_COND_INITIALIZER;

bool fails(const char *function)
{
    const char     *wanted = getenv("STANDIN_FAILS");
    const size_t    length = strlen(function);
    static unsigned calls;

    if ((wanted == NULL) || (strncmp(wanted, function, length) != 0) || (wanted[length] != ':'))
    {
        return false;
    }
    return ++calls == (unsigned)atoi(&wanted[length + 1U]);
}

static void give_turn(unsigned to, unsigned until)
{
    turn = to;
    pthread_cond_broadcast(&changed);
    while (turn != until)
    {
        pthread_cond_wait(&changed, &lock);
    }
}

bool wait_for_message(void)
{
    if (!stops)
    {
        give_turn(MOST_APPS, turn);
    }
    return !stops;
}

static void *start(void *argument)
{
    const unsigned own = (unsigned)((app_t *)argument - apps);

    pthread_mutex_lock(&lock);
    while (turn != own)
    {
        pthread_cond_wait(&changed, &lock);
    }
    apps[own].entry();
    return NULL;
}

bool CFE_ES_RunLoop(uint32 *status) { return *status == CFE_ES_RunStatus_APP_RUN; }

void CFE_ES_ExitApp(uint32 status)
{
    printf("exit %s %u\n", apps[turn].name, (unsigned)status);
    apps[turn].ended = true;
    turn             = MOST_APPS;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_exit(NULL);
}

void CFE_ES_PerfLogAdd(uint32 marker, uint32 exits)
{
    (void)exits;
    if (marker >= 128U) /* CFE_MISSION_ES_PERF_MAX_IDS */
    {
        printf("marker %u is too large\n", (unsigned)marker);
    }
}

CFE_Status_t CFE_ES_WriteToSysLog(const char *format, ...)
{
    va_list arguments;

    printf("log ");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    return CFE_SUCCESS;
}

CFE_Status_t CFE_EVS_Register(const void *filters, uint16 n, uint16 scheme)
{
    app_t *app = &apps[turn];

    if ((n > CFE_PLATFORM_EVS_MAX_EVENT_FILTERS) || (scheme != CFE_EVS_EventFilter_BINARY) ||
        fails("CFE_EVS_Register"))
    {
        return CFE_EVS_INVALID_PARAMETER;
    }
    memcpy(app->filters, filters, n * sizeof(app->filters[0]));
    app->n_filters = n;
    return CFE_SUCCESS;
}

CFE_Status_t CFE_EVS_SendEvent(uint16 id, uint16 type, const char *format, ...)
{
    app_t   *app = &apps[turn];
    char     text[2 * CFE_MISSION_EVS_MAX_MESSAGE_LENGTH];
    va_list  arguments;
    unsigned i;

    for (i = 0; i < app->n_filters; ++i)
    {
        if ((app->filters[i].EventID == id) && ((app->filters[i].Mask & app->counts[i]++) != 0U))
        {
            return CFE_SUCCESS;
        }
    }
#ifndef CAELUM
    if (app->n_events++ >= CFE_PLATFORM_EVS_MAX_APP_EVENT_BURST)
    {
        printf("squelched %s\n", app->name);
        return CFE_SUCCESS;
    }
#endif
    va_start(arguments, format);
    i = (unsigned)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    printf("event %s %u %u %s\n", app->name, id, type,
           (i < CFE_MISSION_EVS_MAX_MESSAGE_LENGTH) ? text : "is too long");
    return CFE_SUCCESS;
}

/* ES keeps 19 letters of the entry's name; OSAL refuses a file whose name has more. */
static void load(const char *file, const char *entry, const char *name)
{
    char   path[64], symbol[OS_MAX_API_NAME], whole[64];
    void  *module;
    app_t *app = &apps[n_apps];

    snprintf(whole, sizeof(whole), "%s.so", file);
    snprintf(path, sizeof(path), "./cf/%.50s", whole);
    snprintf(symbol, sizeof(symbol), "%.19s", entry);
    module = (strlen(whole) < OS_MAX_FILE_NAME) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (module != NULL)
    {
        *(void **)&app->entry = dlsym(module, symbol);
    }
    if ((module == NULL) || (app->entry == NULL) || (strlen(name) >= OS_MAX_API_NAME))
    {
        printf("cannot load %s\n", file);
        return;
    }
    memcpy(app->name, name, strlen(name) + 1U);
    pthread_create(&app->thread, NULL, start, app);
    n_apps++;
}

static void send(unsigned mid, unsigned code, const char *bytes)
{
    static union
    {
        CFE_SB_Buffer_t aligned;
        uint8           bytes[CFE_MISSION_SB_MAX_SB_MSG_SIZE];
    } message;
    size_t   size = sizeof(CFE_MSG_CommandHeader_t);
    unsigned byte;

    for (; sscanf(bytes, "%2x", &byte) == 1; bytes += 2)
    {
        message.bytes[size++] = (uint8)byte;
    }
    message.bytes[0] = (uint8)(mid >> 8);
    message.bytes[1] = (uint8)mid;
    message.bytes[4] = (uint8)((size - 7U) >> 8);
    message.bytes[5] = (uint8)(size - 7U);
    message.bytes[6] = (uint8)code;
    deliver(&message.aligned.Msg);
}

static void run(void)
{
    unsigned i;

    for (i = 0; i < n_apps; ++i)
    {
        if (!apps[i].ended)
        {
            give_turn(i, MOST_APPS);
        }
    }
}

int main(void)
{
    static char line[70000], a[66000], b[64], c[64];
    unsigned    mid, code;

    pthread_mutex_lock(&lock);
    while (fgets(line, sizeof(line), stdin) != NULL)
    {
        if (sscanf(line, "app %63s %63s %63s", a, b, c) == 3)
        {
            load(a, b, c);
        }
        else if (sscanf(line, "send %x %x %65999s", &mid, &code, a) == 3)
        {
            send(mid, code, a);
        }
        else
        {
            run();
        }
    }
    stops = true;
    run();
    return 0;
}
