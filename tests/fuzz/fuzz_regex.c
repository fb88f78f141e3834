/*
 * fuzz_regex.c - any bytes as a regular expression (the first line) and names to match it with (the others).
 *
 * Whatever the expression, there must be an answer or an error within the limits of base/regex.h, and the same one twice;
 * and --filter must choose as the expression does.
 */
#include "analyze/selection.h"
#include "base/regex.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    char *end = memchr(text, '\n', size), *names_at = end ? end + 1 : text + size;
    if (end)
        *end = '\0';

    struct tpa_error err = { 0 };
    struct regex *regex = regex_open(text, &err);
    must(regex ? !err.failed : err.failed && err.message[0]);
    struct names *names = names_open();
    bool failed = false;
    for (char *at = names_at, *next; regex && at < text + size && !failed; at = next) {
        next = memchr(at, '\n', (size_t)(text + size - at));
        size_t len = (size_t)((next ? next : text + size) - at);
        next = next ? next + 1 : text + size;
        bool matched = false, again = false;
        failed = !regex_match(regex, at, len, &matched, &err);
        must(failed == err.failed);
        if (!failed) {
            must(regex_match(regex, at, len, &again, &err) && again == matched);
            names_add(names, at, len);
        }
    }
    if (regex && !failed) {
        SCOPED bool *chosen = selection_match_names(names, text, NULL, &err);
        SCOPED bool *left = selection_match_names(names, NULL, text, &err);
        for (name_id name = 0; chosen && left && name < names_count(names); name++)
            must(chosen[name] != left[name]);
    }
    names_free(names);
    regex_free(regex);
    free(text);
    return 0;
}
