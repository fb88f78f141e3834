#include "base/lacks.h"

static const struct {
    const char *word;
    unsigned sort;
} rows[LACK_COUNT] = {
#define LACKS_ROW(id, sort, word) [LACK_##id] = { word, LACKS_##sort },
    LACKS(LACKS_ROW)
#undef LACKS_ROW
};

const char *lack_word(enum lack lack)
{
    return rows[lack].word;
}

unsigned lack_sort(enum lack lack)
{
    return rows[lack].sort;
}

unsigned lacks_of_word(const char *word)
{
    for (int i = 0; word && i < LACK_COUNT; i++)
        if (strcmp(rows[i].word, word) == 0)
            return rows[i].sort;
    return 0;
}

void lacks_append(struct buffer *out, unsigned lacks)
{
    static const char *const words[] = { "end", "parts", "records", "files" };
    const char *between = "";
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (lacks >> i & 1) {
            buffer_printf(out, "%s%s", between, words[i]);
            between = ", ";
        }
}

void lacks_append_meaning(struct buffer *out, unsigned lacks)
{
    static const struct {
        enum lacks lack;
        const char *text;
    } texts[] = {
        { LACKS_END, "the end is missing" },
        { LACKS_PARTS, "parts are damaged" },
        { LACKS_RECORDS, "records were lost" },
        { LACKS_FILES, "files are missing or cannot be read" },
    };
    const char *separator = "";
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (lacks & texts[i].lack) {
            buffer_printf(out, "%s%s", separator, texts[i].text);
            separator = ", ";
        }
}
