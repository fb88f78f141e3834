/* fuzz_flight.c - any bytes as the dumps of a job, with `--` on a line of its own between two ranks: read, judged, drawn. */
#include "hang/hang.h"
#include "ingest/flight.h"
#include "tests/fuzz/fuzz.h"

static void read_rank(struct flight *flight, struct flight_reader *reader, const uint8_t *data, size_t size)
{
    struct tpa_error err = { 0 };
    struct source *source = source_open_memory(data, size, "fuzz", &err);
    uint32_t rank = FLIGHT_NO_RANK, place = (uint32_t)flight->dumps.count;
    if (source && flight_reader_add(reader, source, &rank, &err)) {
        struct flight_dump *dump = &flight->dumps.at[flight->dumps.count - 1];
        dump->path = dump->folder = dump->prefix = "";
        dump->rank = place; /* each rank once: one job */
    }
    source_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char between[] = "\n--\n";
    enum { MOST_RANKS = 64 };
    struct flight *flight = flight_open();
    struct flight_reader *reader = flight_reader_open(flight);
    for (const uint8_t *at = data, *end = data + size; at < end && flight->dumps.count < MOST_RANKS;) {
        const uint8_t *next = memmem(at, (size_t)(end - at), between, sizeof between - 1);
        read_rank(flight, reader, at, (size_t)((next ? next : end) - at));
        at = next ? next + sizeof between - 1 : end;
    }
    flight_reader_free(reader);
    if (flight->dumps.count) {
        SCOPED_OBJECT struct hang *hang = hang_open(flight);
        struct result *result = result_open("fuzz");
        hang_add_tables(hang, size % 2, result);
        result->picture = hang_picture(hang);
        result_free(result);
    }
    flight_free(flight);
    return 0;
}
