/* keeper.c - see keeper.h. */
#define _GNU_SOURCE
#include "mcp/keeper.h"

#include "base/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- in the keeper ---- */

static int tell_fd = -1; /* to the server */

/* A message: what it is, and bytes. */
static void tell(char kind, const void *bytes, size_t len)
{
    char *message = mem_alloc(len + 1);
    message[0] = kind;
    memcpy(message + 1, bytes, len);
    while (send(tell_fd, message, len + 1, MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
    free(message);
}

void keeper_tell_progress(int64_t done, int64_t total)
{
    int64_t both[] = { done, total };
    if (tell_fd >= 0)
        tell('p', both, sizeof both);
}

static bool read_all(int fd, void *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t count = read(fd, (char *)bytes + at, len - at);
        if (count <= 0 && !(count < 0 && errno == EINTR))
            return false;
        at += count > 0 ? (size_t)count : 0;
    }
    return true;
}

/* Answers that were given, with the words that asked for them: the oldest go first. */
struct answers {
    struct {
        struct buffer words, text;
    } at[32];
    size_t next;
};

static const struct buffer *answers_find(const struct answers *answers, const struct buffer *words)
{
    for (size_t i = 0; i < sizeof answers->at / sizeof *answers->at; i++)
        if (answers->at[i].words.count == words->count && words->count &&
            memcmp(answers->at[i].words.at, words->at, words->count) == 0)
            return &answers->at[i].text;
    return NULL;
}

static void answers_add(struct answers *answers, const struct buffer *words, const struct buffer *text)
{
    size_t i = answers->next++ % (sizeof answers->at / sizeof *answers->at);
    buffer_clear(&answers->at[i].words);
    buffer_clear(&answers->at[i].text);
    buffer_add(&answers->at[i].words, words->at, words->count);
    buffer_add(&answers->at[i].text, text->at, text->count);
}

/* What the run wrote into the file behind standard output. */
static void take_output(int output, struct buffer *text)
{
    char bytes[8192];
    ssize_t count;
    fflush(NULL);
    lseek(output, 0, SEEK_SET);
    while ((count = read(output, bytes, sizeof bytes)) > 0)
        buffer_add(text, bytes, (size_t)count);
    if (ftruncate(output, 0) == 0)
        lseek(output, 0, SEEK_SET);
}

/* Answer the question of WORDS. */
static void answer(keeper_run *run, const struct buffer *words, struct answers *answers)
{
    VEC_OF(char *) argv = { 0 };
    struct buffer text = { 0 }, document = { 0 }, message = { 0 }, copy = { 0 };
    buffer_add(&copy, words->at, words->count);
    for (size_t at = 0; at < copy.count; at += strlen(copy.at + at) + 1)
        *VEC_PUSH(&argv) = copy.at + at;
    *VEC_PUSH(&argv) = NULL;
    bool good = run((int)argv.count - 1, argv.at, &document, &message);
    take_output(STDOUT_FILENO, &text);
    if (good) {
        while (text.count && text.at[text.count - 1] == '\n')
            text.count--;
        if (text.count < KEEPER_MOST)
            answers_add(answers, words, &text);
        tell('a', text.count ? text.at : "", text.count < KEEPER_MOST ? text.count : 0);
    } else { /* the message, a NUL, the document */
        buffer_putc(&message, '\0');
        while (document.count && document.at[document.count - 1] == '\n')
            document.count--;
        if (document.count)
            buffer_add(&message, document.at, document.count);
        tell('e', message.at, message.count);
    }
    buffer_release(&text);
    buffer_release(&document);
    buffer_release(&message);
    buffer_release(&copy);
    VEC_FREE(&argv);
}

/* Answer in a child, which then is the keeper; returns in the one that is. */
static void ask_child(keeper_run *run, const struct buffer *words, struct answers *answers)
{
    int gate[2];
    char taken = 0;
    pid_t child = pipe(gate) == 0 ? fork() : -1;
    if (child == 0) {
        pid_t self = getpid();
        close(gate[0]);
        setpgid(0, 0); /* so that it can be stopped with those that it starts */
        tell('b', &self, sizeof self);
        answer(run, words, answers);
        if (write(gate[1], "k", 1) != 1)
            _exit(1);
        close(gate[1]);
        return;
    }
    if (child > 0) {
        close(gate[1]);
        if (read_all(gate[0], &taken, 1))
            _exit(0);
        close(gate[0]);
        waitpid(child, NULL, 0);
        pid_t self = getpid();
        tell('c', &self, sizeof self);
    }
    tell('x', "", 0);
}

enum { MOST_DESCRIPTORS = 1024 };

__attribute__((noreturn)) static void keep(int asked, keeper_run *run)
{
    struct answers *answers = mem_zalloc(1, sizeof *answers);
    struct buffer words = { 0 };
    uint32_t len;
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC), output = memfd_create("result", MFD_CLOEXEC);
    if (nothing < 0 || output < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0)
        _exit(1);
    close(nothing);
    close(output);
    for (int fd = STDERR_FILENO + 1; fd < MOST_DESCRIPTORS;
         fd++) /* those of other keepers end with the server */
        if (fd != asked && fd != tell_fd)
            close(fd);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_IGN);
    while (read_all(asked, &len, sizeof len)) {
        buffer_clear(&words);
        VEC_RESERVE(&words, len);
        words.count = len;
        if (!read_all(asked, words.at, len))
            break;
        const struct buffer *known = answers_find(answers, &words);
        if (known)
            tell('a', known->at, known->count);
        else
            ask_child(run, &words, answers);
    }
    _exit(0);
}

/* ---- in the server ---- */

bool keeper_open(struct keeper *keeper, keeper_run *run, struct tpa_error *err)
{
    int question[2], reply[2], room = 1 << 18;
    *keeper = (struct keeper){ .pid = -1, .asked = -1, .heard = -1 };
    if (pipe2(question, O_CLOEXEC) != 0)
        return tpa_fail_errno(err, "cannot start a process");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, reply) != 0) {
        tpa_fail_errno(err, "cannot start a process");
        close(question[0]);
        close(question[1]);
        return false;
    }
    setsockopt(reply[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    keeper->pid = fork();
    if (keeper->pid == 0) {
        close(question[1]);
        close(reply[0]);
        tell_fd = reply[1];
        keep(question[0], run);
    }
    close(question[0]);
    close(reply[1]);
    keeper->asked = question[1];
    keeper->heard = reply[0];
    if (keeper->pid > 0)
        return true;
    tpa_fail_errno(err, "cannot start a process");
    keeper_close(keeper);
    return false;
}

static bool write_all(int fd, const void *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t count = write(fd, (const char *)bytes + at, len - at);
        if (count < 0 && errno != EINTR)
            return false;
        at += count > 0 ? (size_t)count : 0;
    }
    return true;
}

bool keeper_ask(struct keeper *keeper, const char *words, size_t len)
{
    uint32_t count = (uint32_t)len;
    keeper->busy = write_all(keeper->asked, &count, sizeof count) && write_all(keeper->asked, words, len);
    return keeper->busy;
}

bool keeper_hear(struct keeper *keeper, struct keeper_event *event)
{
    static char message[KEEPER_MOST + 64 * 1024];
    for (;;) {
        ssize_t len = recv(keeper->heard, message, sizeof message - 1, MSG_DONTWAIT);
        if (len < 0 && errno == EINTR)
            continue;
        if (len < 0)
            return false;
        *event = (struct keeper_event){ .kind = KEEPER_LOST,
                                        .text = message + 1,
                                        .len = len > 0 ? (size_t)len - 1 : 0 };
        message[len] = '\0';
        if (len == 0) {
            keeper->pid = -1;
            keeper->busy = false;
            return true;
        }
        if (message[0] == 'b' || message[0] == 'c') { /* a child begins to answer; its parent goes on */
            memcpy(&keeper->pid, message + 1, sizeof keeper->pid);
            keeper->began = message[0] == 'b';
            if (keeper->began && keeper->stopping)
                kill(-keeper->pid, SIGKILL);
            continue;
        }
        if (message[0] == 'p') {
            event->kind = KEEPER_PROGRESS;
            memcpy(&event->done, message + 1, sizeof event->done);
            memcpy(&event->total, message + 1 + sizeof event->done, sizeof event->total);
            return true;
        }
        keeper->busy = keeper->began = keeper->stopping = false;
        if (message[0] == 'a') {
            event->kind = KEEPER_ANSWER;
        } else if (message[0] == 'e') {
            event->kind = KEEPER_ERROR;
            event->message = message + 1;
            event->text += strlen(event->message) + 1;
            event->len -= strlen(event->message) + 1;
        }
        return true;
    }
}

void keeper_stop(struct keeper *keeper)
{
    keeper->stopping = keeper->busy;
    if (keeper->began && keeper->pid > 0)
        kill(-keeper->pid, SIGKILL);
}

void keeper_close(struct keeper *keeper)
{
    keeper_stop(keeper);
    if (keeper->asked >= 0)
        close(keeper->asked);
    if (keeper->heard >= 0)
        close(keeper->heard);
    keeper->asked = keeper->heard = -1;
}

int64_t keeper_memory(const struct keeper *keeper)
{
    char path[64], line[128];
    int64_t pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)keeper->pid);
    FILE *file = keeper->pid > 0 ? fopen(path, "r") : NULL;
    const char *second = file && fgets(line, sizeof line, file) ? strchr(line, ' ') : NULL;
    if (second)
        pages = strtoll(second, NULL, 10);
    if (file)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}
