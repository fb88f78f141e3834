/* Reading inputs: plain, gzip, zstd, whole and damaged, in pieces of every size. */
#define _GNU_SOURCE
#include "tests/unit/unit.h"
#include "base/source.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

SCRATCH_OF(source)

struct bytes {
    unsigned char *at;
    size_t count, capacity;
};

static void add(struct bytes *bytes, const void *data, size_t size)
{
    VEC_RESERVE(bytes, size);
    if (size)
        memcpy(bytes->at + bytes->count, data, size);
    bytes->count += size;
}

/* COUNT bytes that pack like a trace does: words that come back, numbers that do not. */
static struct bytes make_text(size_t count)
{
    struct bytes text = { 0 };
    uint32_t random = 12345;
    while (text.count < count) {
        char line[80];
        random = random * 1664525 + 1013904223;
        int len = snprintf(line, sizeof line, "{\"name\": \"aten::%s\", \"ts\": %u.%03u},\n",
                           random >> 30 ? "mm" : "add_", random, (random >> 8) % 1000);
        add(&text, line, (size_t)len);
    }
    text.count = count;
    return text;
}

static void add_gzip_level(struct bytes *out, const unsigned char *data, size_t size, int level)
{
    z_stream zlib = { 0 };
    assert_int_equal(deflateInit2(&zlib, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t bound = deflateBound(&zlib, size) + 64;
    VEC_RESERVE(out, bound);
    zlib.next_in = (Bytef *)(uintptr_t)data;
    zlib.avail_in = (uInt)size;
    zlib.next_out = out->at + out->count;
    zlib.avail_out = (uInt)bound;
    assert_int_equal(deflate(&zlib, Z_FINISH), Z_STREAM_END);
    out->count += zlib.total_out;
    deflateEnd(&zlib);
}

static void add_gzip(struct bytes *out, const unsigned char *data, size_t size)
{
    add_gzip_level(out, data, size, 6);
}

static void add_zstd(struct bytes *out, const unsigned char *data, size_t size)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    VEC_RESERVE(out, ZSTD_compressBound(size));
    size_t got = ZSTD_compress2(context, out->at + out->count, ZSTD_compressBound(size), data, size);
    assert_false(ZSTD_isError(got));
    out->count += got;
    ZSTD_freeCCtx(context);
}

/* All that SOURCE gives, read in pieces of PIECE bytes. Frees SOURCE. Its damage goes to MESSAGE. */
static struct bytes drain(struct source *source, size_t piece, char message[512])
{
    struct tpa_error err = { 0 };
    struct bytes all = { 0 };
    assert_non_null(source);
    for (;;) {
        VEC_RESERVE(&all, piece);
        int64_t got = source_read(source, all.at + all.count, piece, &err);
        if (got < 0)
            fail_msg("%s", err.message);
        all.count += (size_t)got;
        if ((size_t)got < piece)
            break;
    }
    char more;
    assert_int_equal(source_read(source, &more, 1, &err), 0);
    snprintf(message, 512, "%s", source_damage(source) ? source_damage(source) : "");
    source_free(source);
    return all;
}

/* PACKED, read in pieces of PIECE, gives the COUNT bytes at TEXT and tells DAMAGE ("": none; else a part of it). */
static void expect_in_pieces(const struct bytes *packed, const unsigned char *text, size_t count,
                             const char *damage, size_t piece)
{
    char message[512];
    SCOPED struct bytes all =
        drain(source_open_memory(packed->at, packed->count, "test", NULL), piece, message);
    assert_int_equal(all.count, count);
    if (count)
        assert_memory_equal(all.at, text, count);
    if (damage[0] ? strstr(message, damage) == NULL : message[0] != '\0')
        fail_msg("told \"%s\", expected \"%s\"", message, damage);
}

static void expect(const struct bytes *packed, const struct bytes *text, const char *damage)
{
    static const size_t pieces[] = { 1, 2, 3, 7, 64, 1000, 4096, 32768, 65536, 1 << 20 };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        expect_in_pieces(packed, text->at, text->count, damage, pieces[i]);
}

/* ---- whole inputs ---------------------------------------------------------------------------- */

TEST(plain_bytes_come_out_as_they_are)
{
    for (size_t size = 0; size < 40; size++) {
        SCOPED struct bytes text = make_text(size);
        for (size_t piece = 1; piece <= size + 1; piece++)
            expect_in_pieces(&text, text.at, text.count, "", piece);
    }
}

TEST(gzip_members_are_joined)
{
    SCOPED struct bytes text = make_text(300000), packed = { 0 };
    size_t cuts[] = { 0, 0, 1, 5000, 5000, 200000, 299999, 300000, 300000 };
    for (size_t i = 0; i + 1 < sizeof cuts / sizeof *cuts; i++)
        add_gzip_level(&packed, text.at + cuts[i], cuts[i + 1] - cuts[i], (int)i);
    expect(&packed, &text, "");
}

TEST(every_piece_size_gives_the_same_bytes)
{
    SCOPED struct bytes text = make_text(700), gzip = { 0 }, zstd = { 0 };
    add_gzip(&gzip, text.at, 300);
    add_gzip(&gzip, text.at + 300, 400);
    add_zstd(&zstd, text.at, 300);
    add_zstd(&zstd, text.at + 300, 400);
    for (size_t piece = 1; piece <= text.count + 1; piece++) {
        expect_in_pieces(&gzip, text.at, text.count, "", piece);
        expect_in_pieces(&zstd, text.at, text.count, "", piece);
    }
}

/* bgzip writes members of at most 64 KiB with their size in an extra field, and an empty one at the end. */
TEST(blocked_gzip_is_gzip)
{
    const size_t block = 65280;
    SCOPED struct bytes text = make_text(200000), packed = { 0 };
    for (size_t at = 0, end = 0; end < text.count + 1; at = end) {
        SCOPED struct bytes member = { 0 };
        end = at == text.count ? at + 1 : at + block < text.count ? at + block : text.count;
        add_gzip(&member, text.at + at, at == text.count ? 0 : end - at);
        static const unsigned char extra[] = { 6, 0, 'B', 'C', 2, 0, 0, 0 };
        member.at[3] = 4; /* FEXTRA */
        add(&packed, member.at, 10);
        add(&packed, extra, sizeof extra);
        add(&packed, member.at + 10, member.count - 10);
    }
    expect(&packed, &text, "");
}

TEST(gzip_header_fields_are_passed_over)
{
    SCOPED struct bytes text = make_text(1000), member = { 0 }, packed = { 0 };
    add_gzip(&member, text.at, text.count);
    member.at[3] = 2 | 8 | 16; /* FHCRC, FNAME, FCOMMENT */
    add(&packed, member.at, 10);
    add(&packed, "trace.json\0grown by hand", 25);
    uLong crc = crc32(0, packed.at, (uInt)packed.count);
    unsigned char crc16[2] = { (unsigned char)(crc & 255), (unsigned char)(crc >> 8 & 255) };
    add(&packed, crc16, 2);
    add(&packed, member.at + 10, member.count - 10);
    expect(&packed, &text, "");
}

TEST(zeros_pad_gzip)
{
    static const unsigned char zeros[9000];
    SCOPED struct bytes text = make_text(3000), packed = { 0 };
    add_gzip(&packed, text.at, 1000);
    add(&packed, zeros, 1);
    add_gzip(&packed, text.at + 1000, 1000);
    add(&packed, zeros, sizeof zeros);
    add_gzip(&packed, text.at + 2000, 1000);
    add(&packed, zeros, 511);
    expect(&packed, &text, "");
}

TEST(zstd_frames_are_joined_and_skippable_ones_skipped)
{
    static const unsigned char skippable[] = { 0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c' };
    SCOPED struct bytes text = make_text(400000), packed = { 0 };
    add(&packed, skippable, sizeof skippable);
    add_zstd(&packed, text.at, 100000);
    add_zstd(&packed, text.at, 0);
    add(&packed, skippable, sizeof skippable);
    add_zstd(&packed, text.at + 100000, 300000);
    expect(&packed, &text, "");
}

TEST(packing_is_recognised_by_content)
{
    SCOPED struct bytes text = make_text(100), gzip = { 0 }, zstd = { 0 };
    add_gzip(&gzip, text.at, text.count);
    add_zstd(&zstd, text.at, text.count);
    const struct {
        struct bytes *bytes;
        enum source_packing packing;
    } rows[] = { { &text, SOURCE_PLAIN }, { &gzip, SOURCE_GZIP }, { &zstd, SOURCE_ZSTD } };
    for (size_t i = 0; i < 3; i++) {
        struct source *source =
            source_open_memory(rows[i].bytes->at, rows[i].bytes->count, "trace.json", NULL);
        assert_int_equal(source_packing(source), rows[i].packing);
        assert_int_equal(source_packed_size(source), rows[i].bytes->count);
        assert_string_equal(source_name(source), "trace.json");
        source_free(source);
    }
}

TEST(peeking_consumes_nothing)
{
    static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 20000 };
    for (size_t i = 0; i < 6; i++) {
        SCOPED struct bytes text = make_text(sizes[i]), packed = { 0 };
        add_gzip(&packed, text.at, text.count);
        for (size_t piece = 1; piece < 8192; piece += 511) {
            struct source *source = source_open_memory(packed.at, packed.count, "test", NULL);
            const char *first;
            size_t count = source_peek(source, &first, NULL);
            assert_int_equal(count, sizes[i] < 4096 ? sizes[i] : 4096);
            if (count)
                assert_memory_equal(first, text.at, count);
            assert_int_equal(source_peek(source, &first, NULL), count);
            char message[512];
            SCOPED struct bytes all = drain(source, piece, message);
            assert_int_equal(all.count, text.count);
            if (all.count)
                assert_memory_equal(all.at, text.at, text.count);
        }
    }
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* How many bytes zlib itself makes of the first SIZE bytes of PACKED. */
static size_t bytes_zlib_gives(const struct bytes *packed, size_t size, unsigned char *out, size_t room)
{
    size_t total = 0;
    z_stream zlib = { 0 };
    assert_int_equal(inflateInit2(&zlib, 15 + 16), Z_OK);
    zlib.next_in = packed->at;
    zlib.avail_in = (uInt)size;
    while (zlib.avail_in) {
        zlib.next_out = out + total;
        zlib.avail_out = (uInt)(room - total);
        int status = inflate(&zlib, Z_SYNC_FLUSH);
        total = room - zlib.avail_out;
        if (status != Z_STREAM_END)
            break;
        inflateReset(&zlib);
    }
    inflateEnd(&zlib);
    return total;
}

TEST(a_cut_gzip_gives_every_byte_before_the_cut)
{
    SCOPED struct bytes text = make_text(2000), packed = { 0 };
    add_gzip(&packed, text.at, 700);
    size_t first_end = packed.count;
    add_gzip(&packed, text.at + 700, 1300);
    unsigned char out[2100];
    for (size_t cut = 2; cut < packed.count; cut++) {
        struct bytes part = { packed.at, cut, 0 };
        size_t count = bytes_zlib_gives(&packed, cut, out, sizeof out);
        char message[64];
        snprintf(message, sizeof message, "byte %zu", cut == first_end + 1 ? first_end : cut);
        for (size_t piece = 1; piece < 3000; piece = piece * 3 + 1)
            expect_in_pieces(&part, text.at, count, cut == first_end ? "" : message, piece);
    }
}

TEST(a_large_cut_gzip_gives_every_byte_before_the_cut)
{
    SCOPED struct bytes text = make_text(400000), packed = { 0 };
    add_gzip(&packed, text.at, text.count);
    SCOPED unsigned char *out = mem_alloc(text.count);
    for (size_t cut = packed.count - 1; cut > 5000; cut -= 4999) {
        struct bytes part = { packed.at, cut, 0 };
        size_t count = bytes_zlib_gives(&packed, cut, out, text.count);
        /* ISA-L decodes up to three literals at once, and needs the bits of all of them. */
        char message[512];
        SCOPED struct bytes whole = drain(source_open_memory(packed.at, cut, "test", NULL), 1 << 20, message);
        assert_in_range(whole.count, count - 2, count);
        for (size_t piece = 100; piece <= 1000000; piece *= 10)
            expect_in_pieces(&part, text.at, whole.count, "the gzip data breaks off at byte", piece);
    }
}

TEST(a_cut_zstd_gives_the_blocks_before_the_cut)
{
    SCOPED struct bytes text = make_text(500000), packed = { 0 };
    add_zstd(&packed, text.at, 400000);
    size_t first_end = packed.count;
    add_zstd(&packed, text.at + 400000, 100000);
    for (size_t cut = 4; cut < packed.count; cut += cut < 100 || cut + 100 > packed.count ? 1 : 997) {
        if (cut == first_end)
            continue;
        char message[512];
        SCOPED struct bytes all = drain(source_open_memory(packed.at, cut, "test", NULL), 10000, message);
        assert_non_null(
            strstr(message, cut > first_end && cut < first_end + 4 ? "are not zstd" : "breaks off"));
        /* A block holds at most 128 KiB, and is given whole or not at all. */
        size_t least = cut > first_end ? 400000 : cut > first_end * 3 / 4 ? 131072 : 0;
        assert_in_range(all.count, least, text.count);
        if (all.count)
            assert_memory_equal(all.at, text.at, all.count);
    }
}

TEST(a_wrong_checksum_is_reported_after_the_bytes)
{
    SCOPED struct bytes text = make_text(100000), gzip = { 0 }, zstd = { 0 };
    add_gzip(&gzip, text.at, text.count);
    gzip.at[gzip.count - 6] ^= 1;
    add_gzip(&gzip, text.at, 100); /* not reached: what cannot be trusted ends the input */
    expect(&gzip, &text, "the gzip data that began at byte 0 of the file does not match its checksum");
    add_zstd(&zstd, text.at, text.count);
    zstd.at[zstd.count - 1] ^= 1;
    char message[512];
    SCOPED struct bytes all = drain(source_open_memory(zstd.at, zstd.count, "test", NULL), 4096, message);
    assert_non_null(strstr(message, "does not match the zstd data"));
    assert_true(all.count <= text.count);
}

/* A flipped bit anywhere: the bytes up to it are right, it is reported, and the size of the pieces does not matter. */
TEST(a_flipped_bit_costs_nothing_before_it)
{
    SCOPED struct bytes text = make_text(200000), packed = { 0 };
    add_gzip(&packed, text.at, text.count);
    SCOPED unsigned char *out = mem_alloc(text.count);
    for (size_t at = 10; at < packed.count; at += at < 40 ? 1 : 1999) {
        size_t sure = bytes_zlib_gives(&packed, at, out, text.count);
        packed.at[at] ^= 0x20;
        char message[512], message_again[512];
        SCOPED struct bytes whole =
            drain(source_open_memory(packed.at, packed.count, "test", NULL), 1 << 20, message);
        SCOPED struct bytes pieces =
            drain(source_open_memory(packed.at, packed.count, "test", NULL), 777, message_again);
        assert_true(whole.count >= sure);
        if (sure)
            assert_memory_equal(whole.at, text.at, sure);
        assert_true(message[0] != '\0');
        assert_string_equal(message, message_again);
        assert_int_equal(whole.count, pieces.count);
        if (whole.count)
            assert_memory_equal(whole.at, pieces.at, whole.count);
        packed.at[at] ^= 0x20;
    }
}

TEST(garbage_after_the_last_member_is_reported)
{
    SCOPED struct bytes text = make_text(5000), gzip = { 0 }, zstd = { 0 };
    add_gzip(&gzip, text.at, text.count);
    add_zstd(&zstd, text.at, text.count);
    char gzip_message[128], zstd_message[128];
    snprintf(gzip_message, sizeof gzip_message,
             "the last 7 bytes, from byte %zu of the file on, are not gzip", gzip.count);
    snprintf(zstd_message, sizeof zstd_message,
             "the last 7 bytes, from byte %zu of the file on, are not zstd", zstd.count);
    add(&gzip, "garbage", 7);
    add(&zstd, "garbage", 7);
    expect(&gzip, &text, gzip_message);
    expect(&zstd, &text, zstd_message);
}

/* An offset beyond the window, met where ISA-L counts the bytes left below 0: the message gives a place in the file. */
TEST(an_offset_beyond_the_window_is_reported_with_its_place)
{
    static const unsigned char head[] = { 0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff,
                                          0xe3, 0xe2, 0x72, 0xe0, 0x0a, 0x60, 0xce, 0x60, 0x8a, 0x62 };
    static const unsigned char tail[] = { 0xf2, 0x60, 0xe2, 0xe2, 0x72, 0x60, 0x85, 0xb1, 0x01,
                                          0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00 };
    SCOPED struct bytes packed = { 0 };
    char message[512];
    add(&packed, head, sizeof head);
    for (int i = 0; i < 77; i++)
        add(&packed, "\xff", 1);
    add(&packed, tail, sizeof tail);
    SCOPED struct bytes text =
        drain(source_open_memory(packed.at, packed.count, "test", NULL), 1 << 14, message);
    assert_true(text.count > 0); /* what came before is given */
    const char *place = strstr(message, "the gzip data is damaged near byte ");
    assert_non_null(place);
    long offset = strtol(strstr(place, "byte ") + strlen("byte "), NULL, 10);
    assert_in_range(offset, 0, packed.count);
}

TEST(a_gzip_header_alone_is_damage)
{
    SCOPED struct bytes none = { 0 };
    const struct {
        const char *bytes;
        size_t count;
        const char *message;
    } rows[] = {
        { "\x1f\x8b", 2, "breaks off at byte 2" },
        { "\x1f\x8b\x08\0\0\0\0\0\0\3", 10, "breaks off at byte 10" },
        { "\x1f\x8b\x07\0\0\0\0\0\0\3\3\0", 12, "the gzip header at byte 0" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        SCOPED struct bytes packed = { 0 };
        add(&packed, rows[i].bytes, rows[i].count);
        expect(&packed, &none, rows[i].message);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static char folder[] = "/tmp/test_source.XXXXXX";
static char path[sizeof folder + 32];

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *data, size_t size)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
}

static int make_folder(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

TEST(files_are_read_whole)
{
    SCOPED struct bytes text = make_text(3000000), gzip = { 0 }, zstd = { 0 };
    add_gzip_level(&gzip, text.at, text.count, 0); /* stored: larger than the source's buffer */
    add_zstd(&zstd, text.at, text.count);
    struct bytes *rows[] = { &text, &gzip, &zstd };
    for (size_t i = 0; i < 3; i++) {
        write_file(in_folder("t"), rows[i]->at, rows[i]->count);
        static const size_t pieces[] = { 1000, 65536, 1000000, 4000000 };
        for (size_t j = 0; j < 4; j++) {
            char message[512];
            SCOPED struct bytes all = drain(source_open(path, NULL, NULL), pieces[j], message);
            assert_string_equal(message, "");
            assert_int_equal(all.count, text.count);
            assert_memory_equal(all.at, text.at, text.count);
        }
        unlink(path);
    }
}

struct writer {
    int fd;
    const struct bytes *bytes;
    size_t piece;
};

static void *write_in_pieces(void *arg)
{
    struct writer *writer = arg;
    for (size_t at = 0; at < writer->bytes->count;) {
        size_t left = writer->bytes->count - at;
        ssize_t page_writing_emit =
            write(writer->fd, writer->bytes->at + at, left < writer->piece ? left : writer->piece);
        if (page_writing_emit < 0)
            break;
        at += (size_t)page_writing_emit;
    }
    close(writer->fd);
    return NULL;
}

/* Standard input as a pipe whose writer trickles: packed bytes come in pieces of every size. */
TEST(a_trickling_pipe_is_read_whole)
{
    SCOPED struct bytes text = make_text(20000), gzip = { 0 }, zstd = { 0 };
    add_gzip(&gzip, text.at, 10000);
    add_gzip(&gzip, text.at + 10000, 10000);
    add_zstd(&zstd, text.at, text.count);
    struct bytes *rows[] = { &text, &gzip, &zstd };
    static const size_t pieces[] = { 1, 2, 3, 13, 100000 };
    int saved = dup(STDIN_FILENO);
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 5; j++) {
            for (size_t way = 0; way < 2; way++) {
                int ends[2];
                assert_int_equal(pipe(ends), 0);
                dup2(ends[0], STDIN_FILENO);
                close(ends[0]);
                /* A shell may have left standard input in this state. */
                fcntl(STDIN_FILENO, F_SETFL, way ? O_NONBLOCK : 0);
                struct writer writer = { ends[1], rows[i], pieces[j] };
                pthread_t thread;
                assert_int_equal(pthread_create(&thread, NULL, write_in_pieces, &writer), 0);
                struct source *source = source_open(way ? "-" : "/dev/stdin", NULL, NULL);
                assert_non_null(source);
                assert_string_equal(source_name(source), way ? "standard input" : "/dev/stdin");
                assert_int_equal(source_packed_size(source), -1);
                char message[512];
                SCOPED struct bytes all = drain(source, 4096, message);
                pthread_join(thread, NULL);
                assert_string_equal(message, "");
                assert_int_equal(all.count, text.count);
                assert_memory_equal(all.at, text.at, text.count);
            }
        }
    }
    dup2(saved, STDIN_FILENO);
    close(saved);
}

static void *open_and_write(void *arg)
{
    struct writer *writer = arg;
    writer->fd = open(path, O_WRONLY);
    return write_in_pieces(writer);
}

TEST(a_named_pipe_is_read_whole)
{
    SCOPED struct bytes text = make_text(200000);
    assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
    struct writer writer = { -1, &text, 5000 };
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, open_and_write, &writer), 0);
    char message[512];
    SCOPED struct bytes all = drain(source_open(path, NULL, NULL), 10000, message);
    pthread_join(thread, NULL);
    assert_int_equal(all.count, text.count);
    assert_memory_equal(all.at, text.at, text.count);
    unlink(path);
}

static void ignore_signal(int number)
{
    (void)number;
}

struct disturber {
    pthread_t reader;
    struct writer writer;
};

/* Interrupt the reader while it waits, then give it what it waits for. */
static void *disturb_and_write(void *arg)
{
    struct disturber *disturber = arg;
    for (int i = 0; i < 50; i++) {
        pthread_kill(disturber->reader, SIGUSR1);
        usleep(200);
    }
    return write_in_pieces(&disturber->writer);
}

TEST(signals_do_not_end_reading)
{
    struct sigaction action = { .sa_handler = ignore_signal }; /* no SA_RESTART: read(2) returns EINTR */
    sigaction(SIGUSR1, &action, NULL);
    SCOPED struct bytes text = make_text(100);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    struct disturber disturber = { pthread_self(), { ends[1], &text, 100 } };
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, disturb_and_write, &disturber), 0);
    char message[512];
    SCOPED struct bytes all = drain(source_open(name, NULL, NULL), 4096, message);
    pthread_join(thread, NULL);
    assert_int_equal(all.count, text.count);
    assert_memory_equal(all.at, text.at, text.count);
    close(ends[0]);
}

TEST(a_file_that_shrinks_or_grows_is_reported)
{
    SCOPED struct bytes text = make_text(2000000);
    char *buffer = scratch_heap(mem_alloc(3000000));
    write_file(in_folder("t"), text.at, text.count);
    struct source *source = scratch_source(source_open(path, NULL, NULL));
    assert_int_equal(source_read(source, buffer, 1000, NULL), 1000);
    assert_int_equal(truncate(path, 1500000), 0);
    assert_int_equal(source_read(source, buffer, 3000000, NULL), 1499000);
    assert_memory_equal(buffer, text.at + 1000, 1499000);
    assert_string_equal(source_damage(source),
                        "t shrank while it was read: expected 2000000 bytes, found 1500000; wait until it is "
                        "written, or read a copy of it");

    /* It is shorter than what was read of it. */
    write_file(path, text.at, text.count);
    source = scratch_source(source_open(path, NULL, NULL));
    assert_int_equal(source_read(source, buffer, 1600000, NULL), 1600000);
    assert_int_equal(truncate(path, 1500000), 0);
    source_read(source, buffer, 3000000, NULL);
    assert_string_equal(source_damage(source),
                        "t shrank while it was read: expected 2000000 bytes, found 1500000; wait until it is "
                        "written, or read a copy of it");

    source = scratch_source(source_open(path, NULL, NULL));
    assert_int_equal(source_read(source, buffer, 1000, NULL), 1000);
    write_file(path, text.at, text.count);
    assert_int_equal(source_read(source, buffer, 3000000, NULL), 1999000);
    assert_string_equal(source_damage(source),
                        "t grew while it was read: expected 1500000 bytes, found 2000000; wait until it is "
                        "written, or read a copy of it");
    unlink(path);
}

TEST(what_can_not_be_opened_is_reported)
{
    struct tpa_error err = { 0 };
    assert_null(source_open(in_folder("none.json"), NULL, &err));
    assert_string_equal(err.message, "cannot open: No such file or directory");
    assert_string_equal(err.file, path);
    assert_string_equal(err.hint, "give a file, a directory of traces, or - for standard input");

    write_file(in_folder("noen.json"), "", 0);
    assert_null(source_open(in_folder("none.json"), NULL, &err));
    assert_non_null(strstr(err.hint, "did you mean "));
    assert_non_null(strstr(err.hint, "/noen.json?"));
    unlink(in_folder("noen.json"));
    assert_null(source_open("no/such/*.json", NULL, &err));
    assert_non_null(strstr(err.hint, "no file matches this pattern"));
    assert_null(source_open("https://example.com/none.json", NULL, &err));
    assert_non_null(strstr(err.hint, "download it first"));

    write_file(in_folder("none.json.gz"), "", 0);
    assert_null(source_open(in_folder("none.json"), NULL, &err));
    assert_non_null(strstr(err.hint, "none.json.gz is there"));
    unlink(in_folder("none.json.gz"));

    write_file(in_folder("none.json"), "", 0);
    assert_null(source_open(in_folder("none.json.zst"), NULL, &err));
    assert_non_null(strstr(err.hint, "none.json is there"));
    unlink(in_folder("none.json"));

    assert_null(source_open(folder, NULL, &err));
    assert_string_equal(err.message, "is a directory, not a file");
    assert_string_equal(err.file, folder);

    if (geteuid() != 0) { /* root may read everything */
        write_file(in_folder("secret"), "x", 1);
        chmod(path, 0);
        assert_null(source_open(path, NULL, &err));
        assert_string_equal(err.message, "cannot open: Permission denied");
        assert_non_null(strstr(err.hint, "its mode is 0000"));
        unlink(path);
    }
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* 100 MB of blanks twice, packed 230 times by the first member and 1000 times by the second. */
TEST(a_bomb_is_refused_unless_the_limit_is_lifted)
{
    const size_t size = 100000000;
    SCOPED unsigned char *blanks = mem_alloc(size);
    memset(blanks, ' ', size);
    SCOPED struct bytes packed = { 0 };
    add_gzip_level(&packed, blanks, size, 1);
    add_gzip_level(&packed, blanks, size, 9);
    write_file(in_folder("bomb"), packed.at, packed.count);
    char *buffer = scratch_heap(mem_alloc(1 << 20));

    const struct {
        uint64_t max_ratio;
        bool passes;
    } rows[] = { { 150, false }, { 2000, true }, { 0, true } };
    for (size_t i = 0; i < 3; i++) {
        struct tpa_error err = { 0 };
        struct source_limits limits = { rows[i].max_ratio };
        struct source *source = scratch_source(source_open(path, &limits, &err));
        int64_t got, total = 0;
        while ((got = source_read(source, buffer, 1 << 20, &err)) > 0)
            total += got;
        assert_int_equal(got, rows[i].passes ? 0 : -1);
        if (rows[i].passes) {
            assert_int_equal(total, 2 * (int64_t)size);
        } else {
            assert_in_range(total, 64 << 20, 80 << 20);
            assert_non_null(strstr(err.message, "unpacks to more than 150 times its size"));
            assert_non_null(strstr(err.hint, "--max-ratio"));
            assert_string_equal(err.file, path);
        }
    }
    unlink(path);
}

TEST(a_zstd_window_beyond_reason_is_refused)
{
    /* Frame header: no single segment; window descriptor 0xa8 is 2^(10 + 21) = 2 GiB. */
    static const unsigned char frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00 };
    struct tpa_error err = { 0 };
    struct source *source = scratch_source(source_open_memory(frame, sizeof frame, "huge.zst", &err));
    char byte;
    assert_int_equal(source_read(source, &byte, 1, &err), -1);
    assert_non_null(strstr(err.message, "window of more than 128 MiB"));
    assert_string_equal(err.file, "huge.zst");
}

TEST(zstd_windows_end_at_128_mib)
{
    /* As above: 0x88 is 2^(10 + 17) bytes, 0x89 an eighth more. Then one block, stored, of five bytes. */
    unsigned char frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x88, 0x29, 0x00, 0x00, 'w', 'h', 'o', 'l', 'e' };
    struct tpa_error err = { 0 };
    char bytes[16];
    struct source *source = scratch_source(source_open_memory(frame, sizeof frame, "large.zst", &err));
    assert_int_equal(source_read(source, bytes, sizeof bytes, &err), 5);
    assert_memory_equal(bytes, "whole", 5);
    frame[5] = 0x89;
    source = scratch_source(source_open_memory(frame, sizeof frame, "larger.zst", &err));
    assert_int_equal(source_read(source, bytes, sizeof bytes, &err), -1);
    assert_non_null(strstr(err.message, "window of more than 128 MiB"));
}

/* 60 MB of blanks in 6 kB, twice: 20,000 times. Frames before them that zstd skips buy nothing, nor do those without text, and empty blocks. */
TEST(what_holds_nothing_buys_no_ratio)
{
    const size_t size = 60000000, skipped = 1000000;
    SCOPED unsigned char *blanks = mem_alloc(size);
    memset(blanks, ' ', size);
    SCOPED struct bytes packed = { 0 };
    const unsigned char head[] = {
        0x50, 0x2a, 0x4d, 0x18, skipped & 255, skipped >> 8 & 255, skipped >> 16 & 255, 0
    };
    add(&packed, head, sizeof head);
    add(&packed, blanks, skipped);
    for (int i = 0; i < 100000; i++) /* frames that hold nothing */
        add(&packed, "\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00", 9);
    add(&packed, "\x28\xb5\x2f\xfd\x00\x38", 6);
    for (int i = 0; i < 300000; i++) /* and blocks of a frame */
        add(&packed, "\x00\x00\x00", 3);
    add(&packed, "\x01\x00\x00", 3);
    add_zstd(&packed, blanks, size);
    add_zstd(&packed, blanks, size);
    struct tpa_error err = { 0 };
    struct source *source = scratch_source(source_open_memory(packed.at, packed.count, "packed", &err));
    char *buffer = scratch_heap(mem_alloc(1 << 20));
    int64_t got;
    while ((got = source_read(source, buffer, 1 << 20, &err)) > 0)
        ;
    assert_int_equal(got, -1);
    assert_non_null(strstr(err.message, "times its size"));
}

TESTS_WITHIN(make_folder, remove_folder)
