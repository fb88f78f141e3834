/* test_view_server.c - view/server.h: nobody waits for an answer that does not end. */
#include "tests/unit/drawn.h"

#include "view/server.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LEFT = 7, NO_LIBRARY = 8 };

static int told; /* the pipe to the test: the address, then a letter once a sum is made */
static atomic_int stopped;

static void stop(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

static void tell(void *context, const char *address)
{
    (void)context;
    dprintf(told, "%s\n", address);
}

static bool sum_for_ever(void *context, const struct trace *trace, int64_t from_ns, int64_t to_ns,
                         struct buffer *out, struct tpa_error *err)
{
    (void)trace, (void)from_ns, (void)to_ns, (void)out, (void)err;
    dprintf(told, "s");
    while (!context)
        pause();
    return true;
}

static void stop_nothing(void *context)
{
    (void)context;
}

static void leave(void *context)
{
    (void)context;
    _exit(LEFT);
}

/* The server, in a process of its own. */
static void serve(void)
{
    const struct view_commands commands = { .sum = sum_for_ever };
    const struct view_sides sides = { .count = 1 };
    draw_host("cpu_op", "aten::mm", DRAW_PROCESS, 0, 100);
    struct view_answers *answers = view_answers_open(drawn(), &sides, &commands);
    signal(SIGTERM, stop);
    bool good = view_serve(
        &(struct view_server_options){
            .answers = answers, .tell = tell, .stop = stop_nothing, .leave = leave },
        &stopped, NULL);
    _exit(good ? 0 : NO_LIBRARY);
}

/* Read a line of PIPE; false: there is none. */
static bool read_line(int pipe, char *line, size_t room)
{
    size_t len = 0;
    while (len + 1 < room && read(pipe, &line[len], 1) == 1 && line[len] != '\n')
        len++;
    line[len] = '\0';
    return len > 0;
}

TEST(a_sum_that_does_not_end_is_left)
{
    int pipes[2], status = 0;
    char line[200] = "", letter = 0, request[300];
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        told = pipes[1];
        serve();
    }
    close(pipes[1]);
    if (!read_line(pipes[0], line, sizeof line)) {
        waitpid(child, &status, 0);
        assert_int_equal(WEXITSTATUS(status), NO_LIBRARY); /* it was built without */
        skip();
    }
    static const char begin_of[] = "http://127.0.0.1:";
    assert_int_equal(strncmp(line, begin_of, sizeof begin_of - 1), 0);
    unsigned long port = strtoul(line + sizeof begin_of - 1, NULL, 10);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    int len = snprintf(request, sizeof request, "GET /api/1/sum%s HTTP/1.1\r\nHost: localhost\r\n\r\n",
                       strchr(line, '?'));
    assert_int_equal(write(fd, request, (size_t)len), len);
    assert_int_equal(read(pipes[0], &letter, 1), 1);
    time_t begin = time(NULL);
    kill(child, SIGTERM);
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), LEFT);
    assert_true(time(NULL) - begin < 10);
    close(fd);
    close(pipes[0]);
}
