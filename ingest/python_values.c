#include "ingest/object_readers.h"

#include "ingest/json_text.h"
#include <errno.h>

enum { MOST_LEVELS = 100 };

static struct python_value text_value(struct python_tree *tree, const char *text, size_t len)
{
    if (len > UINT32_MAX)
        return (struct python_value){ PYTHON_OTHER, PYTHON_NO_WORD, 0, { 0 } };
    struct python_value value = { PYTHON_TEXT, PYTHON_NO_WORD, (uint32_t)len, { 0 } };
    for (size_t w = 0; w < tree->word_count; w++)
        if (len > 0 && tree->words[w][0] == text[0] && strlen(tree->words[w]) == len &&
            memcmp(tree->words[w], text, len) == 0) {
            value.word = (uint8_t)w;
            value.text = tree->words[w];
            return value;
        }
    value.text = arena_strndup(&tree->arena, text, len);
    return value;
}

static struct python_value list_value(struct python_tree *tree, enum python_kind kind)
{
    struct python_list *list = arena_alloc(&tree->arena, sizeof *list);
    *list = (struct python_list){ 0 };
    return (struct python_value){ (uint8_t)kind, PYTHON_NO_WORD, 0, { .list = list } };
}

static void list_add(struct python_tree *tree, struct python_list *list, const struct python_value *items,
                     size_t count)
{
    if (list->count + count > list->capacity) {
        size_t capacity = list->count ? 2 * (list->count + count) : count;
        struct python_value *grown = arena_alloc(&tree->arena, mem_times(capacity, sizeof *grown));
        if (list->count)
            memcpy(grown, list->items, list->count * sizeof *grown);
        list->items = grown;
        list->capacity = capacity;
    }
    if (count)
        memcpy(list->items + list->count, items, count * sizeof *items);
    list->count += count;
}

static void tree_clear(struct python_tree *tree)
{
    arena_clear(&tree->arena);
    tree->stack.count = tree->marks.count = tree->memo.count = 0;
}

void python_tree_release(struct python_tree *tree)
{
    arena_release(&tree->arena);
    EACH(VEC_FREE, &tree->stack, &tree->marks, &tree->memo);
}

/* ---- pickle ---- */

static bool fail_empty(struct tpa_error *err)
{
    return tpa_fail(err, TPA_NOWHERE, "an operation finds too few values on the stack");
}

/* Remove the last mark. *FROM: the stack above it begins here. */
static bool pop_mark(struct python_tree *tree, size_t *from, struct tpa_error *err)
{
    if (tree->marks.count == 0)
        return tpa_fail(err, TPA_NOWHERE, "an operation needs a mark on the stack, and there is none");
    *from = tree->marks.at[--tree->marks.count];
    return true;
}

/* Move the values from FROM on into the list or dict below them. */
static bool add_from(struct python_tree *tree, size_t from, enum python_kind kind, struct tpa_error *err)
{
    size_t count = tree->stack.count - from;
    if (from == 0 || tree->stack.at[from - 1].kind != kind || (kind == PYTHON_DICT && count % 2))
        return tpa_fail(err, TPA_NOWHERE, "items are added to a value that cannot have them");
    list_add(tree, tree->stack.at[from - 1].list, tree->stack.at + from, count);
    tree->stack.count = from;
    return true;
}

/* Replace the values from FROM on by a list or dict of them. */
static bool tree_make_from(struct python_tree *tree, size_t from, enum python_kind kind,
                           struct tpa_error *err)
{
    size_t count = tree->stack.count - from;
    if (kind == PYTHON_DICT && count % 2)
        return tpa_fail(err, TPA_NOWHERE, "a dict has a key without a value");
    struct python_value made = list_value(tree, kind);
    if (count)
        list_add(tree, made.list, &tree->stack.at[from], count);
    tree->stack.count = from;
    *VEC_PUSH(&tree->stack) = made;
    return true;
}

static bool set_memo(struct python_tree *tree, uint64_t number, int64_t offset, struct tpa_error *err)
{
    size_t least = tree->marks.count ? tree->marks.at[tree->marks.count - 1] : 0;
    if (tree->stack.count <= least)
        return fail_empty(err);
    if (number > (uint64_t)offset) /* a writer needs at least one byte for each */
        return tpa_fail(err, TPA_NOWHERE, "the number of an object in the memo is not valid");
    while (tree->memo.count <= number)
        *VEC_PUSH(&tree->memo) = (struct python_value){ PYTHON_OTHER, PYTHON_NO_WORD, 0, { 0 } };
    tree->memo.at[number] = tree->stack.at[tree->stack.count - 1];
    return true;
}

static void tree_push(struct python_tree *tree, enum python_kind kind, int64_t integer)
{
    *VEC_PUSH(&tree->stack) =
        (struct python_value){ (uint8_t)kind, PYTHON_NO_WORD, 0, { .integer = integer } };
}

/* Run STEP, which ends at OFFSET. */
static bool tree_run_step(struct python_tree *tree, const struct pickle_step *step, int64_t offset,
                          struct tpa_error *err)
{
    size_t least = tree->marks.count ? tree->marks.at[tree->marks.count - 1] : 0, from = 0;
    size_t above = tree->stack.count - least; /* values that an operation without a mark may use */
    switch (step->kind) {
    case PICKLE_NOTHING: return true;
    case PICKLE_NONE: tree_push(tree, PYTHON_NONE, 0); return true;
    case PICKLE_BOOL: tree_push(tree, PYTHON_BOOL, step->flag); return true;
    case PICKLE_INT: tree_push(tree, PYTHON_INT, step->integer); return true;
    case PICKLE_NUMBER:
        tree_push(tree, PYTHON_NUMBER, 0);
        tree->stack.at[tree->stack.count - 1].number = step->number;
        return true;
    case PICKLE_WIDE:
    case PICKLE_OTHER: tree_push(tree, PYTHON_OTHER, 0); return true;
    case PICKLE_TEXT: *VEC_PUSH(&tree->stack) = text_value(tree, step->text, step->len); return true;
    case PICKLE_EMPTY_LIST: *VEC_PUSH(&tree->stack) = list_value(tree, PYTHON_LIST); return true;
    case PICKLE_EMPTY_DICT: *VEC_PUSH(&tree->stack) = list_value(tree, PYTHON_DICT); return true;
    case PICKLE_MARK: *VEC_PUSH(&tree->marks) = tree->stack.count; return true;
    case PICKLE_GET:
        if (step->magnitude >= tree->memo.count || tree->memo.at[step->magnitude].kind == PYTHON_OTHER)
            return tpa_fail(err, TPA_NOWHERE, "the memo has no object of this number");
        *VEC_PUSH(&tree->stack) = tree->memo.at[step->magnitude];
        return true;
    case PICKLE_APPEND:
        return above < 2 ? fail_empty(err) : add_from(tree, tree->stack.count - 1, PYTHON_LIST, err);
    case PICKLE_SET_ITEM:
        return above < 3 ? fail_empty(err) : add_from(tree, tree->stack.count - 2, PYTHON_DICT, err);
    case PICKLE_APPEND_MARKED: return pop_mark(tree, &from, err) && add_from(tree, from, PYTHON_LIST, err);
    case PICKLE_SET_ITEMS: return pop_mark(tree, &from, err) && add_from(tree, from, PYTHON_DICT, err);
    case PICKLE_TUPLE:
        return above < step->magnitude
                   ? fail_empty(err)
                   : tree_make_from(tree, tree->stack.count - (size_t)step->magnitude, PYTHON_LIST, err);
    case PICKLE_MARKED_LIST:
        return pop_mark(tree, &from, err) && tree_make_from(tree, from, PYTHON_LIST, err);
    case PICKLE_MARKED_DICT:
        return pop_mark(tree, &from, err) && tree_make_from(tree, from, PYTHON_DICT, err);
    case PICKLE_POP:
        if (above == 0)
            return fail_empty(err);
        tree->stack.count--;
        return true;
    case PICKLE_POP_MARK:
        if (!pop_mark(tree, &from, err))
            return false;
        tree->stack.count = from;
        return true;
    case PICKLE_DUPLICATE:
        if (above == 0)
            return fail_empty(err);
        VEC_RESERVE(&tree->stack, 1);
        tree->stack.at[tree->stack.count] = tree->stack.at[tree->stack.count - 1];
        tree->stack.count++;
        return true;
    case PICKLE_PUT: return set_memo(tree, step->magnitude, offset, err);
    case PICKLE_PUT_NEXT: return set_memo(tree, tree->memo.count, offset, err);
    }
    return true;
}

bool python_read_pickle(struct python_tree *tree, struct pickle *in, struct source *source, const char *what,
                        struct python_value *root, struct tpa_error *err)
{
    tree_clear(tree);
    pickle_begin(in, source, what, err);
    struct tpa_error odd = { 0 };
    struct pickle_step step;
    while (!in->stopped && !in->failed && !in->cut && pickle_fill(in)) {
        int64_t offset = pickle_offset(in);
        bool good = pickle_next(in, &step, &odd);
        if ((!good || !tree_run_step(tree, &step, pickle_offset(in), &odd)) && !in->cut && !in->failed)
            return tpa_fail(err, offset, "the pickle is damaged: %s", odd.message);
    }
    if (in->failed)
        return false;
    const char *damage = source_damage(source);
    if (!in->stopped)
        return tpa_fail(err, pickle_offset(in), "the file ends in the middle of the pickle%s%s",
                        damage ? ": " : "", damage ? damage : "");
    if (tree->stack.count != 1 || tree->marks.count)
        return tpa_fail(err, pickle_offset(in), "the pickle ends with more or less than one object");
    int64_t offset = pickle_offset(in);
    bool zeros;
    uint64_t rest = pickle_pass_rest(in, &zeros);
    if (rest > 3 || !zeros)
        return tpa_fail(err, offset, "other bytes follow the end of the pickle");
    *root = tree->stack.at[0];
    return true;
}

/* ---- JSON ---- */

static struct python_value json_value(struct python_tree *tree, struct json_pull *in, struct buffer *scratch,
                                      int level)
{
    struct python_value value = { PYTHON_OTHER, PYTHON_NO_WORD, 0, { 0 } };
    struct json_text text;
    if (level >= MOST_LEVELS) {
        json_skip(in);
    } else if (json_enter(in, '{')) {
        value = list_value(tree, PYTHON_DICT);
        while (json_next_key(in, &text)) {
            json_text_decode(&text, scratch);
            struct python_value pair[2] = { text_value(tree, scratch->at, scratch->count) };
            pair[1] = json_value(tree, in, scratch, level + 1);
            list_add(tree, value.list, pair, 2);
        }
    } else if (json_enter(in, '[')) {
        value = list_value(tree, PYTHON_LIST);
        while (json_next_element(in)) {
            struct python_value item = json_value(tree, in, scratch, level + 1);
            list_add(tree, value.list, &item, 1);
        }
    } else if (json_read(in, &text)) {
        json_text_decode(&text, scratch);
        if (text.is_string)
            return text_value(tree, scratch->at, scratch->count);
        const char *word = scratch->at;
        char *end;
        errno = 0;
        if (strcmp(word, "null") == 0) {
            value.kind = PYTHON_NONE;
        } else if (*word == 't' || *word == 'f') {
            value.kind = PYTHON_BOOL;
            value.integer = *word == 't';
        } else if (strpbrk(word, ".eE")) {
            value.kind = PYTHON_NUMBER;
            value.number = strtod(word, &end);
        } else {
            value.integer = strtoll(word, &end, 10);
            value.kind = errno ? PYTHON_OTHER : PYTHON_INT;
        }
    }
    return value;
}

bool python_read_json(struct python_tree *tree, const char *text, size_t len, struct python_value *root,
                      struct tpa_error *err)
{
    tree_clear(tree);
    if (!json_is_value(text, len))
        return tpa_fail(err, TPA_NOWHERE, "the file is not valid JSON: it is cut or damaged");
    struct json_pull in = { text, text + len };
    SCOPED struct buffer scratch = { 0 };
    *root = json_value(tree, &in, &scratch, 0);
    return true;
}

const struct python_value *python_get(const struct python_value *dict, uint8_t word)
{
    if (!dict || dict->kind != PYTHON_DICT)
        return NULL;
    const struct python_value *found = NULL;
    for (size_t i = 0; i + 1 < dict->list->count; i += 2)
        if (dict->list->items[i].kind == PYTHON_TEXT && dict->list->items[i].word == word)
            found = &dict->list->items[i + 1];
    return found;
}
