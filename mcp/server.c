/* server.c - see server.h. */
#define _GNU_SOURCE
#include "mcp/server.h"

#include "base/escape.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LONGEST_LINE = 64 << 20,
    MOST_WAITING_OUTPUT = 64 << 20, /* then no more is read */
    MOST_KEEPERS = 32,
    MOST_RUNNING = 4,
    PATIENCE_MS = 4500, /* for answers after the end of the input */
};

static const char modern_version[] = "2026-07-28";
static const char *const legacy_versions[] = { "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05" };
enum { LEGACY_VERSIONS = sizeof legacy_versions / sizeof *legacy_versions };
static const char batch_version[] = "2025-03-26";

/* An array of requests, answered by an array when the last of them is. */
struct batch {
    struct buffer text;
    size_t due;
};

/* A call of a tool that is not answered yet. */
struct pending {
    struct buffer id, token; /* as written; without a token no progress is sent */
    struct mcp_call call;
    struct batch *batch;
    struct kept *kept; /* who answers; NULL: it waits */
    bool modern, cancelled;
    int64_t sent, sent_ms; /* the last progress */
    struct pending *next;
};

/* A keeper, and what it keeps. */
struct kept {
    struct keeper keeper;
    char *files;
    uint64_t used; /* when, in order */
    struct kept *next;
};

struct session {
    const struct mcp_server *server;
    const char *version; /* agreed on by initialize; NULL: none yet */
    struct buffer in, out;
    size_t written; /* of OUT */
    bool skips;     /* the rest of a line that is too long */
    bool at_end, output_gone;
    struct pending *pending;
    struct kept *kept;
    uint64_t uses;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- answers ---- */

static void add_quoted(struct buffer *out, const char *text, size_t len)
{
    buffer_putc(out, '"');
    escape_json(out, text, len);
    buffer_putc(out, '"');
}

static void add_text(struct buffer *out, const char *text)
{
    add_quoted(out, text, strlen(text));
}

static void add_raw(struct buffer *out, const char *text, size_t len)
{
    if (len)
        buffer_add(out, text, len);
}

/* The array BATCH is answered by is complete: send it. */
static void end_batch(struct session *session, struct batch *batch)
{
    if (batch->due)
        return;
    if (batch->text.count) {
        buffer_putc(&session->out, '[');
        add_raw(&session->out, batch->text.at, batch->text.count);
        buffer_puts(&session->out, "]\n");
    }
    buffer_release(&batch->text);
    free(batch);
}

/* Where the next answer goes; it ends with end_message. */
static struct buffer *begin_message(struct session *session, struct batch *batch)
{
    struct buffer *out = batch ? &batch->text : &session->out;
    if (batch && out->count)
        buffer_putc(out, ',');
    return out;
}

static void end_message(struct session *session, struct batch *batch)
{
    if (!batch)
        buffer_putc(&session->out, '\n');
}

static struct buffer *begin_result(struct session *session, struct batch *batch, const char *id,
                                   size_t id_len)
{
    struct buffer *out = begin_message(session, batch);
    buffer_puts(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    add_raw(out, id, id_len);
    buffer_puts(out, ",\"result\":{");
    return out;
}

static void end_result(struct session *session, struct batch *batch, struct buffer *out)
{
    buffer_puts(out, "}}");
    end_message(session, batch);
}

static void answer_error(struct session *session, struct batch *batch, const struct json_text *id, int code,
                         const char *message, const char *data)
{
    struct buffer *out = begin_message(session, batch);
    buffer_puts(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    if (id && id->len)
        add_raw(out, id->at, id->len);
    else
        buffer_puts(out, "null");
    buffer_printf(out, ",\"error\":{\"code\":%d,\"message\":", code);
    add_text(out, message);
    if (data)
        buffer_printf(out, ",\"data\":%s", data);
    buffer_puts(out, "}}");
    end_message(session, batch);
}

/* The result of a tool: DOCUMENT as it is, and TEXT. */
static void answer_call(struct session *session, const struct pending *pending, const char *document,
                        size_t len, const char *text, size_t text_len, bool is_error)
{
    struct buffer *out = begin_result(session, pending->batch, pending->id.at, pending->id.count);
    buffer_puts(out, "\"content\":[{\"type\":\"text\",\"text\":");
    add_quoted(out, text, text_len);
    buffer_puts(out, "}],\"structuredContent\":");
    add_raw(out, document, len);
    buffer_printf(out, ",\"isError\":%s", is_error ? "true" : "false");
    if (pending->modern)
        buffer_puts(out, ",\"resultType\":\"complete\"");
    end_result(session, pending->batch, out);
}

static void answer_refused(struct session *session, const struct pending *pending, const char *kind,
                           const char *message, const char *hint)
{
    SCOPED struct buffer document = { 0 };
    buffer_puts(&document, "{\"error\":{\"kind\":");
    add_text(&document, kind);
    buffer_puts(&document, ",\"message\":");
    add_text(&document, message);
    buffer_puts(&document, ",\"hint\":");
    add_text(&document, hint);
    buffer_puts(&document, "}}");
    answer_call(session, pending, document.at, document.count, message, strlen(message), true);
}

/* ---- calls ---- */

static void free_pending(struct session *session, struct pending *pending)
{
    struct pending **at = &session->pending;
    while (*at && *at != pending)
        at = &(*at)->next;
    if (*at)
        *at = pending->next;
    if (pending->batch) {
        pending->batch->due--;
        end_batch(session, pending->batch);
    }
    buffer_release(&pending->id);
    buffer_release(&pending->token);
    buffer_release(&pending->call.words);
    buffer_release(&pending->call.files);
    free(pending);
}

static void free_kept(struct session *session, struct kept *kept)
{
    struct kept **at = &session->kept;
    while (*at != kept)
        at = &(*at)->next;
    *at = kept->next;
    keeper_close(&kept->keeper);
    free(kept->files);
    free(kept);
}

/* Close keepers that are not asked, the least recently used first, while they take too much memory, or there are MOST. */
static void make_room(struct session *session, size_t most)
{
    for (;;) {
        struct kept *oldest = NULL;
        int64_t memory = 0;
        size_t count = 0;
        for (struct kept *kept = session->kept; kept; kept = kept->next) {
            memory += keeper_memory(&kept->keeper);
            count++;
            if (!kept->keeper.busy && (!oldest || kept->used < oldest->used))
                oldest = kept;
        }
        if (!oldest || (memory <= session->server->memory && count <= most))
            return;
        free_kept(session, oldest);
    }
}

static struct kept *find_kept(struct session *session, const char *files)
{
    struct kept *kept = session->kept;
    while (kept && strcmp(kept->files, files) != 0)
        kept = kept->next;
    return kept;
}

static struct kept *open_kept(struct session *session, const char *files)
{
    struct keeper keeper;
    make_room(session, MOST_KEEPERS - 1);
    if (!keeper_open(&keeper, &session->server->work, NULL))
        return NULL;
    struct kept *kept = mem_zalloc(1, sizeof *kept);
    kept->keeper = keeper;
    kept->files = mem_strdup(files);
    kept->next = session->kept;
    session->kept = kept;
    return kept;
}

/* Start the calls that wait, where a keeper is free. */
static void start_calls(struct session *session)
{
    size_t running = 0;
    for (struct pending *pending = session->pending; pending; pending = pending->next)
        running += pending->kept != NULL;
    for (struct pending *pending = session->pending, *next; pending && running < MOST_RUNNING;
         pending = next) {
        next = pending->next;
        if (pending->kept)
            continue;
        struct kept *kept = find_kept(session, pending->call.files.at);
        if (kept && kept->keeper.busy)
            continue;
        if (!kept)
            kept = open_kept(session, pending->call.files.at);
        if (kept && keeper_ask(&kept->keeper, pending->call.words.at, pending->call.words.count)) {
            kept->used = ++session->uses;
            pending->kept = kept;
            running++;
            continue;
        }
        answer_refused(session, pending, "failed", "no process could be started for this call",
                       "call again later");
        free_pending(session, pending);
    }
}

static void tell_progress(struct session *session, struct pending *pending, const struct keeper_event *event)
{
    enum { LEAST_MS = 100 };
    int64_t now = now_ms();
    if (!pending->token.count || pending->cancelled || event->done <= pending->sent ||
        now - pending->sent_ms < LEAST_MS)
        return;
    pending->sent = event->done;
    pending->sent_ms = now;
    buffer_puts(&session->out,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":");
    add_raw(&session->out, pending->token.at, pending->token.count);
    buffer_printf(&session->out, ",\"progress\":%" PRId64, event->done);
    if (event->total >= event->done)
        buffer_printf(&session->out, ",\"total\":%" PRId64, event->total);
    buffer_puts(&session->out, "}}\n");
}

/* KEPT has said something. */
static void hear(struct session *session, struct kept *kept)
{
    struct keeper_event event;
    while (keeper_hear(&kept->keeper, &event)) {
        struct pending *pending = session->pending;
        while (pending && pending->kept != kept)
            pending = pending->next;
        bool gone = event.kind == KEEPER_LOST && kept->keeper.pid < 0;
        if (event.kind == KEEPER_PROGRESS) {
            if (pending)
                tell_progress(session, pending, &event);
            continue;
        }
        if (pending) {
            if (pending->cancelled) {
                ;
            } else if (event.kind == KEEPER_ANSWER && event.len) {
                answer_call(session, pending, event.text, event.len, event.text, event.len, false);
            } else if (event.kind == KEEPER_ERROR && event.len) {
                answer_call(session, pending, event.text, event.len, event.message, strlen(event.message),
                            true);
            } else if (event.kind == KEEPER_ERROR) {
                answer_refused(session, pending, "failed", event.message,
                               "tools/list describes the arguments");
            } else {
                answer_refused(session, pending, "failed",
                               "the analysis ended without an answer: it may have run out of memory",
                               "ask about fewer traces, or a part of them");
            }
            free_pending(session, pending);
        }
        if (gone) {
            free_kept(session, kept);
            return;
        }
        make_room(session, MOST_KEEPERS);
        return; /* KEPT may be gone */
    }
}

static void cancel(struct session *session, const struct message *message)
{
    struct json_text id;
    if (!message_member(&message->params, "requestId", &id))
        return;
    if (id.is_string)
        id = (struct json_text){ id.at - 1, id.len + 2, true };
    for (struct pending *pending = session->pending, *next; pending; pending = next) {
        next = pending->next;
        if (pending->id.count != id.len || memcmp(pending->id.at, id.at, id.len) != 0)
            continue;
        if (pending->kept) {
            pending->cancelled = true;
            keeper_stop(&pending->kept->keeper);
        } else {
            free_pending(session, pending);
        }
    }
}

/* ---- requests ---- */

static void add_server_info(const struct session *session, struct buffer *out)
{
    buffer_puts(out, "{\"name\":");
    add_text(out, session->server->name);
    buffer_puts(out, ",\"version\":");
    add_text(out, session->server->version);
    buffer_putc(out, '}');
}

static void initialize(struct session *session, struct batch *batch, const struct message *message)
{
    struct json_text asked;
    if (!message_member(&message->params, "protocolVersion", &asked) || !asked.is_string) {
        answer_error(session, batch, &message->id, RPC_BAD_PARAMS, "protocolVersion is missing", NULL);
        return;
    }
    session->version = legacy_versions[0];
    for (size_t i = 0; i < LEGACY_VERSIONS; i++)
        if (json_text_is(&asked, legacy_versions[i]))
            session->version = legacy_versions[i];
    struct buffer *out = begin_result(session, batch, message->id.at, message->id.len);
    buffer_printf(
        out, "\"protocolVersion\":\"%s\",\"capabilities\":{\"tools\":{}},\"serverInfo\":", session->version);
    add_server_info(session, out);
    buffer_puts(out, ",\"instructions\":");
    add_text(out, session->server->instructions);
    end_result(session, batch, out);
}

static void discover(struct session *session, struct batch *batch, const struct message *message)
{
    struct buffer *out = begin_result(session, batch, message->id.at, message->id.len);
    buffer_printf(
        out,
        "\"resultType\":\"complete\",\"supportedVersions\":[\"%s\"],\"capabilities\":{\"tools\":{}},\"instructions\":",
        modern_version);
    add_text(out, session->server->instructions);
    buffer_puts(
        out,
        ",\"ttlMs\":3600000,\"cacheScope\":\"public\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":");
    add_server_info(session, out);
    buffer_putc(out, '}');
    end_result(session, batch, out);
}

static void list_tools(struct session *session, struct batch *batch, const struct message *message,
                       bool modern)
{
    struct buffer *out = begin_result(session, batch, message->id.at, message->id.len);
    buffer_puts(out, "\"tools\":");
    buffer_puts(out, session->server->tools);
    if (modern)
        buffer_puts(out, ",\"resultType\":\"complete\",\"ttlMs\":3600000,\"cacheScope\":\"public\"");
    end_result(session, batch, out);
}

static void take_token(const struct message *message, struct buffer *token)
{
    struct json_text meta, value;
    if (!message_member(&message->params, "_meta", &meta) || !message_member(&meta, "progressToken", &value))
        return;
    if (value.is_string)
        buffer_add(token, value.at - 1, value.len + 2);
    else if (message_is_integer(&value))
        buffer_add(token, value.at, value.len);
}

static void call_tool(struct session *session, struct batch *batch, const struct message *message,
                      bool modern)
{
    struct json_text name, arguments = { 0 };
    SCOPED struct buffer text = { 0 };
    bool named = message_member(&message->params, "name", &name) && message_string(&name, &text);
    if (message_member(&message->params, "arguments", &arguments) && !message_is_object(&arguments)) {
        answer_error(session, batch, &message->id, RPC_BAD_PARAMS, "arguments is no object", NULL);
        return;
    }
    struct pending *pending = mem_zalloc(1, sizeof *pending);
    pending->modern = modern;
    pending->batch = batch;
    pending->sent = -1;
    buffer_add(&pending->id, message->id.at, message->id.len);
    if (!named || !session->server->prepare(session->server->context, text.at, &arguments, &pending->call)) {
        answer_error(session, batch, &message->id, RPC_BAD_PARAMS,
                     named ? "there is no tool of this name" : "the name of a tool is missing", NULL);
        pending->batch = NULL;
        free_pending(session, pending);
    } else if (pending->call.kind) {
        answer_refused(session, pending, pending->call.kind, pending->call.message, pending->call.hint);
        pending->batch = NULL;
        free_pending(session, pending);
    } else {
        struct pending **last = &session->pending;
        take_token(message, &pending->token);
        if (batch)
            batch->due++;
        while (*last)
            last = &(*last)->next;
        *last = pending;
    }
}

/* Which era the request is of; false, answered, if it is of none. */
static bool find_era(struct session *session, struct batch *batch, const struct message *message,
                     bool *modern)
{
    struct json_text meta = { 0 }, version, capabilities;
    *modern = message_member(&message->params, "_meta", &meta) &&
              message_member(&meta, "io.modelcontextprotocol/protocolVersion", &version);
    if (!*modern) {
        if (!session->version)
            answer_error(session, batch, &message->id, RPC_BAD_PARAMS,
                         "initialize first, or name the protocol version in _meta", NULL);
        return session->version != NULL;
    }
    if (!version.is_string || !json_text_is(&version, modern_version)) {
        SCOPED struct buffer data = { 0 }, asked = { 0 };
        buffer_printf(&data, "{\"supported\":[\"%s\"", modern_version);
        for (size_t i = 0; i < LEGACY_VERSIONS; i++)
            buffer_printf(&data, ",\"%s\"", legacy_versions[i]);
        buffer_puts(&data, "],\"requested\":");
        if (message_string(&version, &asked))
            add_text(&data, asked.at);
        else
            buffer_puts(&data, "null");
        buffer_putc(&data, '}');
        answer_error(session, batch, &message->id, MCP_UNSUPPORTED_VERSION, "unsupported protocol version",
                     data.at);
        return false;
    }
    if (message_member(&meta, "io.modelcontextprotocol/clientCapabilities", &capabilities) &&
        message_is_object(&capabilities))
        return true;
    answer_error(session, batch, &message->id, RPC_BAD_PARAMS, "clientCapabilities is missing in _meta",
                 NULL);
    return false;
}

static void handle_request(struct session *session, struct batch *batch, const struct message *message)
{
    bool modern;
    if (message->bad_params) {
        answer_error(session, batch, &message->id, RPC_BAD_PARAMS, "params is no object", NULL);
    } else if (strcmp(message->method, "initialize") == 0) {
        initialize(session, batch, message);
    } else if (!find_era(session, batch, message, &modern)) {
        return;
    } else if (strcmp(message->method, "tools/list") == 0) {
        list_tools(session, batch, message, modern);
    } else if (strcmp(message->method, "tools/call") == 0) {
        call_tool(session, batch, message, modern);
    } else if (modern && strcmp(message->method, "server/discover") == 0) {
        discover(session, batch, message);
    } else if (!modern && strcmp(message->method, "ping") == 0) {
        end_result(session, batch, begin_result(session, batch, message->id.at, message->id.len));
    } else {
        answer_error(session, batch, &message->id, RPC_NO_METHOD, "there is no such method", NULL);
    }
}

static void handle(struct session *session, struct batch *batch, const struct message *message)
{
    switch (message->kind) {
    case MESSAGE_REQUEST: handle_request(session, batch, message); break;
    case MESSAGE_NOTIFICATION:
        if (strcmp(message->method, "notifications/cancelled") == 0)
            cancel(session, message);
        break;
    case MESSAGE_RESPONSE: break;
    case MESSAGE_NO_JSON: answer_error(session, batch, NULL, RPC_NO_JSON, "this is no JSON", NULL); break;
    case MESSAGE_BATCH:
    case MESSAGE_INVALID:
        answer_error(session, batch, &message->id, RPC_INVALID, "this is no request of JSON-RPC 2.0", NULL);
        break;
    }
}

static void handle_batch(struct session *session, const char *line, size_t len)
{
    struct json_pull in = { line, line + len };
    struct batch *batch = mem_zalloc(1, sizeof *batch);
    size_t count = 0;
    batch->due = 1;
    json_enter(&in, '[');
    while (json_next_element(&in)) {
        struct json_text value;
        struct message message;
        if (!json_read(&in, &value))
            break;
        count++;
        message_read(value.at - value.is_string, value.len + 2 * (size_t)value.is_string, &message);
        handle(session, batch, &message);
        free(message.method);
    }
    if (!count)
        answer_error(session, NULL, NULL, RPC_INVALID, "an array without requests", NULL);
    batch->due--;
    end_batch(session, batch);
}

static void handle_line(struct session *session, const char *line, size_t len)
{
    struct message message;
    size_t blanks = 0;
    while (blanks < len && (line[blanks] == ' ' || line[blanks] == '\t' || line[blanks] == '\r'))
        blanks++;
    if (blanks == len)
        return;
    message_read(line, len, &message);
    if (message.kind == MESSAGE_BATCH && session->version && strcmp(session->version, batch_version) == 0)
        handle_batch(session, line, len);
    else if (message.kind == MESSAGE_BATCH)
        answer_error(session, NULL, NULL, RPC_INVALID,
                     "only protocol version 2025-03-26 has arrays of requests", NULL);
    else
        handle(session, NULL, &message);
    free(message.method);
}

/* ---- the loop ---- */

static int stop_pipe[2] = { -1, -1 };

static void stop(int number)
{
    (void)number;
    if (write(stop_pipe[1], "s", 1) != 1)
        return; /* it is full, which says the same */
}

static void too_long(struct session *session)
{
    answer_error(session, NULL, NULL, RPC_INVALID, "a message of more than 64 MB", NULL);
    buffer_release(&session->in);
    session->skips = true;
}

/* Handle the lines among the COUNT bytes that were read. */
static void take_input(struct session *session, const char *bytes, size_t count)
{
    while (count > 0) {
        const char *end = memchr(bytes, '\n', count);
        size_t len = end ? (size_t)(end - bytes) : count;
        if (!session->skips && session->in.count + len > LONGEST_LINE)
            too_long(session);
        if (!session->skips)
            add_raw(&session->in, bytes, len);
        if (end && !session->skips)
            handle_line(session, session->in.count ? session->in.at : "", session->in.count);
        if (end) {
            session->skips = false;
            if (session->in.count > 1 << 20)
                buffer_release(&session->in);
            else
                buffer_clear(&session->in);
        }
        len += end != NULL;
        bytes += len;
        count -= len;
    }
}

static void read_input(struct session *session)
{
    static char bytes[65536];
    ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
    if (count > 0) {
        take_input(session, bytes, (size_t)count);
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
        session->at_end = true;
        if (session->in.count)
            take_input(session, "\n", 1);
        buffer_release(&session->in);
    }
}

static void write_output(struct session *session)
{
    while (session->written < session->out.count) {
        ssize_t count =
            write(STDOUT_FILENO, session->out.at + session->written, session->out.count - session->written);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            session->output_gone = errno != EAGAIN;
            return;
        }
        session->written += (size_t)count;
    }
    session->written = 0;
    if (session->out.count > 1 << 20)
        buffer_release(&session->out);
    else
        buffer_clear(&session->out);
}

enum { AT_STOP, AT_INPUT, AT_OUTPUT, AT_KEEPERS };

/* Wait for something, and handle it. False to stop. */
static bool turn(struct session *session, int timeout_ms)
{
    struct pollfd at[AT_KEEPERS + MOST_KEEPERS + 1];
    struct kept *kept_at[MOST_KEEPERS + 1];
    size_t count = AT_KEEPERS;
    bool reads = !session->at_end && session->out.count - session->written < MOST_WAITING_OUTPUT;
    at[AT_STOP] = (struct pollfd){ .fd = stop_pipe[0], .events = POLLIN };
    at[AT_INPUT] = (struct pollfd){ .fd = reads ? STDIN_FILENO : -1, .events = POLLIN };
    at[AT_OUTPUT] = (struct pollfd){ .fd = session->out.count ? STDOUT_FILENO : -1, .events = POLLOUT };
    for (struct kept *kept = session->kept; kept && count < AT_KEEPERS + MOST_KEEPERS + 1;
         kept = kept->next) {
        kept_at[count - AT_KEEPERS] = kept;
        at[count++] = (struct pollfd){ .fd = kept->keeper.heard, .events = POLLIN };
    }
    if ((poll(at, count, timeout_ms) < 0 && errno != EINTR) || at[AT_STOP].revents)
        return false;
    for (size_t i = AT_KEEPERS; i < count; i++) {
        struct kept *still = session->kept;
        while (still && still != kept_at[i - AT_KEEPERS])
            still = still->next;
        if (at[i].revents && still)
            hear(session, still);
    }
    if (at[AT_INPUT].revents)
        read_input(session);
    start_calls(session);
    write_output(session);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    return !session->output_gone;
}

static void close_session(struct session *session)
{
    while (session->kept) {
        if (session->kept->keeper.busy && session->kept->keeper.pid > 0)
            kill(session->kept->keeper.pid, SIGKILL);
        free_kept(session, session->kept);
    }
    while (session->pending) {
        session->pending->batch = NULL;
        free_pending(session, session->pending);
    }
    buffer_release(&session->in);
    buffer_release(&session->out);
}

int mcp_serve(const struct mcp_server *server)
{
    struct session session = { .server = server };
    if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return 2;
    signal(SIGTERM, stop);
    signal(SIGINT, stop);
    signal(SIGHUP, stop);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK);
    bool goes_on = true;
    while (goes_on && !session.at_end)
        goes_on = turn(&session, -1);
    int64_t until = now_ms() + PATIENCE_MS;
    while (goes_on && (session.pending || session.out.count) && now_ms() < until)
        goes_on = turn(&session, 50);
    fcntl(STDOUT_FILENO, F_SETFL, flags);
    close_session(&session);
    return 0;
}

void mcp_handle_line(const struct mcp_server *server, const char *line, size_t len, struct buffer *out)
{
    struct session session = { .server = server, .version = batch_version };
    handle_line(&session, line, len);
    buffer_add(out, session.out.count ? session.out.at : "", session.out.count);
    close_session(&session);
}
