/*
 * dot.c - the call graph for Graphviz: a box per function, an arrow per pair of caller and callee.
 *
 * Boxes go from blue (little) over green and yellow to red (all of the time); the hot path (profile/graph.h)
 * has thick red arrows.
 */
#include "profile/graph.h"
#include "base/escape.h"
#include "cli/convert/convert.h"

#include <inttypes.h>
#include <math.h>

/* Hue, saturation and value for SHARE of the time: blue 0.66 to red 0. */
static void add_color(struct buffer *out, double share)
{
    double part = share < 0 ? 0 : share > 1 ? 1 : share;
    buffer_printf(out, "%.3f 0.550 0.950", 0.66 * (1 - part) * (1 - part));
}

static void add_calls(struct buffer *out, const struct profile_cost *cost)
{
    if (cost->calls == cost->primitive_calls)
        buffer_printf(out, "%" PRId64 " x", cost->calls);
    else
        buffer_printf(out, "%" PRId64 "/%" PRId64 " x", cost->calls, cost->primitive_calls);
}

/* To two decimals, halves away from zero. */
static double percent(double share)
{
    return round(share * 1e4) / 100;
}

static void add_node(struct buffer *out, const struct profile *profile, const struct profile_graph_node *node,
                     size_t number, struct buffer *name)
{
    const struct profile_function *f = &profile->functions[node->function];
    buffer_clear(name);
    profile_function_text(f, name);
    buffer_printf(out, "  n%zu [label=\"", number);
    escape_dot(out, name->at, name->count);
    buffer_printf(out, "\\n%.2f%%", percent(node->cumulative_share));
    if (f->listed) {
        buffer_printf(out, " (%.2f%% in itself)\\n", percent(node->total_share));
        add_calls(out, &f->cost);
    }
    buffer_puts(out, "\", fillcolor=\"");
    add_color(out, node->cumulative_share);
    buffer_puts(out, node->hot ? "\", penwidth=3, color=\"#c00000\"];\n" : "\"];\n");
}

static void add_edge(struct buffer *out, const struct profile *profile, const struct profile_graph_edge *edge)
{
    buffer_printf(out, "  n%zu -> n%zu [label=\"%.2f%%\\n", edge->caller, edge->callee, percent(edge->share));
    add_calls(out, &profile->edges[edge->edge].cost);
    double width = 0.5 + 4 * (edge->share > 1 ? 1 : edge->share < 0 ? 0 : edge->share);
    if (edge->hot) {
        buffer_printf(out, "\", penwidth=%.2f, color=\"#c00000\", fontcolor=\"#c00000\"];\n", width + 1);
        return;
    }
    buffer_printf(out, "\", penwidth=%.2f, color=\"", width);
    add_color(out, edge->share);
    buffer_puts(out, "\"];\n");
}

static bool write_dot(const struct profile *profile, const struct convert_args *args, FILE *out,
                      struct buffer *summary, struct tpa_error *err)
{
    (void)err;
    struct profile_graph graph = { 0 };
    struct buffer text = { 0 }, name = { 0 };
    profile_graph_make(&graph, profile, args->node_share, args->edge_share);
    buffer_puts(
        &text,
        "// Share of the time of all functions: with what is called (in the function itself). Colours go\n"
        "// from blue, little, to red, all; the hot path has thick red arrows.\n"
        "digraph profile {\n"
        "  graph [rankdir=TB, nodesep=0.25, ranksep=0.4];\n"
        "  node [shape=box, style=filled, fontname=\"sans-serif\", fontsize=10, color=\"#404040\"];\n"
        "  edge [fontname=\"sans-serif\", fontsize=9];\n");
    for (size_t n = 0; n < graph.nodes.count; n++)
        add_node(&text, profile, &graph.nodes.at[n], n, &name);
    for (size_t e = 0; e < graph.edges.count; e++)
        add_edge(&text, profile, &graph.edges.at[e]);
    buffer_puts(&text, "}\n");
    fwrite(text.at, 1, text.count, out);

    buffer_printf(
        summary, "%zu functions and %zu calls between them; below the thresholds and left out: %zu and %zu\n",
        graph.nodes.count, graph.edges.count, graph.nodes_left_out, graph.edges_left_out);
    buffer_release(&text);
    buffer_release(&name);
    profile_graph_release(&graph);
    return true;
}

const struct convert_form convert_dot = {
    .name = "dot",
    .help = "the call graph for Graphviz, the hot path in red",
    .ending = ".dot",
    .write_profile = write_dot,
    .next = "dot -Tsvg %s > graph.svg",
};
