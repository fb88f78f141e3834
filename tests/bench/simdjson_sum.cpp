// simdjson_sum.cpp - the peer: the fastest JSON reader there is, doing the least an analysis could.
//
//     bench_simdjson_sum TRACE.json
//
// Sums the durations of the GPU kernels, with simdjson's On-Demand front end, and prints how many
// there are and their sum in microseconds. It holds the whole text and its index in memory.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <simdjson.h>

static int sum(const char *path)
{
    simdjson::padded_string json = simdjson::padded_string::load(path);
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document = parser.iterate(json);
    uint64_t count = 0;
    double total_us = 0;
    for (simdjson::ondemand::object event : document["traceEvents"]) {
        std::string_view category;
        if (event["cat"].get(category) == simdjson::SUCCESS && (category == "kernel" || category == "Kernel")) {
            total_us += double(event["dur"]);
            count++;
        }
    }
    std::printf("%llu kernels, %.3f us\n", static_cast<unsigned long long>(count), total_us);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fputs("usage: bench_simdjson_sum TRACE.json\n", stderr);
        return 2;
    }
    try {
        return sum(argv[1]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "bench_simdjson_sum: %s: %s\n", argv[1], error.what());
        return 2;
    }
}
