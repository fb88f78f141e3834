/*
 * keeper.h - processes that keep what they have read: one for the files of a question, asked again and again.
 *
 *     struct keeper keeper;
 *     keeper_open(&keeper, &work, &err);
 *     keeper_ask(&keeper, words, len);               // words, each with a NUL behind; those behind an empty one tell questions apart
 *     while (keeper_hear(&keeper, &event)) ...       // when keeper.heard can be read: progress, then an answer or its loss
 *     keeper_stop(&keeper);                          // gives up on the question within milliseconds; what was kept stays
 *     keeper_close(&keeper);
 *
 * For each question the keeper forks. The child answers and becomes the keeper, with all that it has read and derived, and its
 * parent ends. A child that is killed, or that crashes, leaves the parent, which knows what it knew before. So a question can be
 * given up at any time, memory comes back, and an analysis needs no places where it may be stopped.
 *
 * A child that has computed what is to be kept branches: another process sorts it, cuts it and prints it. One that finds what it
 * needs kept passes: it prints, and ends. So what is kept is never changed.
 *
 * While nobody asks, the keeper works ahead: on questions that are likely to come, one after the other. A question stops that at once,
 * unless it is what is being worked on. It does so for a minute at most.
 */
#ifndef TPA_MCP_KEEPER_H
#define TPA_MCP_KEEPER_H

#include "base/buffer.h"
#include <sys/types.h>

/* Run the COUNT words of ARGV, whose standard output is kept; false if that is an error, which is then in DOCUMENT, with MESSAGE for
 * people. In the child. */
typedef bool keeper_run(int count, char **argv, struct buffer *document, struct buffer *message);

/* What a keeper does. In the child. */
struct keeper_work {
    keeper_run *run;
    /* Number I of the questions to work on before they are asked, after that of the words ASKED; false: no more. */
    bool (*ahead)(const struct buffer *asked, size_t i, struct buffer *words);
    bool (*is_same)(const struct buffer *ahead, const char *asked,
                    size_t len); /* does AHEAD make what ASKED needs? */
    void (*used)(uint64_t what); /* what keeper_pass was told */
};

struct keeper {
    pid_t pid; /* of the one who answers, or is asked next */
    int asked, heard;
    bool busy, began, stopping;
};

enum keeper_event_kind { KEEPER_PROGRESS, KEEPER_ANSWER, KEEPER_ERROR, KEEPER_LOST };

struct keeper_event {
    enum keeper_event_kind kind;
    int64_t done, total; /* of progress: bytes; TOTAL 0: not known */
    const char *text;    /* of an answer, or the document of an error; borrowed until the next event */
    size_t len;
    const char *message; /* of an error */
};

/* An answer has at most so many bytes. */
enum { KEEPER_MOST = 160 * 1024 };

bool keeper_open(struct keeper *keeper, const struct keeper_work *work, struct tpa_error *err);
bool keeper_ask(struct keeper *keeper, const char *words, size_t len);

/* The next event; false if there is none now. The keeper is gone if it says KEEPER_LOST and is not busy any more. */
bool keeper_hear(struct keeper *keeper, struct keeper_event *event);
void keeper_stop(struct keeper *keeper);
void keeper_close(struct keeper *keeper);

/* In a run: go on in a process that prints the answer and ends, which gets 1. The other gets 0 when that has ended, and is to print
 * nothing. -1: there can be no other. */
int keeper_branch(void);

/* In a run: does nobody wait for it? */
bool keeper_is_ahead(void);

/* In a run: this process ends with the answer; the one that stays hears what was USED, which is not 0. */
void keeper_pass(uint64_t used);

/* In a run: tell how far reading is. */
void keeper_tell_progress(int64_t done, int64_t total);

/* Bytes of memory that it takes. */
int64_t keeper_memory(const struct keeper *keeper);

#endif
