/* server.c - see server.h. libmicrohttpd speaks HTTP; each of the two sockets has a thread. What takes long is answered by a
 * thread of its own, one question after the other, while the connection is suspended. */
#include "view/server.h"
#include "view/request.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    LONGEST_REQUEST = 32 * 1024,
    MOST_WAITING = 32, /* questions in line */
    MOST_ARGUMENTS = 16,
    SILENCE_S = 30, /* after which libmicrohttpd closes a connection */
    LOOK_EVERY_MS = 100,
    FAREWELL_S = 1, /* for what takes long, when the server ends */
    DAEMONS = 2,
};

/* libmicrohttpd brings TLS and what that needs: it is loaded by tpa view alone, so that no other command starts later for it. */
#define HTTP_FUNCTIONS(_)                                                                                    \
    _(add_response_header)                                                                                   \
    _(create_response_from_buffer_with_free_callback)                                                        \
    _(destroy_response)                                                                                      \
    _(get_connection_info)                                                                                   \
    _(get_connection_values)                                                                                 \
    _(lookup_connection_value)                                                                               \
    _(queue_response)                                                                                        \
    _(resume_connection)                                                                                     \
    _(start_daemon)                                                                                          \
    _(stop_daemon)                                                                                           \
    _(suspend_connection)

#define HTTP_MEMBER(function) __typeof__(MHD_##function) *function;
static struct {
    HTTP_FUNCTIONS(HTTP_MEMBER)
} http;

/* Fill HTTP; it stays loaded. False and ERR where the library, or a function of it, is missing. */
static bool load_http(struct tpa_error *err)
{
    void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
#define HTTP_FIND(function) &&(*(void **)&http.function = dlsym(library, "MHD_" #function))
    if (library HTTP_FUNCTIONS(HTTP_FIND))
        return true;
    tpa_fail(err, TPA_NOWHERE, "libmicrohttpd cannot be loaded: %s", dlerror());
    return tpa_hint(err, "install libmicrohttpd12, or make a page that needs no server: tpa report");
}

/* A request and its answer. */
struct exchange {
    struct view_request request;
    struct MHD_Connection *connection;
    struct buffer out;
    unsigned status;
    bool begun, has_nul, waits, done;
    struct exchange *next; /* in line */
};

/* A connection; FD -1: none. */
struct visitor {
    int fd;
    bool is_served;  /* a request of it is complete */
    int64_t since_s; /* no request is complete since then */
};

struct view_server {
    struct view_server_options options;
    char token[VIEW_TOKEN_LENGTH + 1];
    unsigned port;
    struct MHD_Daemon *daemons[DAEMONS];
    atomic_llong requested_s; /* when the last request came */
    pthread_mutex_t lock;     /* of all that follows */
    struct visitor visitors[DAEMONS * VIEW_CONNECTIONS];
    pthread_cond_t changed;
    pthread_t worker;
    bool has_worker, ends;
    struct exchange *first, *last; /* in line */
    size_t waiting;
};

static int64_t now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* ---- what takes long ---- */

/* The first in line; NULL: the server ends. LOCK is held. */
static struct exchange *wait_for_question(struct view_server *server)
{
    while (!server->ends && !server->first)
        pthread_cond_wait(&server->changed, &server->lock);
    struct exchange *exchange = server->first;
    if (exchange) {
        server->first = exchange->next;
        server->waiting--;
    }
    return exchange;
}

static void *work(void *context)
{
    struct view_server *server = context;
    struct exchange *exchange;
    pthread_mutex_lock(&server->lock);
    while ((exchange = wait_for_question(server)) != NULL) {
        bool ends = server->ends;
        pthread_mutex_unlock(&server->lock);
        if (ends) {
            exchange->status = 503;
            view_add_error(&exchange->out, "the server ends", NULL);
        } else {
            exchange->status = view_answer(server->options.answers, &exchange->request, &exchange->out);
        }
        pthread_mutex_lock(&server->lock);
        exchange->done = true;
        http.resume_connection(exchange->connection);
    }
    pthread_mutex_unlock(&server->lock);
    return NULL;
}

/* Put EXCHANGE in line; false: the line is too long. */
static bool wait_in_line(struct view_server *server, struct exchange *exchange)
{
    pthread_mutex_lock(&server->lock);
    bool good = server->waiting < MOST_WAITING && !server->ends;
    if (good) {
        http.suspend_connection(exchange->connection);
        if (server->first)
            server->last->next = exchange;
        else
            server->first = exchange;
        server->last = exchange;
        server->waiting++;
        pthread_cond_signal(&server->changed);
    }
    pthread_mutex_unlock(&server->lock);
    return good;
}

/* ---- connections ---- */

static int socket_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        http.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/* The visitor with the socket FD, or -1 for a free place; NULL: there is none. LOCK is held. */
static struct visitor *find_visitor(struct view_server *server, int fd)
{
    return FIND_OF(one, server->visitors, sizeof server->visitors / sizeof *server->visitors, one->fd == fd);
}

static void note_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                            enum MHD_ConnectionNotificationCode code)
{
    struct view_server *server = context;
    (void)socket_context;
    pthread_mutex_lock(&server->lock);
    int fd = socket_of(connection);
    struct visitor *visitor = find_visitor(server, code == MHD_CONNECTION_NOTIFY_STARTED ? -1 : fd);
    if (visitor && code == MHD_CONNECTION_NOTIFY_STARTED)
        *visitor = (struct visitor){ .fd = fd, .since_s = now_s() };
    else if (visitor)
        visitor->fd = -1;
    pthread_mutex_unlock(&server->lock);
}

static void note_request(struct view_server *server, struct MHD_Connection *connection, bool is_served)
{
    pthread_mutex_lock(&server->lock);
    struct visitor *visitor = find_visitor(server, socket_of(connection));
    if (visitor) {
        visitor->is_served = is_served;
        visitor->since_s = now_s();
    }
    pthread_mutex_unlock(&server->lock);
}

/* Close the connections that take too long to make a request: those that trickle are never silent for long. */
static void turn_out(struct view_server *server)
{
    int64_t least_s = now_s() - VIEW_PATIENCE_S;
    pthread_mutex_lock(&server->lock);
    FOR_EACH_OF(visitor, server->visitors, sizeof server->visitors / sizeof *server->visitors)
        if (visitor->fd >= 0 && !visitor->is_served && visitor->since_s < least_s)
            shutdown(visitor->fd, SHUT_RDWR);
    pthread_mutex_unlock(&server->lock);
}

/* ---- requests ---- */

static enum MHD_Result reply(struct exchange *exchange)
{
    static const char *const headers[][2] = {
        { "Cache-Control", "no-store" },
        { "X-Content-Type-Options", "nosniff" },
        { "X-Frame-Options", "DENY" },
        { "Referrer-Policy", "no-referrer" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "Cross-Origin-Opener-Policy", "same-origin" },
    };
    bool is_page = exchange->status == 200 && exchange->request.question == VIEW_PAGE;
    buffer_puts(&exchange->out, "");
    struct MHD_Response *response =
        http.create_response_from_buffer_with_free_callback(exchange->out.count, exchange->out.at, free);
    if (!response)
        return MHD_NO;
    exchange->out.at = NULL; /* of the response */
    exchange->out.count = exchange->out.capacity = 0;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        http.add_response_header(response, headers[i][0], headers[i][1]);
    http.add_response_header(response, "Content-Type",
                             is_page ? "text/html; charset=utf-8" : "application/json");
    /* The page says in itself what it may load; no other page may hold it. */
    http.add_response_header(response, "Content-Security-Policy",
                             is_page ? "frame-ancestors 'none'"
                                     : "default-src 'none'; frame-ancestors 'none'");
    if (exchange->status == 405)
        http.add_response_header(response, "Allow", "GET");
    if (exchange->status == 503)
        http.add_response_header(response, "Retry-After", "1");
    enum MHD_Result result = http.queue_response(exchange->connection, exchange->status, response);
    http.destroy_response(response);
    return result;
}

/* What arrived, as libmicrohttpd lists it. */
struct listing {
    struct view_argument arguments[MOST_ARGUMENTS];
    size_t count, hosts;
    bool too_many;
};

static enum MHD_Result list_argument(void *context, enum MHD_ValueKind kind, const char *key,
                                     const char *value)
{
    struct listing *listing = context;
    (void)kind;
    listing->too_many = listing->too_many || listing->count == MOST_ARGUMENTS;
    if (!listing->too_many)
        listing->arguments[listing->count++] = (struct view_argument){ key, value };
    return listing->too_many ? MHD_NO : MHD_YES;
}

static enum MHD_Result count_host(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
    struct listing *listing = context;
    (void)kind;
    (void)value;
    static const char name[] = "host";
    size_t i = 0;
    while (key[i] && name[i] && (key[i] | 0x20) == name[i])
        i++;
    listing->hosts += !key[i] && !name[i];
    return MHD_YES;
}

static void read_request(struct view_server *server, struct exchange *exchange, const char *path,
                         const char *method)
{
    struct MHD_Connection *connection = exchange->connection;
    struct listing listing = { 0 };
    http.get_connection_values(connection, MHD_GET_ARGUMENT_KIND, list_argument, &listing);
    http.get_connection_values(connection, MHD_HEADER_KIND, count_host, &listing);
    const char *length = http.lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    struct view_arrived arrived = {
        .method = method,
        .path = path,
        .host = http.lookup_connection_value(connection, MHD_HEADER_KIND, "Host"),
        .fetch_site = http.lookup_connection_value(connection, MHD_HEADER_KIND, "Sec-Fetch-Site"),
        .hosts = listing.hosts,
        .has_body = (length && strcmp(length, "0") != 0) ||
                    http.lookup_connection_value(connection, MHD_HEADER_KIND, "Transfer-Encoding"),
        .arguments = listing.arguments,
        .argument_count = listing.count,
    };
    struct view_refusal refusal = view_request_read(&exchange->request, &arrived, server->token);
    if (!refusal.status && listing.too_many)
        refusal = (struct view_refusal){ 400, "there are too many arguments" };
    if (!refusal.status && exchange->has_nul)
        refusal = (struct view_refusal){ 400, "the address holds a NUL" };
    exchange->status = refusal.status;
    if (refusal.status)
        view_add_error(&exchange->out, refusal.message, NULL);
}

/* The state of a request, from the first line of it: what libmicrohttpd decodes ends at a NUL. */
static void *begin_exchange(void *context, const char *address, struct MHD_Connection *connection)
{
    struct exchange *exchange = mem_zalloc(1, sizeof *exchange);
    (void)context;
    exchange->connection = connection;
    exchange->has_nul = strstr(address, "%00") != NULL;
    return exchange;
}

/* Called when the head of a request is there, when it is complete, and when a connection goes on. */
static enum MHD_Result serve(void *context, struct MHD_Connection *connection, const char *path,
                             const char *method, const char *version, const char *data, size_t *size,
                             void **state)
{
    struct view_server *server = context;
    struct exchange *exchange = *state;
    (void)version;
    (void)data;
    if (!exchange->begun) {
        exchange->begun = true;
        read_request(server, exchange, path, method);
        if (exchange->status == 413)
            return reply(exchange); /* before the body is read */
        return MHD_YES;
    }
    if (*size) {
        *size = 0;
        return MHD_YES;
    }
    if (exchange->waits)
        return exchange->done ? reply(exchange) : MHD_YES;
    note_request(server, connection, true);
    if (exchange->status)
        return reply(exchange);
    server->requested_s = now_s();
    if (!view_is_slow(exchange->request.question)) {
        exchange->status = view_answer(server->options.answers, &exchange->request, &exchange->out);
        return reply(exchange);
    }
    exchange->waits = true;
    if (wait_in_line(server, exchange))
        return MHD_YES;
    exchange->status = 503;
    view_add_error(&exchange->out, "too many questions wait", "ask again in a moment");
    return reply(exchange);
}

static void finish(void *context, struct MHD_Connection *connection, void **state,
                   enum MHD_RequestTerminationCode code)
{
    SCOPED struct exchange *exchange = *state;
    (void)code;
    note_request(context, connection, false);
    if (!exchange)
        return;
    buffer_release(&exchange->out);
    *state = NULL;
}

/* libmicrohttpd's own messages go nowhere: what it complains about is what others send. */
static void say_nothing(void *context, const char *format, va_list list)
{
    (void)context;
    (void)format;
    (void)list;
}

/* ---- begin and end ---- */

/* A listening socket, or -1. *PORT 0: any, which it gets. */
static int listen_on(int family, unsigned *port)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;
    struct sockaddr_in v4 = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)*port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
                               .sin6_port = htons((uint16_t)*port),
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    const struct sockaddr *address = family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
    socklen_t size = family == AF_INET ? sizeof v4 : sizeof v6, got = sizeof v4;
    if (bind(fd, address, size) != 0 || listen(fd, SOMAXCONN) != 0 ||
        (family == AF_INET && getsockname(fd, (struct sockaddr *)&v4, &got) != 0)) {
        int reason = errno;
        close(fd);
        errno = reason;
        return -1;
    }
    if (family == AF_INET)
        *port = ntohs(v4.sin_port);
    return fd;
}

static struct MHD_Daemon *start(struct view_server *server, int fd)
{
    struct MHD_Daemon *daemon = http.start_daemon(
        MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, serve,
        server, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)VIEW_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)SILENCE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)LONGEST_REQUEST,
        MHD_OPTION_URI_LOG_CALLBACK, begin_exchange, NULL, MHD_OPTION_NOTIFY_CONNECTION, note_connection,
        server, MHD_OPTION_NOTIFY_COMPLETED, finish, server, MHD_OPTION_END);
    if (!daemon)
        close(fd);
    return daemon;
}

static bool make_token(char token[VIEW_TOKEN_LENGTH + 1])
{
    unsigned char bytes[VIEW_TOKEN_LENGTH / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++) {
        token[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        token[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    token[VIEW_TOKEN_LENGTH] = '\0';
    return true;
}

static bool begin(struct view_server *server, struct tpa_error *err)
{
    server->port = server->options.port;
    if (!make_token(server->token))
        return tpa_fail_errno(err, "cannot make a random token");
    int fd = listen_on(AF_INET, &server->port);
    if (fd < 0) {
        tpa_fail_errno(err, "cannot listen on port %u of 127.0.0.1", server->options.port);
        return tpa_hint(err, "another program may have it; --port 0 takes one that is free");
    }
    server->daemons[0] = start(server, fd);
    if (!server->daemons[0])
        return tpa_fail(err, TPA_NOWHERE, "libmicrohttpd cannot start");
    fd = listen_on(AF_INET6, &server->port);
    server->daemons[1] = fd < 0 ? NULL : start(server, fd); /* not every machine has ::1 */
    server->has_worker = pthread_create(&server->worker, NULL, work, server) == 0;
    return server->has_worker || tpa_fail(err, TPA_NOWHERE, "cannot start a thread");
}

/* Does what takes long end when it is told to? A query does, a sum may not. */
static bool end_worker(struct view_server *server)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += FAREWELL_S;
    server->options.stop(server->options.context);
    return pthread_timedjoin_np(server->worker, NULL, &until) == 0;
}

/* Close all connections, and end what takes long. */
static void end(struct view_server *server)
{
    pthread_mutex_lock(&server->lock);
    server->ends = true;
    pthread_cond_signal(&server->changed);
    pthread_mutex_unlock(&server->lock);
    if (server->has_worker && !end_worker(server))
        server->options.leave(server->options.context);
    for (size_t i = 0; i < DAEMONS; i++)
        if (server->daemons[i])
            http.stop_daemon(server->daemons[i]);
}

static void tell_address(const struct view_server *server)
{
    char address[64 + VIEW_TOKEN_LENGTH];
    snprintf(address, sizeof address, "http://127.0.0.1:%u/?token=%s", server->port, server->token);
    server->options.tell(server->options.context, address);
}

bool view_serve(const struct view_server_options *options, const atomic_int *stopped, struct tpa_error *err)
{
    if (!load_http(err))
        return false;
    SCOPED struct view_server *server = mem_zalloc(1, sizeof *server);
    int64_t idle_s = options->idle_ns / 1000000000 + (options->idle_ns % 1000000000 > 0);
    server->options = *options;
    for (size_t i = 0; i < sizeof server->visitors / sizeof *server->visitors; i++)
        server->visitors[i].fd = -1;
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->changed, NULL);
    server->requested_s = now_s();
    bool good = begin(server, err);
    if (good)
        tell_address(server);
    while (good && !*stopped && (!options->idle_ns || now_s() - server->requested_s < idle_s)) {
        struct timespec pause = { .tv_nsec = LOOK_EVERY_MS * 1000000L };
        nanosleep(&pause, NULL);
        turn_out(server);
    }
    end(server);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->lock);
    return good;
}
