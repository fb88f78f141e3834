/*
 * room.c - does what is being read fit into memory?
 *
 * A process that exceeds the memory of its control group is killed without a message, after minutes of reading. So while
 * reading, the builder estimates what the whole trace needs, in proportion to the events and bytes read so far, and adds what
 * the analysis needs. If that is more than is left, reading fails: of a file of 100 GB within its first 100 MB. Both
 * estimates are low, because a command that fits must run. Files do not hold as many events a byte everywhere, so that the
 * first tenth of a file alone refuses only what needs twice the memory that is left.
 */
#include "base/memory_room.h"
#include "base/quantity.h"
#include "trace/builder.h"
#include "trace/storage.h"

enum { FIRST_CHECK = 128 << 10, CHECK_EVERY = 256 << 10 };

void trace_builder_progress(struct trace_builder *builder, int64_t read, int64_t size)
{
    builder->read = read;
    builder->read_of = size;
}

/* Bytes of the plain columns for each event. */
static size_t event_bytes(const struct trace_storage *storage)
{
    return sizeof *storage->name + sizeof *storage->track + sizeof *storage->category +
           sizeof *storage->kind + sizeof *storage->flags;
}

static uint64_t held_bytes(const struct trace_storage *storage)
{
    uint64_t bytes = (uint64_t)storage->count * event_bytes(storage) + packing_used(&storage->start_ns) +
                     packing_used(&storage->dur_ns);
    for (int arg = 0; arg < ARG_COUNT; arg++)
        bytes += packing_used(&storage->args[arg].values) + storage->args[arg].present_bytes;
    return bytes;
}

/* The same of all that the columns have room for; those of arguments count with what they hold. */
static uint64_t reserved_bytes(const struct trace_storage *storage)
{
    uint64_t packed = storage->start_ns.bytes - packing_used(&storage->start_ns) + storage->dur_ns.bytes -
                      packing_used(&storage->dur_ns);
    return held_bytes(storage) + (uint64_t)(storage->capacity - storage->count) * event_bytes(storage) +
           packed;
}

/* How many events there will be, if the rest of the file is as what was read of it. */
static double expected_events(const struct trace_builder *builder)
{
    const struct trace_storage *storage = builder->storage;
    size_t before = storage->files.at[storage->files.count - 1].first_event;
    double of_file = (double)(storage->count - before);
    if (builder->read > 0 && builder->read_of > builder->read)
        of_file *= (double)builder->read_of / (double)builder->read;
    return (double)before + of_file;
}

static bool fail(const struct memory_room *room, double events, double need, struct tpa_error *err)
{
    bool millions = events >= 950e3;
    tpa_fail(
        err, TPA_NOWHERE,
        "the trace needs another %s of memory, for about %.0f %s events, but only %s are left (limit: %s)",
        SIZE_TEXT((int64_t)need), events / (millions ? 1e6 : 1e3), millions ? "million" : "thousand",
        SIZE_TEXT((int64_t)room->bytes), room->of);
    return tpa_hint(err,
                    "raise the limit, give fewer files at a time, or record fewer steps; tpa top, gpu and "
                    "kernels need the least memory: 40 to 50 bytes an event");
}

bool builder_check_room(struct trace_builder *builder, struct tpa_error *err)
{
    const struct trace_storage *storage = builder->storage;
    struct memory_room room;
    if (storage->count < builder->next_room_check || storage->count < FIRST_CHECK)
        return true;
    builder->next_room_check = storage->count + CHECK_EVERY;
    if (!memory_room(&room))
        return true;
    unsigned work = builder->trace->wants.work_bytes ? builder->trace->wants.work_bytes : TRACE_WORK_BYTES;
    double events = expected_events(builder), held = (double)held_bytes(storage);
    double need = events * (held / (double)storage->count + work) - held;
    if (room.counts_reserved) { /* what the columns have in advance counts already, and will once they have grown again */
        room.bytes += reserved_bytes(storage) - held_bytes(storage);
        need += (double)reserved_bytes(storage) / 4;
    }
    bool is_early = builder->read_of > 0 && builder->read < builder->read_of / 10;
    return need <= (double)room.bytes * (is_early ? 2 : 1) || fail(&room, events, need, err);
}
