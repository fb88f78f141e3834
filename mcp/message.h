/*
 * message.h - a message of JSON-RPC 2.0, as it came: which kind it is, and its parts as text.
 *
 *     struct message message;
 *     message_read(line, len, &message);
 *     if (message.kind == MESSAGE_REQUEST && strcmp(message.method, "ping") == 0) ...
 *     free(message.method);
 *
 * Ids are kept as they were written, of any size. The texts of other parts are borrowed from the line.
 */
#ifndef TPA_MCP_MESSAGE_H
#define TPA_MCP_MESSAGE_H

#include "ingest/json_text.h"

enum message_kind {
    MESSAGE_REQUEST,
    MESSAGE_NOTIFICATION,
    MESSAGE_RESPONSE, /* to a request that was never sent: ignored */
    MESSAGE_BATCH,    /* an array */
    MESSAGE_NO_JSON,  /* not JSON, not UTF-8, with a NUL, or nested too deeply */
    MESSAGE_INVALID,  /* JSON, but no request */
};

/* Codes of errors. */
enum {
    RPC_NO_JSON = -32700,
    RPC_INVALID = -32600,
    RPC_NO_METHOD = -32601,
    RPC_BAD_PARAMS = -32602,
    RPC_INTERNAL = -32603,
    MCP_UNSUPPORTED_VERSION = -32022,
};

struct message {
    enum message_kind kind;
    struct json_text id;     /* with its quotes; LEN 0: none, or none that can be answered */
    char *method;            /* new; NULL: none */
    struct json_text params; /* an object; LEN 0: none */
    bool bad_params;         /* there are some, and they are no object */
};

/* Read LEN bytes at LINE, without the end of the line. The caller frees the method with free(). */
void message_read(const char *line, size_t len, struct message *message);

/* The member KEY of OBJECT; false if OBJECT is no object, or has none. VALUE is borrowed from it. */
bool message_member(const struct json_text *object, const char *key, struct json_text *value);

/* The first byte of VALUE decides what it is. */
bool message_is_object(const struct json_text *value);
bool message_is_array(const struct json_text *value);
bool message_is_integer(const struct json_text *value);

/* The string VALUE, decoded, with a NUL behind; false if it is none, or holds one. OUT is replaced. */
bool message_string(const struct json_text *value, struct buffer *out);

#endif
