/*
 * server.h - the Model Context Protocol on standard input and output: a message per line.
 *
 *     struct mcp_server server = { .name = "tpa", .version = "0.2.0", .tools = list, .prepare = prepare, .work = { run } };
 *     return mcp_serve(&server);
 *
 * Both eras: a handshake (2024-11-05 to 2025-11-25), and a version in each request (2026-07-28). Calls run in keepers (keeper.h), so
 * that reading goes on; the server never sends a request, writes no file and opens no connection.
 */
#ifndef TPA_MCP_SERVER_H
#define TPA_MCP_SERVER_H

#include "mcp/keeper.h"
#include "mcp/message.h"

/* What a call comes to. */
struct mcp_call {
    /* the command line, each word with a NUL behind; behind an empty word, in which state other files are that it reads */
    struct buffer words;
    struct buffer files; /* what it reads, and in which state: calls with the same files share a keeper */
    const char *
        kind; /* of an error that a client can repair: "bad_argument", "outside_roots", "cannot_read"; NULL: none */
    char message[600], hint[300];
};

struct mcp_server {
    const char *name, *version, *instructions;
    const char *tools; /* the array of tools, as JSON */
    int64_t memory;    /* bytes that open traces may take; the least recently used go first */
    void *context;
    /* Fill CALL for the tool NAME; false if there is none of that name. ARGUMENTS is an object; LEN 0: none. */
    bool (*prepare)(void *context, const char *name, const struct json_text *arguments,
                    struct mcp_call *call);
    struct keeper_work work;
};

/* Serve until the end of the input, or SIGTERM: 0. */
int mcp_serve(const struct mcp_server *server);

/* For tests: handle a line as if it were read, and append what is answered at once to OUT. Calls are refused. */
void mcp_handle_line(const struct mcp_server *server, const char *line, size_t len, struct buffer *out);

#endif
