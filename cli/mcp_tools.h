/*
 * mcp_tools.h - the commands as tools of an MCP server: their schemas, and a call as a command line.
 *
 *     struct mcp_tools tools = { .roots = &roots, .budget_bytes = 10000 };
 *     struct buffer list = { 0 };
 *     mcp_tools_list(&list);                                    // [{"name":"top","description":"...","inputSchema":{...}}, ...]
 *     mcp_tools_prepare(&tools, "top", &arguments, &call);      // top, --format=json, ..., trace.json
 *
 * A tool is each command that reads and prints JSON, and writes nothing. Its arguments are `traces`, `budget`, and the options under
 * their long names with _ for -; paths lie below the roots.
 */
#ifndef TPA_CLI_MCP_TOOLS_H
#define TPA_CLI_MCP_TOOLS_H

#include "cli/command.h"
#include "mcp/roots.h"
#include "mcp/server.h"

struct mcp_tools {
    const struct roots *roots;
    int64_t budget_bytes; /* of a call that names none */
};

/* Append the array of tools; the description of what many share, for `instructions`. */
void mcp_tools_list(struct buffer *out);
extern const char mcp_tools_instructions[];

/* Is COMMAND a tool? */
bool mcp_tools_has(const struct command *command);

/* See struct mcp_server: CONTEXT is a struct mcp_tools. */
bool mcp_tools_prepare(void *context, const char *name, const struct json_text *arguments,
                       struct mcp_call *call);

#endif
