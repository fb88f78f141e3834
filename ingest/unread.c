/* The first matching row of a table counts. */
#define _GNU_SOURCE /* memmem */
#include "ingest/unread.h"

#include "ingest/json_text.h"

/* ---- by the first bytes ---- */

struct magic {
    size_t at, len;
    const char *bytes;
    const char *within; /* text that must also occur near the beginning; NULL: none */
    const char *what, *hint;
};

static const char unpack_first[] = "unpack it first";
static const char unpack_read[] = "unpack it first; gzip and zstd are read as they are";
static const char look_at_page[] = "the download may have failed: look at the page in a browser";
static const char firefox_hint[] =
    "profiler.firefox.com shows it; what perf recorded, stackcollapse-perf.pl turns into stacks, which tpa reads";
static const char table_hint[] = "tpa reads what profilers write: give it the trace that this was made of";
static const char nsys_hint[] = "export it first: nsys export --type sqlite FILE; tpa reads the .sqlite";

static const char flight_what[] = "a dump of PyTorch's Flight Recorder";
static const char flight_hint[] =
    "it holds no times of work: tpa hang, with the dumps of all ranks, answers which of them hold up a stuck job";

#define MAGIC(at, text, within, what, hint)                                                                  \
    {                                                                                                        \
        at, sizeof(text) - 1, text, within, what, hint                                                       \
    }

static const struct magic magics[] = {
    MAGIC(
        0, "NVR\0", NULL, "a report of Nsight Compute (.ncu-rep)",
        "it holds counters of single kernels and no timeline: ncu --import FILE shows it; record a timeline with "
        "nsys profile or torch.profiler"),
    MAGIC(
        0, "PERFILE2", NULL, "data of Linux perf (perf.data)",
        "'perf script -F comm,pid,tid,time,event,ip,sym | stackcollapse-perf.pl > stacks.txt' makes collapsed stacks of "
        "it, which tpa reads"),
    MAGIC(0, "2ELIFREP", NULL, "data of Linux perf (perf.data)",
          "read it with 'perf report' on the machine it is of"),
    MAGIC(0, "memray", NULL, "a capture of memray",
          "'memray flamegraph FILE' or 'memray table FILE' shows it"),
    MAGIC(
        0, "MOJ", NULL, "a profile of Austin in its binary form (MOJO)",
        "'mojo2austin FILE stacks.txt' (pip install austin-python) makes collapsed stacks of it, which tpa reads"),
    MAGIC(0, "PAR1", NULL, "a Parquet table", table_hint),
    MAGIC(0, "\x89HDF\r\n\x1a\n", NULL, "an HDF5 file",
          "tpa reads what profilers write: of Nsight Systems export with --type sqlite instead"),
    MAGIC(0, "ARROW1", NULL, "an Arrow file", "of Nsight Systems export with --type sqlite instead"),
    MAGIC(257, "ustar", NULL, "a tar archive", "unpack it first: tar -xf FILE; then give tpa the directory"),
    MAGIC(0, "7z\xbc\xaf\x27\x1c", NULL, "a 7z archive", "unpack it first: 7z x FILE"),
    MAGIC(0, "\x04\x22\x4d\x18", NULL, "lz4 data",
          "unpack it first: lz4 -d FILE; gzip and zstd are read as they are"),
    MAGIC(
        0, "PK\x03\x04", "data.pkl", "a file of torch.save (.pt)",
        "it holds tensors or objects, and no trace: prof.export_chrome_trace(\"trace.json.gz\") writes one"),
    MAGIC(0, "PK\x03\x04", NULL, "a zip archive", unpack_first),
    MAGIC(0, "PK\x05\x06", NULL, "a zip archive", unpack_first),
    MAGIC(
        0, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46", NULL, "a file of torch.save (.pt)",
        "it holds tensors or objects, and no trace: prof.export_chrome_trace(\"trace.json.gz\") writes one"),
    MAGIC(0, "OTF2", NULL, "an OTF2 archive",
          "tpa does not read it: write JSON or a database instead, with rocprofv3 "
          "--output-format json or rocpd"),
    MAGIC(0, "\x89PNG", NULL, "a PNG picture", NULL),
    MAGIC(0, "\xff\xd8\xff", NULL, "a JPEG picture", NULL),
    MAGIC(0,
          "\x7f"
          "ELF",
          NULL, "a program", "to record what it does: tpa capture -- PROGRAM"),
    MAGIC(0, "%PDF", NULL, "a PDF document", NULL),
    MAGIC(0, "BZh", NULL, "bzip2 data", unpack_read),
    MAGIC(0, "\x1f\x8b", NULL, "gzip data, packed a second time", /* the first layer is already unpacked */
          "unpack it once; a trace may be packed with gzip or zstd, but not twice"),
    MAGIC(0, "\x28\xb5\x2f\xfd", NULL, "zstd data, packed a second time",
          "unpack it once; a trace may be packed with gzip or zstd, but not twice"),
    MAGIC(0,
          "\xfd"
          "7zXZ",
          NULL, "xz data", unpack_read),
    MAGIC(0, "\xff\xfe", NULL, "UTF-16 text", "convert it first: iconv -f UTF-16 -t UTF-8 FILE > trace.json"),
    MAGIC(0, "\xfe\xff", NULL, "UTF-16 text", "convert it first: iconv -f UTF-16 -t UTF-8 FILE > trace.json"),
    MAGIC(
        0, "<!DOCTYPE", "<title>GPU Memory Timeline HTML", "an HTML page",
        "the page of export_memory_timeline is a picture; export to a name that ends in .raw.json.gz to have the "
        "figures"),
    MAGIC(0, "<!DOCTYPE", NULL, "an HTML page", look_at_page),
    MAGIC(0, "<!doctype", NULL, "an HTML page", look_at_page),
    MAGIC(
        0, "<html", "<title>GPU Memory Timeline HTML", "an HTML page",
        "the page of export_memory_timeline is a picture; export to a name that ends in .raw.json.gz to have the "
        "figures"),
    MAGIC(0, "<html", NULL, "an HTML page", look_at_page),
    MAGIC(0, "<HTML", NULL, "an HTML page", look_at_page),
    MAGIC(0, "<?xml", NULL, "an XML document", NULL),
    MAGIC(0, "version https://git-lfs", NULL, "a pointer of git lfs, not the file itself",
          "fetch it: git lfs pull"),
    MAGIC(
        0, "", "brain.Event:", "a TensorBoard event file (tfevents)",
        "it holds scalars and pictures, and no trace: traces lie in plugins/profile/RUN/ or *.pt.trace.json beside it"),
    MAGIC(0, "", "NVIDIA Nsight Systems", "a report of Nsight Systems", nsys_hint),
    MAGIC(0, "", "QuadD", "a report of Nsight Systems", nsys_hint),
    MAGIC(0, "", "NVIDIA Tegra Profiler", "a report of Nsight Systems", nsys_hint),
    MAGIC(0, "\x80", "pg_config", flight_what, flight_hint),
    MAGIC(0, "\x80", "pg_status", flight_what, flight_hint),
    MAGIC(0, "\x80", "collective_seq_id", flight_what, flight_hint),
    MAGIC(
        0, "\x80\x04\x95", NULL, "a Python pickle",
        "tpa does not run what is in pickles; a snapshot of CUDA memory is shown by pytorch.org/memory_viz"),
    MAGIC(0, "\x80\x03", NULL, "a Python pickle", "tpa does not run what is in pickles"),
    MAGIC(0, "\x80\x05\x95", NULL, "a Python pickle", "tpa does not run what is in pickles"),
};

/* ---- binary files known only by their names ---- */

static const struct {
    const char *ending, *what, *hint;
} endings[] = {
    { ".nsys-rep", "a report of Nsight Systems", nsys_hint },
    { ".qdrep", "a report of Nsight Systems", nsys_hint },
    { ".qdstrm", "an unfinished report of Nsight Systems",
      "import it with its QdstrmImporter, then: nsys export --type sqlite FILE" },
    { ".ncu-rep", "a report of Nsight Compute", "ncu --import FILE shows it" },
    { ".hatchet", "a tree of Proton in msgpack",
      "write it as JSON, which proton.finalize() does by default" },
    { ".h5", "an HDF5 file", NULL },
};

/* ---- text ---- */

static const struct {
    const char *word, *second; /* both occur near the beginning; SECOND may be NULL */
    const char *what, *hint;
} texts[] = {
    { "torch/_logging/structured.py", NULL, "a log of torch.compile (TORCH_TRACE)",
      "tlparse FILE shows it; it holds compilations and no timeline: record one with torch.profiler" },
    { "torch/_dynamo/", "] {\"", "a log of torch.compile (TORCH_TRACE)",
      "tlparse FILE shows it; it holds compilations and no timeline: record one with torch.profiler" },
    { "Self CPU %", "# of Calls", "the text of a table that PyTorch printed (key_averages().table())",
      "tpa makes such tables of a trace: prof.export_chrome_trace(\"trace.json.gz\"), then tpa top --format torch" },
    { "Time (%)", "Total Time (ns)", "a table of nsys stats", "give tpa the .sqlite that it was made of" },
    { "Ordered by:", "ncalls", "the text that pstats printed",
      "tpa reads the profile itself: python -m cProfile -o FILE.prof PROGRAM" },
    { "function calls", "ncalls", "the text that pstats printed",
      "tpa reads the profile itself: python -m cProfile -o FILE.prof PROGRAM" },
    { "Wrote profile results to", "Line #", "the text of line_profiler", NULL },
    { "Timer unit:", "Line #", "the text of line_profiler", NULL },
    { "\"KernelName\"", "\"DurationNs\"", "a table (CSV) of rocprof",
      "give its results.json, which rocprof --hip-trace writes" },
};

/* ---- JSON, by keys near its beginning ---- */

static const struct {
    const char *key, *second; /* both occur near the beginning; SECOND may be NULL */
    const char *what, *hint;
} documents[] = {
    { "\"schemaVersion\"", "\"deviceProperties\"", "the head of a trace of PyTorch, whose events are missing",
      "was the file copied whole, and the program not stopped while it wrote?" },
    { "\"chakra\"", NULL, "an execution trace of Chakra",
      "it holds a graph of operators for simulators; give tpa the trace of torch.profiler that it was made of" },
    { "-chakra.", "\"nodes\"", "an execution trace of PyTorch for Chakra (ExecutionTraceObserver)",
      "it holds operators without times: record with torch.profiler, too" },
    { "\"inspector_output_format_version\"", NULL, "a log of NCCL Inspector",
      "it holds totals of collectives and no timeline: tpa comm reads them from traces of torch.profiler" },
    { "\"event_type\"", "\"compilation\"", "a log of tritonparse",
      "it holds compilations and launches of Triton, and no timeline: record one with torch.profiler" },
    { "\"CudaEvent\"", NULL, "an export of Nsight Systems as JSON",
      "export it as a database instead: nsys export --type sqlite FILE; tpa reads the .sqlite" },
    { "\"TraceProcessEvent\"", NULL, "an export of Nsight Systems as JSON",
      "export it as a database instead: nsys export --type sqlite FILE; tpa reads the .sqlite" },
    { "\"NvtxEvent\"", NULL, "an export of Nsight Systems as JSON",
      "export it as a database instead: nsys export --type sqlite FILE; tpa reads the .sqlite" },
    { "\"total_num_allocations\"", "\"total_bytes_allocated\"", "statistics of memray (memray stats --json)",
      "tpa does not read captures of memray: 'memray flamegraph FILE' or 'memray table FILE' shows them" },
    { "\"head\"", "\"functionName\"", "a CPU profile of V8 in its old form (a tree below \"head\")",
      "save it anew in the Performance panel of Chrome's DevTools, which writes \"nodes\" and \"timeDeltas\"" },
    { "\"nbformat\"", NULL, "a Jupyter notebook", "give tpa the trace that the notebook wrote or read" },
    { "\"cells\"", "\"cell_type\"", "a Jupyter notebook",
      "give tpa the trace that the notebook wrote or read" },
    { "speedscope.app/file-format-schema", NULL, "a profile of speedscope", NULL },
    { "\"timeDeltas\"", NULL, "a CPU profile of V8 (.cpuprofile)", NULL },
    { "\"nodes\"", "\"callFrame\"", "a CPU profile of V8 (.cpuprofile)", NULL },
    { "\"log\"", "\"creator\"", "an HTTP archive (.har)",
      "it holds requests of a browser and no profile: save one in the Performance panel of Chrome's DevTools" },
    { "\"root_frame\"", NULL, "a session of pyinstrument",
      "pyinstrument --load FILE -r speedscope writes what tpa reads" },
    { "\"preprocessedProfileVersion\"", NULL, "a profile of the Firefox profiler", firefox_hint },
    { "\"processType\"", "\"libs\"", "a profile of the Firefox profiler", firefox_hint },
    { "\"markerSchema\"", NULL, "a profile of the Firefox profiler", firefox_hint },
    { "\"snapshot\"", "\"node_fields\"", "a heap snapshot of V8", NULL },
    { "\"alloc_samples\"", NULL, "a profile of Scalene", NULL },
    { "\"rocprofiler-sdk-tool\"", NULL, "a result of rocprofv3, not whole", NULL },
    { "\"dependencies\"", "\"name\"", "a package.json", NULL },
    { "\"lockfileVersion\"", NULL, "a package-lock.json", NULL },
    { "\"architectures\"", "\"model_type\"", "a model's configuration", NULL },
    { "\"level\"", "\"msg\"", "a log of JSON lines", NULL },
    { "\"level\"", "\"message\"", "a log of JSON lines", NULL },
    { "\"jsonrpc\"", NULL, "a log of JSON-RPC", NULL },
    { "\"benchmarks\"", "\"machine_info\"", "results of pytest-benchmark", NULL },
    { "\"benchmarks\"", "\"context\"", "results of Google Benchmark", NULL },
    { "\"resourceSpans\"", NULL, "OpenTelemetry spans", NULL },
    { "\"segments\"", "\"device_traces\"", "a snapshot of CUDA memory", NULL },
    { "\"pg_config\"", "\"pg_status\"", flight_what, flight_hint },
    { "\"collective_seq_id\"", "\"profiling_name\"", flight_what, flight_hint },
    { "\"comm_lib_version\"", "\"nccl_comm_state\"", flight_what, flight_hint },
    { "\"schema\"", "\"nodes\"", "an execution trace of PyTorch (ExecutionTraceObserver)",
      "it holds operators without times: record with torch.profiler, too" },
};

static bool holds(const char *bytes, size_t len, const char *word)
{
    return !word || memmem(bytes, len, word, strlen(word)) != NULL;
}

static bool is_binary(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len && i < 512; i++)
        if ((unsigned char)bytes[i] < 0x20 && (bytes[i] == '\0' || !strchr("\t\r\n\f", bytes[i])))
            return true;
    return false;
}

/* Do the first two whole lines, or the first and a cut one, have the same number of commas, or tabs, at least one? The
 * first line of a table names its columns. *BETWEEN is set to the separator. */
static bool is_table(const char *bytes, size_t len, char *between)
{
    static const char separators[] = { ',', '\t', ';' };
    const char *end = bytes + len, *first_end = memchr(bytes, '\n', len);
    const char *second_end = first_end ? memchr(first_end + 1, '\n', (size_t)(end - first_end - 1)) : NULL;
    for (size_t i = 0; second_end && i < sizeof separators; i++) {
        size_t counts[2] = { 0 };
        bool quoted = false;
        for (const char *at = bytes; at < second_end; at++) {
            quoted ^= *at == '"';
            counts[at > first_end] += *at == separators[i] && !quoted;
        }
        *between = separators[i];
        if (counts[0] > 0 && counts[0] == counts[1])
            return true;
    }
    return false;
}

/* Has the first line a moment and an event, as 'perf script' prints them, and the second an address with a function? */
static bool is_perf_script(const char *bytes, size_t len)
{
    const char *end = bytes + len, *first_end = memchr(bytes, '\n', len);
    if (!first_end || first_end + 1 >= end)
        return false;
    size_t line = (size_t)(first_end - bytes);
    bool has_moment = false;
    for (size_t i = 2; i + 1 < line && !has_moment; i++)
        has_moment = bytes[i] == ':' && bytes[i + 1] == ' ' && bytes[i - 1] >= '0' && bytes[i - 1] <= '9' &&
                     memchr(bytes, '.', i) != NULL;
    const char *second = first_end + 1;
    bool is_indented = *second == '\t' || *second == ' ';
    while (second < end && (*second == '\t' || *second == ' '))
        second++;
    size_t digits = 0;
    while (second + digits < end && strchr("0123456789abcdef", second[digits]) && second[digits])
        digits++;
    return has_moment && bytes[line - 1] == ':' && is_indented && digits >= 2;
}

/* Is it several JSON values, one per line? */
static bool is_json_lines(const char *bytes, size_t len)
{
    const char *end = memchr(bytes, '\n', len);
    if (!end || *bytes != '{')
        return false;
    const char *last = end;
    while (last > bytes && strchr(" \r\n", last[0]))
        last--;
    return *last == '}' && end + 1 < bytes + len && end[1] == '{';
}

static bool fail_as(const char *what, const char *hint, enum tpa_unread unread, struct tpa_error *err)
{
    tpa_fail(err, 0, "not a trace: this is %s, and a trace was expected", what);
    tpa_hint(err, "%s", hint ? hint : UNREAD_ANY_HINT);
    return tpa_unread(err, unread);
}

bool unread_fail(const char *name, const char *bytes, size_t len, const char *damage, struct tpa_error *err)
{
    if (len == 0 && damage) {
        tpa_fail(err, 0, "nothing in the file can be read: %s", damage);
        tpa_hint(err, "was it copied whole?");
        return tpa_unread(err, TPA_LEFT_OUT);
    }
    if (len == 0) {
        tpa_fail(err, 0, "the file is empty");
        tpa_hint(err, "was the program stopped before it had written its trace?");
        return tpa_unread(err, TPA_LEFT_OUT);
    }
    size_t at = json_behind_blanks(bytes, len, 0);
    if (at == len)
        return fail_as("blank", NULL, TPA_LEFT_OUT, err);
    FOR_EACH_OF(magic, magics, sizeof magics / sizeof *magics) {
        size_t from = magic->at ? magic->at : at;
        if (len >= from + magic->len && memcmp(bytes + from, magic->bytes, magic->len) == 0 &&
            holds(bytes, len, magic->within))
            return fail_as(magic->what, magic->hint, TPA_PASSED_OVER, err);
    }
    bool binary = is_binary(bytes, len);
    for (size_t i = 0; binary && i < sizeof endings / sizeof *endings; i++)
        if (text_ends_with(name, endings[i].ending))
            return fail_as(endings[i].what, endings[i].hint, TPA_PASSED_OVER, err);
    for (size_t i = 0; !binary && i < sizeof texts / sizeof *texts; i++)
        if (holds(bytes, len, texts[i].word) && holds(bytes, len, texts[i].second))
            return fail_as(texts[i].what, texts[i].hint, TPA_PASSED_OVER, err);
    if (!binary && is_perf_script(bytes + at, len - at))
        return fail_as(
            "the text of 'perf script'",
            "'stackcollapse-perf.pl FILE > stacks.txt' makes collapsed stacks of it, which tpa reads",
            TPA_PASSED_OVER, err);
    char between;
    if (json_is_value(bytes, len)) {
        tpa_fail(err, 0,
                 "JSON without trace events: a trace has the key \"traceEvents\", or is a list of events");
        tpa_hint(err, UNREAD_ANY_HINT);
        return tpa_unread(err, TPA_LEFT_OUT);
    }
    if (!binary && is_table(bytes + at, len - at, &between))
        return fail_as(between == '\t' ? "a table (TSV)" : "a table (CSV)", table_hint, TPA_PASSED_OVER, err);
    return fail_as(binary ? "binary data" : "other text", NULL, TPA_LEFT_OUT, err);
}

/* Describe the value in place of the events: AT is after the key "traceEvents". */
static const char *what_instead(const struct json_pull *at)
{
    const char *value = at->at;
    while (value < at->end && json_is_blank(*value))
        value++;
    return value == at->end ? "the file ends behind \"traceEvents\""
           : *value == '['
               ? "nothing in the list \"traceEvents\" is an event, an object with the keys \"ph\" and \"ts\""
               : "the value of \"traceEvents\" is not a list";
}

bool unread_fail_json(const char *bytes, size_t len, struct tpa_error *err)
{
    const char *what = NULL, *hint = NULL;
    enum tpa_unread unread = TPA_PASSED_OVER;
    for (size_t i = 0; !what && i < sizeof documents / sizeof *documents; i++)
        if (holds(bytes, len, documents[i].key) && holds(bytes, len, documents[i].second)) {
            what = documents[i].what;
            hint = documents[i].hint;
            unread = i == 0 ? TPA_LEFT_OUT : TPA_PASSED_OVER; /* the head of a trace */
        }
    if (!what && is_json_lines(bytes, len)) {
        what = "a log of JSON lines";
        hint = table_hint;
    }
    if (what) {
        tpa_fail(err, 0, "JSON without trace events: this looks like %s", what);
    } else {
        struct json_pull in = { bytes, bytes + len };
        struct json_text key;
        bool named = json_enter(&in, '{') && json_next_key(&in, &key) && key.len > 0;
        if (!named || json_text_is(&key, "traceEvents"))
            unread = TPA_LEFT_OUT;
        if (named && json_text_is(&key, "traceEvents"))
            tpa_fail(err, 0, "JSON without trace events: %s", what_instead(&in));
        else if (named)
            tpa_fail(
                err, 0,
                "JSON without trace events: a trace has the key \"traceEvents\", this begins with the key \"%.*s\"",
                (int)(key.len < 60 ? key.len : 60), key.at);
        else
            tpa_fail(err, 0,
                     "JSON without trace events: a trace has the key \"traceEvents\", or is a list of events "
                     "with the keys \"ph\" and \"ts\"");
    }
    tpa_hint(err, "%s", hint ? hint : UNREAD_ANY_HINT);
    return tpa_unread(err, unread);
}
