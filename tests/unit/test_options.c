
#include "tests/unit/unit.h"
#include "base/options.h"
#include "base/suggest.h"

struct args {
    const char *sort, *filter;
    int64_t min_ns, max_bytes, device;
    uint64_t jobs;
    struct limit limit;
    struct ranges steps;
    double gate;
    int format;
    bool wide, color;
    struct opt_list set, base;
};

static const struct opt_choice formats[] = {
    { "table", "for people" }, { "csv" }, { "json" }, { "md", "for pages", "markdown gfm" }, { 0 },
};

static const struct opt rows[] = {
    OPT_GROUP("Selection"),
    OPT_TIME('m', "min", struct args, min_ns, "TIME", "hide kernels shorter than TIME"),
    OPT_TEXT(0, "filter", struct args, filter, "REGEX", "keep names that match REGEX"),
    OPT_TEXT('s', "sort", struct args, sort, "KEY", "order of the rows"),
    OPT_SIZE(0, "max-size", struct args, max_bytes, "SIZE", "largest size"),
    OPT_INT(0, "device", struct args, device, -1, 64, "N", "device number"),
    OPT_COUNT('j', "jobs", struct args, jobs, 1, 1024, "N", "threads"),
    OPT_LIMIT('n', "limit", struct args, limit, "N", "rows to show"),
    OPT_RANGES(0, "steps", struct args, steps, "A..B", "steps"),
    OPT_SHARE(0, "gate", struct args, gate, "SHARE", "gate"),
    OPT_GROUP("Output"),
    OPT_CHOICE('f', "format", struct args, format, formats, "FORMAT", "how to print the rows"),
    OPT_FLAG('w', "wide", struct args, wide, "show names in full"),
    OPT_FLAG('c', "color", struct args, color, "use colours"),
    OPT_LIST(0, "set", struct args, set, "WORD", "may be given several times"),
    OPT_FILES(0, "base", struct args, base, "FILE", "many files"),
    OPT_END,
};

static const struct args defaults = {
    .sort = "count", .min_ns = 1500, .limit = { .count = 10 }, .color = true
};

/* One parse: the words, and what came of them. */
static struct args args;
static struct operands operands;
static struct tpa_error err;
static char *words[32];

static bool parse_by(bool program, const char *line)
{
    static char copy[512];
    options_release(rows, &args);
    args = defaults;
    err = (struct tpa_error){ 0 };
    snprintf(copy, sizeof copy, "%s", line);
    int count = 0;
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    return (program ? options_parse_program : options_parse)(rows, &args, count, words, &operands, &err);
}

static bool parse(const char *line)
{
    return parse_by(false, line);
}

static int release(void **state)
{
    (void)state;
    options_release(rows, &args);
    return 0;
}

static void assert_parses(const char *line)
{
    if (!parse(line))
        fail_msg("'%s' was refused: %s", line, err.message);
}

static void assert_refused(const char *line, const char *message)
{
    assert_false(parse(line));
    assert_true(err.failed);
    assert_string_equal(err.message, message);
}

TEST(every_way_to_write_a_value_is_understood)
{
    const char *const lines[] = { "--min=2us", "--min 2us", "-m 2us", "-m2us", "-wm 2us", "-wm2us" };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_parses(lines[i]);
        assert_true(args.min_ns == 2000);
        assert_int_equal(operands.count, 0);
    }
    assert_true(args.wide);
}

TEST(what_is_not_given_keeps_its_initial_value)
{
    assert_parses("");
    assert_string_equal(args.sort, "count");
    assert_true(args.min_ns == 1500 && args.limit.count == 10 && args.color && !args.wide);
    assert_int_equal(args.steps.count, 0);
}

TEST(values_are_typed)
{
    assert_parses(
        "--max-size 4k --device -1 -j 8 -n 20% --steps 3..7,9 --gate 5% --format=markdown --filter ^at");
    assert_true(args.max_bytes == 4096 && args.device == -1 && args.jobs == 8);
    assert_true(args.limit.is_share && args.limit.share == 0.2);
    assert_int_equal(args.steps.count, 2);
    assert_true(args.gate == 0.05);
    assert_int_equal(args.format, 3);
    assert_string_equal(args.filter, "^at");
}

TEST(flags_are_turned_on_and_off_and_the_last_one_wins)
{
    assert_parses("--wide --no-color");
    assert_true(args.wide && !args.color);
    assert_parses("--wide --no-wide --no-color --color");
    assert_true(!args.wide && args.color);
    assert_refused("--no-sort", "unknown option --no-sort");
    assert_refused("--wide=yes", "--wide takes no value, but 'yes' was given");
}

TEST(operands_stand_anywhere)
{
    assert_parses("a.json --wide b.json -s count - c.json -- --sort -x --");
    assert_int_equal(operands.count, 7);
    const char *const expected[] = { "a.json", "b.json", "-", "c.json", "--sort", "-x", "--" };
    for (size_t i = 0; i < operands.count; i++)
        assert_string_equal(operands.at[i], expected[i]);
    assert_true(args.wide);
}

TEST(a_dash_is_a_value_too)
{
    assert_parses("--filter - x");
    assert_string_equal(args.filter, "-");
    assert_int_equal(operands.count, 1);
}

TEST(long_names_are_not_abbreviated)
{
    assert_refused("--sor count", "unknown option --sor; did you mean --sort?");
    assert_refused("--filt=x", "unknown option --filt; did you mean --filter?");
}

TEST(unknown_words_get_a_suggestion)
{
    assert_refused("--sotr count", "unknown option --sotr; did you mean --sort?");
    assert_refused("--max_sise=1", "unknown option --max_sise; did you mean --max-size?");
    assert_refused("--hepl", "unknown option --hepl; did you mean --help?");
    assert_refused("--frobnicate", "unknown option --frobnicate");
}

TEST(one_dash_before_a_long_name_is_explained)
{
    assert_refused("-x", "unknown option -x");
    assert_refused("-limit 3", "unknown option -l; did you mean --limit?");
    assert_refused("-wide", "unknown option -i");
}

TEST(wrong_values_say_what_was_expected)
{
    assert_refused("--min 10", "--min takes a time such as 10us, 1.5ms or 2s, not '10'");
    assert_refused("-j 0", "--jobs takes a whole number from 1 to 1024, not '0'");
    assert_refused("-jx", "--jobs takes a whole number from 1 to 1024, not 'x'");
    assert_refused("--device=65", "--device takes a whole number from -1 to 64, not '65'");
    assert_refused("-n 120%", "--limit takes a number such as 10, or a share such as 20%, not '120%'");
    assert_refused("--format tabel", "--format does not know 'tabel'; did you mean table?");
    assert_string_equal(err.hint, "--format takes table, csv, json or md");
    assert_refused("--format parquet", "--format does not know 'parquet'");
}

TEST(a_missing_value_is_not_taken_from_the_next_option)
{
    assert_refused("--filter", "--filter needs a value: a text");
    assert_refused("--filter --wide", "--filter needs a value: a text");
    assert_string_equal(err.hint, "if the value begins with dashes, write --filter=--wide");
    assert_parses("--filter=--wide");
    assert_string_equal(args.filter, "--wide");
    assert_parses("--filter= x");
    assert_string_equal(args.filter, "");
}

TEST(lists_collect_what_is_given)
{
    assert_parses("--set a x --set=b --base p q - --wide y --base r");
    assert_int_equal(args.set.count, 2);
    assert_string_equal(args.set.at[0], "a");
    assert_string_equal(args.set.at[1], "b");
    assert_int_equal(args.base.count, 4);
    assert_string_equal(args.base.at[2], "-");
    assert_string_equal(args.base.at[3], "r");
    assert_int_equal(operands.count, 2);
}

TEST(help_stops_reading)
{
    assert_parses("--wide --help --nonsense");
    assert_true(operands.help_wanted);
    assert_parses("-wh");
    assert_true(operands.help_wanted);
    assert_parses("-- --help");
    assert_false(operands.help_wanted);
}

TEST(help_is_made_of_the_rows)
{
    SCRATCH_BUFFER(out);
    options_help(rows, &defaults, 60, &out);
    /* Column 26, wrapped at 60, defaults from the initializer, a flag that is on offered as --no-. */
    assert_non_null(strstr(out.at, "\nSelection:\n"
                                   "  -m, --min TIME          hide kernels shorter than TIME\n"
                                   "                          (default: 1500ns)\n"));
    assert_non_null(strstr(out.at, "      --max-size SIZE     largest size\n"));
    assert_non_null(strstr(out.at, "  -f, --format FORMAT     how to print the rows: table, csv,\n"
                                   "                          json or md (default: table)\n"));
    assert_non_null(strstr(out.at, "  -c, --no-color "));
    assert_non_null(strstr(out.at, "      --base FILE...      many files\n"));
}

TEST(text_is_broken_between_words)
{
    SCRATCH_BUFFER(out);
    text_wrap(&out, "one two three\nfour verylongword x", 2, 2, 10);
    assert_string_equal(out.at, "one two\n  three\n  four\n  verylongword\n  x\n");
}

TEST(distance_counts_slips)
{
    assert_int_equal(suggest_distance("sort", 4, "sort"), 0);
    assert_int_equal(suggest_distance("sotr", 4, "sort"), 1);
    assert_int_equal(suggest_distance("srt", 3, "sort"), 1);
    assert_int_equal(suggest_distance("soort", 5, "sort"), 1);
    assert_int_equal(suggest_distance("Max_Size", 8, "max-size"), 0);
    assert_int_equal(suggest_distance("", 0, "abc"), 3);
    assert_int_equal(suggest_distance("ca", 2, "abc"), 3); /* a swapped pair is not edited again */
}

TEST(the_first_operand_may_end_the_options)
{
    assert_true(parse_by(true, "--wide python train.py --wide --lr -3 -- x"));
    assert_true(args.wide);
    assert_int_equal(operands.count, 7);
    assert_string_equal(operands.at[0], "python");
    assert_string_equal(operands.at[3], "--lr");
    assert_string_equal(operands.at[5], "--");
    assert_true(parse_by(true, "-j 2 -- --odd-name --jobs"));
    assert_int_equal(operands.count, 2);
    assert_string_equal(operands.at[0], "--odd-name");
    assert_true(parse_by(true, "python --help"));
    assert_false(operands.help_wanted);
    assert_false(parse_by(true, "--odd-name python"));
}

TESTS_WITHIN(NULL, release)
