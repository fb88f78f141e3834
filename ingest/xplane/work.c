/*
 * work.c - the operator of a launch, by the fields of the work on the GPU.
 *
 * XLA's annotations reach CUPTI's records of kernels; the calls that launched them have none (ROCm's have, since 2026). So kernels
 * tell their operator, and the call finds it by its correlation_id. Planes of GPUs come first in what XLA writes now; where the
 * host comes before them, as in 2020, they are looked through beforehand.
 *
 * Correlation ids count up, so what they stand for is kept in short pages; a page costs a stranger who scatters them no more than
 * the columns of the event that has the id.
 */
#include "ingest/xplane/parts.h"

enum {
    PAGE = 16,
    NO_OPERATOR = 0, /* else 1 + its place in reader->operators */
};
#define SEVERAL UINT32_MAX /* of a launch whose operations belong to several operators, such as a graph */

struct xplane_work_page {
    uint32_t operator_of[PAGE]; /* by correlation % PAGE */
};

struct wire_text xplane_operator(const struct xplane_stats *stats)
{
    struct wire_text none = { NULL, 0 };
    if (xplane_has(stats, STAT_HLO_OP) && stats->at[STAT_HLO_OP].text.len)
        return stats->at[STAT_HLO_OP].text;
    struct wire_text text = xplane_has(stats, STAT_TF_OP) ? stats->at[STAT_TF_OP].text : none;
    const char *colon = text.len ? memrchr(text.at, ':', text.len) : NULL;
    return colon && colon > text.at && colon + 1 < text.at + text.len ? text : none;
}

/* The number of the program that STATS name; -1: none. */
static int64_t program_of(const struct xplane_stats *stats)
{
    int64_t program;
    return xplane_number(stats, STAT_PROGRAM_ID, &program) && program >= 0 ? program : -1;
}

struct hlo_operator *xplane_hlo(struct xplane_reader *reader, const struct xplane_stats *stats)
{
    struct wire_text module = { "", 0 };
    if (!reader->hlo.keys || !xplane_has(stats, STAT_HLO_OP) || !stats->at[STAT_HLO_OP].text.len)
        return NULL;
    if (xplane_has(stats, STAT_HLO_MODULE) && stats->at[STAT_HLO_MODULE].text.len)
        module = stats->at[STAT_HLO_MODULE].text;
    struct wire_text operation = stats->at[STAT_HLO_OP].text;
    return hlo_programs_find(&reader->hlo, program_of(stats), module.at, module.len, operation.at,
                             operation.len);
}

bool xplane_wants_hlo(const struct xplane_reader *reader)
{
    return reader->options->wants.args &
           (WANT(FLOPS) | WANT(BYTES_ACCESSED) | WANT(INPUT_DIMS) | WANT(INPUT_TYPES) | WANT(CALL_STACK));
}

/* The place among reader->operators of OPERATION, which STATS name. Programs of one name have operators of their own. */
static uint32_t operator_of_stats(struct xplane_reader *reader, const struct xplane_stats *stats,
                                  struct wire_text operation)
{
    struct wire_text module = { NULL, 0 };
    if (xplane_has(stats, STAT_HLO_OP) && xplane_has(stats, STAT_HLO_MODULE))
        module = stats->at[STAT_HLO_MODULE].text;
    int64_t program = program_of(stats);
    uint64_t key =
        (uint64_t)(uintptr_t)operation.at * 31 + (uint64_t)(uintptr_t)module.at + (uint64_t)program;
    struct xplane_known_operator *known =
        &reader->known_operators[key * UINT64_C(0x9e3779b97f4a7c15) >> 55]; /* 512 of them */
    if (known->operation.at == operation.at && known->module.at == module.at &&
        known->operation.len == operation.len && known->module.len == module.len && known->program == program)
        return known->id;
    buffer_clear(&reader->text);
    if (module.len) {
        buffer_add(&reader->text, module.at, module.len);
        buffer_putc(&reader->text, '/');
    }
    buffer_add(&reader->text, operation.at, operation.len);
    buffer_add(&reader->text, "", 1); /* the name ends here */
    buffer_add(&reader->text, (const char *)&program, sizeof program);
    if (!reader->operator_names)
        reader->operator_names = names_open();
    uint32_t id = names_add(reader->operator_names, reader->text.at, reader->text.count);
    if (id == reader->operators.count)
        *VEC_PUSH(&reader->operators) = (struct xplane_operator){ .hlo = xplane_hlo(reader, stats) };
    *known = (struct xplane_known_operator){ operation, module, program, id };
    return id;
}

static struct xplane_work_page *page_of(const struct xplane_reader *reader, int64_t correlation)
{
    uint32_t page = id_table_find(&reader->work_page_of, (uint64_t)correlation / PAGE);
    return page == ID_TABLE_NONE ? NULL : &reader->work_pages.at[page];
}

void xplane_work_record(struct xplane_reader *reader, const struct xplane_stats *stats)
{
    int64_t correlation;
    struct wire_text operation = xplane_operator(stats);
    if (!operation.len || !xplane_number(stats, STAT_CORRELATION, &correlation))
        return;
    uint32_t op = 1 + operator_of_stats(reader, stats, operation);
    struct xplane_work_page *page = page_of(reader, correlation);
    if (!page) {
        id_table_set(&reader->work_page_of, (uint64_t)correlation / PAGE, (uint32_t)reader->work_pages.count);
        page = VEC_PUSH(&reader->work_pages);
        *page = (struct xplane_work_page){ { NO_OPERATOR } };
    }
    uint32_t *of = &page->operator_of[(uint64_t)correlation % PAGE];
    *of = *of == NO_OPERATOR || *of == op ? op : SEVERAL;
}

bool xplane_work_operator(struct xplane_reader *reader, const struct xplane_stats *stats, name_id *name,
                          struct hlo_operator **hlo)
{
    int64_t correlation;
    uint32_t id;
    struct wire_text operation = xplane_operator(stats);
    if (operation.len) {
        id = operator_of_stats(reader, stats, operation);
    } else {
        const struct xplane_work_page *page =
            xplane_number(stats, STAT_CORRELATION, &correlation) ? page_of(reader, correlation) : NULL;
        uint32_t of = page ? page->operator_of[(uint64_t)correlation % PAGE] : NO_OPERATOR;
        if (of == NO_OPERATOR || of == SEVERAL)
            return false;
        id = of - 1;
    }
    struct xplane_operator *op = &reader->operators.at[id];
    if (op->serial != reader->serial) {
        const char *text = names_text(reader->operator_names, id);
        op->serial = reader->serial;
        op->id = trace_chunk_name(reader->chunk, text, strlen(text));
    }
    *name = op->id;
    *hlo = op->hlo;
    return true;
}

static void scan_line(struct xplane_reader *reader, const struct xplane_plane *plane, struct wire in)
{
    struct whole *whole = &reader->whole;
    struct wire_field field;
    struct xplane_event event;
    while (whole_next(whole, &in, &field)) {
        if (wire_is(&field, 4, WIRE_BYTES) && xplane_event_read(whole, plane, &in, &field, &event))
            xplane_work_record(reader, &event.stats);
        else if (field.type == WIRE_GROUP && !whole_skip_group(whole, &in, field.number))
            return;
    }
}

void xplane_work_scan(struct xplane_reader *reader, struct xplane_plane *plane)
{
    struct whole *whole = &reader->whole;
    struct wire in = plane->fields;
    struct wire_field field;
    xplane_names_read(whole, plane);
    while (whole_next(whole, &in, &field)) {
        if (wire_is(&field, 3, WIRE_BYTES))
            scan_line(reader, plane, wire_in(&field));
        else if (field.type == WIRE_GROUP && !whole_skip_group(whole, &in, field.number))
            break;
    }
    xplane_names_release(plane);
}

void xplane_work_release(struct xplane_reader *reader)
{
    names_free(reader->operator_names);
    EACH(VEC_FREE, &reader->operators, &reader->work_pages);
    id_table_release(&reader->work_page_of);
}
