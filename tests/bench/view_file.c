/*
 * view_file.c - a .tpa file of any number of events, for the benchmark of tpa view.
 *
 *     bench_view_file EVENTS FILE.tpa
 *
 * Steps of four threads that call operators within operators, which launch kernels on two devices of three streams each; lengths of
 * gaps and kernels are spread over four orders of magnitude, in bursts. The same for the same number.
 */
#include "trace/builder.h"
#include "trace/tpafile_save.h"

enum { CHUNK = 100000, THREADS = 4, DEPTH = 4, NAMES = 200, OPERATORS = 400 };

static uint64_t state = 88172645463325252u;

static int64_t below(int64_t most)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)most);
}

/* Some ns, mostly few. */
static int64_t some_ns(void)
{
    int64_t most = 400;
    for (int i = 0; i < 4 && below(4) == 0; i++)
        most *= 8;
    return 200 + below(most);
}

struct writing {
    struct trace_builder *builder;
    struct trace_chunk *chunk;
    size_t count, most;
    int64_t correlation;
};

/* Append an event; its arguments follow. */
static void add(struct writing *writing, const char *category, const char *name, int64_t tid,
                int64_t start_ns, int64_t dur_ns)
{
    struct trace_chunk *chunk = writing->chunk;
    struct tpa_error err = { 0 };
    if (trace_chunk_count_events(chunk) >= CHUNK && !trace_builder_append(writing->builder, chunk, &err)) {
        fprintf(stderr, "view_file: %s\n", err.message);
        exit(2);
    }
    bool on_device = tid < 100;
    trace_chunk_event(chunk,
                      &(struct chunk_event){
                          .phase = 'X',
                          .start_ns = start_ns,
                          .dur_ns = dur_ns,
                          .name = trace_chunk_name(chunk, name, strlen(name)),
                          .track = trace_chunk_track(
                              chunk, &(struct track_key){ .pid = on_device ? tid / 10 : 5000, .tid = tid }),
                          .category = trace_chunk_category(chunk, category, strlen(category)),
                      });
    writing->count++;
}

/* An operator with those that it calls, and the kernel that the innermost launches; returns its end. */
static int64_t add_operator(struct writing *writing, int thread, int64_t at_ns, int64_t *device_ns)
{
    char name[64];
    int64_t inner_ns = 900 + some_ns(), dur_ns = inner_ns + 2 * DEPTH * 100, own = below(NAMES);
    for (int depth = 0; depth < DEPTH; depth++) {
        snprintf(name, sizeof name, "aten::op_%d_%d", depth, (int)own);
        add(writing, "cpu_op", name, 100 + thread, at_ns + depth * 100, dur_ns - 2 * depth * 100);
    }
    add(writing, "cuda_runtime", "cudaLaunchKernel", 100 + thread, at_ns + DEPTH * 100, 400);
    trace_chunk_arg(writing->chunk, ARG_CORRELATION, ++writing->correlation);
    int64_t start_ns = at_ns + 2000 > *device_ns ? at_ns + 2000 : *device_ns, work_ns = 300 + some_ns();
    int device = thread % 2, stream = 7 + (int)below(3);
    snprintf(name, sizeof name, "void kernel_%d<float, %d>(int)", (int)(own % 37), (int)(own % 5));
    add(writing, "kernel", name, device * 10 + stream, start_ns, work_ns);
    trace_chunk_arg(writing->chunk, ARG_CORRELATION, writing->correlation);
    trace_chunk_arg(writing->chunk, ARG_DEVICE, device);
    trace_chunk_arg(writing->chunk, ARG_STREAM, stream);
    *device_ns = start_ns + work_ns + (below(3) ? 0 : some_ns());
    return at_ns + dur_ns + some_ns();
}

static bool put(void *context, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, context) == size;
}

int main(int argc, char **argv)
{
    struct trace_wants wants = { .args = WANT(CORRELATION) | WANT(DEVICE) | WANT(STREAM) };
    struct writing writing = { .most = argc == 3 ? strtoull(argv[1], NULL, 10) : 0 };
    struct tpa_error err = { 0 };
    if (!writing.most) {
        fputs("usage: bench_view_file EVENTS FILE.tpa\n", stderr);
        return 2;
    }
    writing.builder = trace_builder_open(&wants);
    trace_builder_file(writing.builder, "view.json", "Chrome JSON");
    writing.chunk = trace_chunk_open(writing.builder);
    int64_t at_ns = 1000, device_ns[2] = { 0, 0 };
    for (int step = 0; writing.count < writing.most; step++) {
        char name[32];
        int64_t end_ns = at_ns;
        for (int thread = 0; thread < THREADS; thread++) {
            int64_t clock_ns = at_ns + 100;
            for (int op = 0; op < OPERATORS; op++)
                clock_ns = add_operator(&writing, thread, clock_ns, &device_ns[thread % 2]);
            end_ns = clock_ns > end_ns ? clock_ns : end_ns;
        }
        snprintf(name, sizeof name, "ProfilerStep#%d", step);
        add(&writing, "user_annotation", name, 100, at_ns, end_ns - at_ns);
        at_ns = end_ns + 1000 + 50 * some_ns();
    }
    if (!trace_builder_append(writing.builder, writing.chunk, &err))
        return 2;
    trace_chunk_free(writing.chunk);
    struct trace *trace = trace_builder_finish(writing.builder);
    FILE *out = fopen(argv[2], "wb");
    bool good =
        out && tpafile_save(trace, &(struct tpafile_save_options){ .sink = put, .context = out }, NULL);
    good = out && fclose(out) == 0 && good;
    trace_free(trace);
    return good ? 0 : 2;
}
