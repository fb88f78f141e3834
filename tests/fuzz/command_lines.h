/*
 * command_lines.h - for fuzz targets that ask a trace something: every command that reads traces, with every --by.
 *
 * Words t and u stand for the traces, x for a name.
 */
#ifndef TPA_TESTS_FUZZ_COMMAND_LINES_H
#define TPA_TESTS_FUZZ_COMMAND_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* New ones go to the end: the inputs that were kept name them by number. */
static const char *const command_lines[] = {
    "info t",
    "summary t",
    "top t",
    "top --by shape --sort none t",
    "top --by stack --stack-depth 5 t",
    "top --by op,rank t u",
    "top --by step t",
    "top --by module,line t",
    "top --by kernel,stream,device t",
    "top --by category,thread --python t",
    "top --top-level --by overload --columns all t",
    "top --time-unit ms --wide --color always t",
    "callers t",
    "callees t",
    "callers --sort cumtime t x",
    "modules t",
    "modules --by module --columns all t",
    "modules --by class --depth 2 t",
    "modules --by line t",
    "gpu t",
    "gpu --by stream --columns all t",
    "kernels t",
    "kernels --by shape --columns all t",
    "kernels --by op t",
    "kernels --by step --limit 20% t",
    "kernels --by stream --sort name --reverse t",
    "gaps t",
    "gaps --by stream --min 0 t",
    "gaps --by op --columns all t",
    "gaps --by step --latency-below 1ms t",
    "gaps --by thread t",
    "steps t",
    "steps --by name --step-name a t",
    "steps --by rank --columns all t u",
    "transfers t",
    "transfers --by stream --columns all t",
    "transfers --by step t",
    "transfers --by op t",
    "comm t",
    "comm --columns all t u",
    "comm --by group t u",
    "memory t",
    "memory --columns all t",
    "launches t",
    "launches --by call --columns all t",
    "launches --by op t",
    "launches --by thread t",
    "launches --by step t",
    "chart --type operators t",
    "chart --type kernels t",
    "chart --type steps t",
    "chart --type utilization t",
    "chart --type overlap t",
    "chart --type gaps t",
    "chart --type transfers t",
    "chart --type memory t",
    "chart --type queue t",
    "chart --type roofline --peak-flops 1000 --peak-bandwidth 1000 t",
    "chart --type diff t u",
    "report t",
    "report t u",
    "report --format md t",
    "report --format json t",
    "convert --to chrome t",
    "convert --to csv t",
    "convert --to tpa t",
    "convert --to speedscope t",
    "convert --to folded t",
    "convert --to folded --time gpu t",
    "convert --to perfetto t",
    "convert --to chrome t u",
    "diff t u",
    "diff --by shape --columns all t t",
    "diff --by kernel t u",
    "diff --by name t u",
    "diff --by category t u",
    "diff --by step t u",
    "diff --by module --inclusive t u",
    "diff --fail-if step_time>5% --unsure fail t u",
    "diff --base t u --new t --first-step",
    "top --steps 1.. t",
    "top --range 1us..1ms t",
    "gpu --range ProfilerStep#1 t",
    "kernels --filter a|b --exclude c t",
    "gaps --device 0 --stream 7 t",
    "summary --rank 0 t u",
    "sql -c select\t*\tfrom\tevents t",
    "sql -c select\tname,sum(dur_ns)\tfrom\tkernels\twhere\tstart_ns>5\tgroup\tby\tname t u",
    "sql -c select\t*\tfrom\tlaunches\torder\tby\tstart_ns;select\t*\tfrom\tmemory;select\t*\tfrom\tsteps t",
    "sql -c select\t*\tfrom\targs;select\t*\tfrom\tflows;select\t*\tfrom\tcounters;select\t*\tfrom\ttracks;select\t*\tfrom\tfiles t",
    "sql -c select\t*\tfrom\tgaps('--by\top') t",
    "roofline --columns all t",
    "roofline --by module,step --peak bf16=1T,hbm=1T t u",
    "roofline t --capture u",
    "sequences --columns all t",
    "sequences --all --by op --short 1ms t u",
    "sequences --op a t",
    "latency --histogram --columns all t u",
    "latency --by thread --exact t",
    "convert --to chrome --steps 1.. --filter a t u",
    "convert --to perfetto --range 1us..1ms t u",
    "convert --to tpa --rank 0 --stream 7 t u",
    "whatif --fuse --whole t",
    "whatif --cuda-graph --no-sync . --overlap-comm --no-alloc --ranks like-median t u",
    "whatif --scale op:a=0.5 --sweep kernel:.=0..2 --to chrome t",
    "path --whole --segments --columns all t",
    "path t u",
    "fleet t u",
    "facts t",
    "chart --type path t",
    "chart --type latency t",
    "chart --type ranks t u",
    "chart --type sequences t",
    "chart --type flame t",
    "modules --by rank,class t u",
    "summary --by device t u",
    "gpu --by step,stream t u",
    "kernels --by op,shape,stream,step t",
    "memory --by step t",
    "memory --by module t",
    "comm --by size,step t u",
    "diff --by stream t u",
    "diff --by thread --inclusive u t",
    "convert --to chrome --critical-path t u",
    "convert --to arrow t",
    "convert --to sqlite t",
    "convert --to tpa t u",
    "sql -c select\tname,parent,depth,self_ns,step\tfrom\toperators;select\t*\tfrom\tcomm();select\t*\tfrom\tkernels t u",
    "convert --to perfetto t",
};

static const char *const formats[] = { "", "csv", "json", "md", "arrow" };

/* What --format says after COMMAND; "" when it says nothing. */
static inline const char *choose_format(const char *command, uint8_t choice)
{
    static const char *const of_top[] = { "torch", "pstats" }, *const of_diff[] = { "junit", "github" };
    bool top = strncmp(command, "top", 3) == 0, diff = strncmp(command, "diff", 4) == 0;
    if (strstr(command, "--format") || strncmp(command, "chart", 5) == 0 ||
        strncmp(command, "convert", 7) == 0)
        return "";
    if ((top || diff) && choice & 0x80)
        return (top ? of_top : of_diff)[choice & 1];
    return formats[choice % 5];
}

#define COMMAND_LINE_COUNT (sizeof command_lines / sizeof *command_lines)

#endif
