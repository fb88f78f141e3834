/* What the environment says of a recording: capture/settings.h. */
#include "tests/unit/unit.h"
#include "capture/settings.h"

static const char *const names[] = {
    "TPA_CAPTURE_OUTPUT",
    "TPA_CAPTURE_KINDS",
    "TPA_CAPTURE_GRAPHS",
    "TPA_CAPTURE_CALLS",
    "TPA_CAPTURE_PUBLIC",
    "TPA_CAPTURE_START_AFTER",
    "TPA_CAPTURE_DURATION",
    "TPA_CAPTURE_RANGE",
    "TPA_CAPTURE_STEPS",
    "TPA_CAPTURE_SIGNAL",
    "TPA_CAPTURE_PAUSED",
    "TPA_CAPTURE_MEMORY",
    "TPA_CAPTURE_CUPTI",
    "TPA_CAPTURE_REPORT",
    "TPA_CAPTURE_SAMPLE",
    "TPA_CAPTURE_WINDOW",
    "TPA_CAPTURE_BUDGET",
    "TPA_CAPTURE_SLOW",
    "TPA_CAPTURE_RING",
    "RANK",
    "LOCAL_RANK",
    "SLURM_PROCID",
    "SLURM_STEP_ID",
    "SLURM_NTASKS",
    "SLURM_STEP_NUM_TASKS",
    "WORLD_SIZE",
    "TPA_CAPTURE_HARDWARE_TIMES",
};

static int clear(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    return 0;
}

static struct capture_settings read_with(const char *name, const char *value)
{
    struct capture_settings settings;
    char why[512];
    setenv(name, value, 1);
    assert_true(capture_settings_read(&settings, why, sizeof why));
    return settings;
}

static void refuses(const char *name, const char *value)
{
    struct capture_settings settings;
    char why[512];
    clear(NULL);
    setenv(name, value, 1);
    assert_false(capture_settings_read(&settings, why, sizeof why));
    assert_non_null(strstr(why, name));
    assert_non_null(strstr(why, value));
}

TEST_WITHIN(an_empty_environment_records_all_from_the_start, clear, NULL)
{
    struct capture_settings settings = read_with("TPA_CAPTURE_KINDS", "");
    assert_string_equal(settings.output, "capture.tpa");
    assert_int_equal(settings.kinds, CAPTURE_ALL_KINDS);
    assert_false(settings.graph_nodes || settings.all_calls || settings.paused);
    assert_int_equal(settings.start_after_ns, 0);
    assert_int_equal(settings.duration_ns, 0);
    assert_true(settings.first_step > settings.last_step);
    assert_string_equal(settings.range, "");
}

TEST_WITHIN(times_have_units, clear, NULL)
{
    assert_int_equal(read_with("TPA_CAPTURE_DURATION", "10s").duration_ns, 10000000000);
    assert_int_equal(read_with("TPA_CAPTURE_DURATION", "1500ms").duration_ns, 1500000000);
    assert_int_equal(read_with("TPA_CAPTURE_DURATION", "2min").duration_ns, 120000000000);
    assert_int_equal(read_with("TPA_CAPTURE_DURATION", "0").duration_ns, 0);
    refuses("TPA_CAPTURE_DURATION", "10");
    refuses("TPA_CAPTURE_DURATION", "-1s");
    refuses("TPA_CAPTURE_DURATION", "9223372036854775807h");
    refuses("TPA_CAPTURE_START_AFTER", "soon");
}

TEST_WITHIN(steps_are_one_range, clear, NULL)
{
    struct capture_settings settings = read_with("TPA_CAPTURE_STEPS", "10..20");
    assert_int_equal(settings.first_step, 10);
    assert_int_equal(settings.last_step, 20);
    settings = read_with("TPA_CAPTURE_STEPS", "7");
    assert_int_equal(settings.first_step, 7);
    assert_int_equal(settings.last_step, 7);
    settings = read_with("TPA_CAPTURE_STEPS", "3..");
    assert_int_equal(settings.first_step, 3);
    assert_int_equal(settings.last_step, INT64_MAX);
    settings = read_with("TPA_CAPTURE_STEPS", "..4");
    assert_int_equal(settings.first_step, 0);
    assert_int_equal(settings.last_step, 4);
    refuses("TPA_CAPTURE_STEPS", "..");
    refuses("TPA_CAPTURE_STEPS", "4..2");
    refuses("TPA_CAPTURE_STEPS", "1,2");
    refuses("TPA_CAPTURE_STEPS", "a..b");
}

TEST_WITHIN(a_range_may_have_a_domain_and_a_star, clear, NULL)
{
    struct capture_settings settings = read_with("TPA_CAPTURE_RANGE", "step*@NCCL");
    assert_string_equal(settings.range, "step");
    assert_string_equal(settings.range_domain, "NCCL");
    assert_true(settings.range_is_prefix);
    settings = read_with("TPA_CAPTURE_RANGE", "a@b@c");
    assert_string_equal(settings.range, "a@b");
    assert_string_equal(settings.range_domain, "c");
    assert_false(settings.range_is_prefix);
    assert_string_equal(read_with("TPA_CAPTURE_RANGE", "*").range, "*");
    assert_string_equal(read_with("TPA_CAPTURE_RANGE", "@x").range, "@x");
}

TEST_WITHIN(memory_is_bounded_from_below, clear, NULL)
{
    assert_int_equal(read_with("TPA_CAPTURE_MEMORY", "1G").memory_bytes, 1 << 30);
    assert_int_equal(read_with("TPA_CAPTURE_MEMORY", "1").memory_bytes, CAPTURE_LEAST_MEMORY);
    refuses("TPA_CAPTURE_MEMORY", "much");
}

TEST_WITHIN(kinds_are_chosen_or_left_out, clear, NULL)
{
    assert_int_equal(read_with("TPA_CAPTURE_KINDS", "kernel,nvtx").kinds, CAPTURE_KERNEL | CAPTURE_NVTX);
    assert_int_equal(read_with("TPA_CAPTURE_KINDS", "no-memory").kinds,
                     CAPTURE_ALL_KINDS & ~(uint32_t)CAPTURE_MEMORY);
    assert_int_equal(read_with("TPA_CAPTURE_KINDS", "all,no-sync").kinds,
                     CAPTURE_ALL_KINDS & ~(uint32_t)CAPTURE_SYNC);
    refuses("TPA_CAPTURE_KINDS", "kernels");
    refuses("TPA_CAPTURE_KINDS", "kernel,,nvtx");
    refuses("TPA_CAPTURE_KINDS", "no-");
}

TEST_WITHIN(names_hold_process_host_and_rank, clear, NULL)
{
    char path[PATH_MAX], small[8];
    assert_true(capture_settings_expand("a-%p-%%.tpa", 4711, path, sizeof path));
    assert_string_equal(path, "a-4711-%.tpa");
    assert_true(capture_settings_expand("r%r", 1, path, sizeof path));
    assert_string_equal(path, "r0");
    setenv("SLURM_PROCID", "12", 1);
    setenv("SLURM_STEP_ID", "0", 1);
    assert_true(capture_settings_expand("r%r", 1, path, sizeof path));
    assert_string_equal(path, "r12");
    setenv("RANK", "3", 1);
    setenv("WORLD_SIZE", "8", 1);
    assert_true(capture_settings_expand("r%r", 1, path, sizeof path));
    assert_string_equal(path, "r3");
    assert_int_equal(capture_rank_read().world_size, 8);
    assert_false(capture_settings_expand("%x", 1, path, sizeof path));
    assert_false(capture_settings_expand("100%", 1, path, sizeof path));
    assert_false(capture_settings_expand("", 1, path, sizeof path));
    clear(NULL);
    assert_true(capture_settings_expand("1234567", 1, small, sizeof small));
    assert_false(capture_settings_expand("12345678", 1, small, sizeof small));
}

/* What a batch script of Slurm has in its environment, and then a task that it starts by srun. */
TEST_WITHIN(a_batch_script_is_no_rank, clear, NULL)
{
    setenv("SLURM_PROCID", "0", 1);
    setenv("SLURM_NTASKS", "8", 1);
    struct capture_rank rank = capture_rank_read();
    assert_int_equal(rank.rank, -1);
    assert_int_equal(rank.world_size, -1);
    setenv("SLURM_STEP_ID", "0", 1);
    setenv("SLURM_STEP_NUM_TASKS", "2", 1);
    rank = capture_rank_read();
    assert_int_equal(rank.rank, 0);
    assert_int_equal(rank.world_size, 2);
    setenv("SLURM_STEP_ID", "4294967290", 1); /* the shell of salloc */
    assert_int_equal(capture_rank_read().rank, -1);
    clear(NULL);
}

static void expands_to(const char *pattern, const char *wanted)
{
    char path[PATH_MAX];
    assert_true(capture_settings_expand(pattern, 1, path, sizeof path));
    assert_string_equal(path, wanted);
}

TEST_WITHIN(each_rank_of_a_job_has_a_name_of_its_own, clear, NULL)
{
    expands_to("run.tpa", "run.tpa");
    expands_to("none/", "none/capture.tpa");
    setenv("LOCAL_RANK", "1", 1);
    expands_to("run.tpa", "run.rank1.tpa");
    setenv("RANK", "5", 1);
    expands_to("run.tpa", "run.rank5.tpa");
    expands_to("run", "run.rank5");
    expands_to("a.b/.run", "a.b/.run.rank5");
    expands_to("none/", "none/rank5.tpa");
    expands_to("/tmp", "/tmp/rank5.tpa");
    expands_to("%r-%l.tpa", "5-1.tpa");
    expands_to("100%%", "100%.rank5");
    setenv("WORLD_SIZE", "1", 1);
    expands_to("run.tpa", "run.tpa");
    char small[13];
    setenv("WORLD_SIZE", "2", 1);
    assert_false(capture_settings_expand("run.tpa", 1, small, sizeof small));
}

TEST_WITHIN(what_is_left_out_has_a_share_and_a_period, clear, NULL)
{
    int64_t every = 0, window_ns = 0, period_ns = 0;
    double share = 0;
    assert_true(capture_read_sample("1/50", &every));
    assert_int_equal(every, 50);
    assert_true(capture_read_sample("1/7 steps", &every));
    assert_int_equal(every, 7);
    static const char *const no_samples[] = { "",     "50",  "1/",   "1/0",
                                              "1/-2", "2/5", "1/5x", "1/99999999999999999999" };
    for (size_t i = 0; i < sizeof no_samples / sizeof *no_samples; i++)
        assert_false(capture_read_sample(no_samples[i], &every));
    assert_true(capture_read_window("500ms/1min", &window_ns, &period_ns));
    assert_int_equal(window_ns, 500000000);
    assert_int_equal(period_ns, 60000000000);
    static const char *const no_windows[] = { "",      "2s",    "2s/",     "/2s", "0s/2s",
                                              "2s/2s", "3s/2s", "1.5s/2s", "2/60" };
    for (size_t i = 0; i < sizeof no_windows / sizeof *no_windows; i++)
        assert_false(capture_read_window(no_windows[i], &window_ns, &period_ns));
    assert_true(capture_read_budget("1%", &share) && share == 0.01);
    assert_true(capture_read_budget("0.5%", &share) && share == 0.005);
    assert_true(capture_read_budget("100%", &share) && share == 1);
    assert_true(capture_read_budget("0.25", &share) && share == 0.25);
    assert_true(capture_read_slow("1.5x", &share) && share == 1.5);
    assert_true(capture_read_slow("2", &share) && share == 2);
    static const char *const no_shares[] = { "",    "%",   "0",     "0%",  "101%", "1",
                                             "1.5", "-1%", "1..2%", "1 %", "1e-2", "nan" };
    for (size_t i = 0; i < sizeof no_shares / sizeof *no_shares; i++)
        assert_false(capture_read_budget(no_shares[i], &share));
    static const char *const not_slow[] = { "", "x", "1", "1x", "0.5x", "1.5y", "1.5xx", "inf" };
    for (size_t i = 0; i < sizeof not_slow / sizeof *not_slow; i++)
        assert_false(capture_read_slow(not_slow[i], &share));
}

TEST_WITHIN(a_ring_has_a_least_size, clear, NULL)
{
    assert_int_equal(read_with("TPA_CAPTURE_RING", "256M").ring_bytes, 256 << 20);
    assert_int_equal(read_with("TPA_CAPTURE_RING", "1k").ring_bytes, CAPTURE_LEAST_RING);
    assert_true(read_with("TPA_CAPTURE_SLOW", "1.5x").slow == 1.5);
    assert_true(read_with("TPA_CAPTURE_HARDWARE_TIMES", "1").hardware_times);
    refuses("TPA_CAPTURE_RING", "big");
    refuses("TPA_CAPTURE_HARDWARE_TIMES", "yes");
}

TEST_WITHIN(options_that_do_not_go_together_are_rejected, clear, NULL)
{
    struct capture_settings settings;
    char why[512];
    setenv("TPA_CAPTURE_BUDGET", "1%", 1);
    assert_false(capture_settings_read(&settings, why, sizeof why));
    assert_non_null(strstr(why, "--budget needs"));
    setenv("TPA_CAPTURE_SAMPLE", "1/2", 1);
    assert_true(capture_settings_read(&settings, why, sizeof why));
    setenv("TPA_CAPTURE_WINDOW", "1s/2s", 1);
    assert_false(capture_settings_read(&settings, why, sizeof why));
    assert_non_null(strstr(why, "do not go together"));
}

/* Stand in for the system's. The second is what a hardened build calls, as gcc on Ubuntu makes one unasked. */
static const char *host_name;
int gethostname(char *name, size_t size);
int gethostname(char *name, size_t size)
{
    snprintf(name, size, "%s", host_name);
    return 0;
}

int __gethostname_chk(char *name, size_t size, size_t room);
int __gethostname_chk(char *name, size_t size, size_t room)
{
    assert_true(size <= room);
    return gethostname(name, size);
}

TEST(a_host_can_not_lead_out_of_its_folder)
{
    static const char *const hosts[][2] = {
        { "node-1.lan_2", "logs/node-1.lan_2.tpa" },
        { "../../etc/x", "logs/_._.._etc_x.tpa" },
        { "..", "logs/_..tpa" },
        { "a\n\x1b$(x)\xff", "logs/a____x__.tpa" },
    };
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        host_name = hosts[i][0];
        assert_true(capture_settings_expand("logs/%h.tpa", 1, path, sizeof path));
        assert_string_equal(path, hosts[i][1]);
    }
}
