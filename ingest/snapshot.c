/* snapshot.c - torch.cuda.memory's snapshots, as pickle or JSON: see snapshot.h. */
#include "ingest/snapshot.h"

#include "ingest/flight.h"
#include "ingest/formats.h"
#include "ingest/json_text.h"
#include "ingest/object_readers.h"

struct snapshot *snapshot_read(struct source *source, struct tpa_error *err)
{
    const char *bytes;
    struct tpa_error failed = { 0 };
    size_t len = source_peek(source, &bytes, &failed);
    if (failed.failed) {
        *err = failed;
        return NULL;
    }
    struct snapshot *snapshot = snapshot_open(source_name(source));
    struct objects *o = objects_open(snapshot);
    bool ok = pickle_sniff(bytes, len) ? snapshot_pickle_read(source, o, snapshot, err)
                                       : snapshot_json_read(source, o, snapshot, err);
    if (ok && !objects_finish(o, err)) {
        ok = false;
        for (size_t i = 0; i < snapshot->notices.count; i++) /* which has more information */
            if (strcmp(snapshot->notices.at[i].kind, lack_word(LACK_CUT_SHORT)) == 0 ||
                strcmp(snapshot->notices.at[i].kind, lack_word(LACK_DAMAGED)) == 0) {
                tpa_fail(
                    err, snapshot->notices.at[i].offset, "nothing of a memory snapshot can be read here: %s",
                    lacks_of_word(snapshot->notices.at[i].kind) & LACKS_END ? "the file ends in the middle"
                                                                            : snapshot->notices.at[i].text);
                tpa_hint(err, "was it copied whole, and was its program stopped while it wrote?");
            }
    }
    objects_free(o);
    if (!ok) {
        snapshot_free(snapshot);
        return NULL;
    }
    return snapshot;
}

/* JSON that begins with the dict, or with the list of segments. */
static int sniff_json(const char *bytes, size_t len)
{
    static const char *const keys[] = { "\"segments\"",           "\"device_traces\"",
                                        "\"allocator_settings\"", "\"external_annotations\"",
                                        "\"host_segments\"",      "\"host_traces\"" };
    size_t at = json_behind_blanks(bytes, len, 0);
    if (at == len || (bytes[at] != '{' && bytes[at] != '['))
        return 0;
    bool list = bytes[at++] == '[';
    while (at < len && bytes[at] && strchr(list ? " \t\r\n{" : " \t\r\n", bytes[at]))
        at++;
    for (size_t i = 0; !list && i < sizeof keys / sizeof *keys; i++)
        if (len - at >= strlen(keys[i]) && memcmp(bytes + at, keys[i], strlen(keys[i])) == 0)
            return 95;
    bool segment = list && memmem(bytes + at, len - at, "\"total_size\"", 12) &&
                   (memmem(bytes + at, len - at, "\"segment_type\"", 14) ||
                    memmem(bytes + at, len - at, "\"blocks\"", 8));
    return segment ? 95 : 0;
}

static int sniff(const char *bytes, size_t len)
{
    int pickle = pickle_sniff(bytes, len);
    if (pickle && flight_sniff(bytes, len))
        return 0; /* for `tpa hang`; see unread.c */
    return pickle ? pickle : sniff_json(bytes, len);
}

const struct format format_snapshot = {
    .name = "memory snapshot",
    .description = "PyTorch's torch.cuda.memory._dump_snapshot(), as pickle or JSON",
    .sniff = sniff,
    .read_snapshot = snapshot_read,
};
