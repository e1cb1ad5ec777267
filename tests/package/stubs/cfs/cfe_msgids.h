/* Message ids: only 7.0 makes them of topic ids (default_cfe_core_api_msgid_mapping.h of cFE 7.0.0,
   for the first CPU). In Draco rc5 and Caelum rc4 an app has its own. */
#ifndef CFE_MSGIDS_H
#define CFE_MSGIDS_H
#ifdef SEVEN
#define CFE_PLATFORM_CMD_TOPICID_TO_MIDV(topic) (0x1800 | (topic))
#define CFE_PLATFORM_TLM_TOPICID_TO_MIDV(topic) (0x0800 | (topic))
#endif
#endif
