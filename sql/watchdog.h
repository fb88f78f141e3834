/*
 * watchdog.h - ends a statement of SQLite that takes too long, also within one long call of it.
 *
 *     struct watchdog *dog = watchdog_begin(db, limit_ns, &interrupted, give_up);
 *     ... sqlite3_step ...
 *     watchdog_end(dog);
 *
 * A progress handler is called between the steps of SQLite's machine; instr() of two large values is one step that may
 * take hours. A thread therefore interrupts SQLite at the limit or when *INTERRUPTED is set. If the statement has not
 * ended WATCHDOG_GRACE_NS later, it calls GIVE_UP, which must not return: it reports the reason and ends the process.
 */
#ifndef TPA_SQL_WATCHDOG_H
#define TPA_SQL_WATCHDOG_H

#include "sql/modules.h"
#include <stdatomic.h>

#define WATCHDOG_GRACE_NS INT64_C(2000000000)

struct watchdog;

/* TOO_LONG: the limit was passed; otherwise the user interrupted. */
typedef void watchdog_give_up(bool too_long);

/* New; end it with watchdog_end. LIMIT_NS 0: no limit. INTERRUPTED and GIVE_UP may be NULL. NULL, which watchdog_end
 * accepts, if there is nothing to watch. */
struct watchdog *watchdog_begin(sqlite3 *db, int64_t limit_ns, const atomic_int *interrupted,
                                watchdog_give_up *give_up);
void watchdog_end(struct watchdog *dog);

#endif
