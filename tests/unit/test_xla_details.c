/* test_xla_details.c - ingest/xla_details.h: whatever a string of details holds, an event gets what it tells. */
#include "ingest/xla_details.h"
#include "tests/unit/drawn.h"

static const struct trace_wants *drawn_wants = &(const struct trace_wants){ .args = XLA_DETAILS_TELL };

/* What DETAILS give an event, as "regs shared grid block bytes memory"; - for what they do not tell. */
static void expect(const char *details, const char *expected)
{
    static const enum trace_arg numbers[] = { ARG_REGISTERS, ARG_SHARED_MEMORY, ARG_BYTES };
    static const enum trace_arg texts[] = { ARG_GRID, ARG_BLOCK, ARG_COPY_MEMORY };
    draw_event("kernel", "fusion", 0, 13, 0, 10);
    xla_details_add(draw_chunk_now(), details, strlen(details));
    char found[6][64];
    for (int i = 0; i < 3; i++) {
        int64_t value;
        if (trace_arg(drawn(), numbers[i], 0, &value))
            snprintf(found[i], sizeof found[i], "%lld", (long long)value);
        else
            strcpy(found[i], "-");
        const char *text = trace_arg_text(drawn(), texts[i], 0);
        snprintf(found[3 + i], sizeof found[3 + i], "%s", text ? text : "-");
    }
    char all[512];
    snprintf(all, sizeof all, "%s %s %s %s %s %s", found[0], found[1], found[3], found[4], found[2],
             found[5]);
    assert_string_equal(all, expected);
}

TEST(as_xla_writes_them)
{
    expect("regs:32 static_shared:128 dynamic_shared:1024 grid:8,2,1 block:256,1,1 occ_pct:66.6667",
           "32 1152 [8,2,1] [256,1,1] - -");
    expect("kind_src:pageable kind_dst:device size:4096 dest:0 async:1", "- - - - 4096 pageable");
    expect("kind_src:device kind_dst:pinned size:4096 dest:0 async:1", "- - - - 4096 pinned");
    expect("kind_src:device kind_dst:device size:8 dest:1 async:1", "- - - - 8 -");
    expect("kind:managed size:16 async:0", "- - - - 16 managed");
    expect("size:128 dest:0", "- - - - 128 -"); /* TensorFlow 2.2 */
}

TEST(as_nobody_writes_them)
{
    expect("", "- - - - - -");
    expect("   ", "- - - - - -");
    expect("regs", "- - - - - -");
    expect("regs:", "- - - - - -");
    expect(":32", "- - - - - -");
    expect("regs:many size:-", "- - - - - -");
    expect("registers:32 regs:64", "64 - - - - -");
    expect("grid:1,2 block:1,2,3,4", "- - - - - -");
    expect("grid:,, block:1,,3", "- - - - - -");
    expect("grid:1,2,3 grid:x", "- - [1,2,3] - - -");
    expect("grid:00000000000000000000000000000000000000000000000000000000000000000001,1,1", "- - - - - -");
    expect("static_shared:9223372036854775807 dynamic_shared:1", "- - - - - -");
    expect("static_shared:5", "- 5 - - - -");
    expect("kind_src:pageable_ kind_dst:Pinned", "- - - - - -");
    expect("regs:1 regs:2", "2 - - - - -");
}
