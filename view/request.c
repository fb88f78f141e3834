/* request.c - see request.h. */
#include "view/request.h"

enum { MOST_DIGITS = 18 };

/* ---- who ---- */

bool view_host_is_here(const char *host)
{
    static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i]);
        if (strncmp(host, names[i], len) != 0)
            continue;
        const char *port = host + len;
        if (*port == '\0')
            return true;
        size_t digits = *port == ':' ? strspn(port + 1, "0123456789") : 0;
        return digits > 0 && digits <= 5 && port[1 + digits] == '\0';
    }
    return false;
}

/* In a time that does not depend on where they differ. */
static bool same_token(const char *a, const char *b)
{
    size_t len = strlen(b);
    unsigned char differs = 0;
    if (strlen(a) != len)
        return false;
    for (size_t i = 0; i < len; i++)
        differs |= (unsigned char)(a[i] ^ b[i]);
    return !differs;
}

static bool has_token(const struct view_arrived *arrived, const char *token)
{
    for (size_t i = 0; i < arrived->argument_count; i++)
        if (strcmp(arrived->arguments[i].key, "token") == 0)
            return arrived->arguments[i].value && same_token(arrived->arguments[i].value, token);
    return false;
}

/* ---- what ---- */

#define FIELD(member) offsetof(struct view_request, member)

/* The arguments of each question, and where they go. */
static const struct question_argument {
    const char *key;
    size_t offset;
    unsigned questions; /* a bit for each that has it */
    bool is_text;
} arguments[] = {
    { "from", FIELD(from_ns), 1u << VIEW_TILE | 1u << VIEW_SUM | 1u << VIEW_FINDINGS, false },
    { "to", FIELD(to_ns), 1u << VIEW_TILE | 1u << VIEW_SUM | 1u << VIEW_FINDINGS, false },
    { "px", FIELD(pixels), 1u << VIEW_TILE, false },
    { "lanes", FIELD(lanes), 1u << VIEW_TILE, true },
    { "re", FIELD(pattern), 1u << VIEW_FIND, true },
    { "after", FIELD(after_ns), 1u << VIEW_FIND, false },
    { "before", FIELD(before_ns), 1u << VIEW_FIND, false },
    { "n", FIELD(most), 1u << VIEW_FIND | 1u << VIEW_SQL, false },
    { "id", FIELD(event), 1u << VIEW_EVENT | 1u << VIEW_FIND, false },
    { "q", FIELD(query), 1u << VIEW_SQL, true },
};

static const char *const paths[VIEW_QUESTIONS] = {
    [VIEW_PAGE] = "/",         [VIEW_INFO] = "/api/1/info",         [VIEW_TILE] = "/api/1/tile",
    [VIEW_SUM] = "/api/1/sum", [VIEW_FIND] = "/api/1/find",         [VIEW_EVENT] = "/api/1/event",
    [VIEW_SQL] = "/api/1/sql", [VIEW_FINDINGS] = "/api/1/findings", [VIEW_STOP] = "/api/1/stop",
};

static bool read_number(const char *text, int64_t *value)
{
    size_t digits = strspn(text, "0123456789");
    *value = 0;
    if (digits == 0 || digits > MOST_DIGITS || text[digits])
        return false;
    for (size_t i = 0; i < digits; i++)
        *value = *value * 10 + (text[i] - '0');
    return true;
}

static struct view_refusal refuse(unsigned status, const char *message)
{
    return (struct view_refusal){ status, message };
}

static struct view_refusal read_argument(struct view_request *request, const struct view_argument *argument)
{
    FOR_EACH_OF(known, arguments, sizeof arguments / sizeof *arguments) {
        if (strcmp(known->key, argument->key) != 0 || !(known->questions >> request->question & 1))
            continue;
        void *member = (char *)request + known->offset;
        if (!argument->value)
            return refuse(400, "an argument has no value");
        if (known->is_text) {
            if (*(const char **)member)
                return refuse(400, "an argument is given twice");
            *(const char **)member = argument->value;
        } else if (*(int64_t *)member != VIEW_NOT_GIVEN) {
            return refuse(400, "an argument is given twice");
        } else if (!read_number(argument->value, member)) {
            return refuse(400, "a number is to be of 1 to 18 digits");
        }
        return refuse(0, NULL);
    }
    return refuse(400, "the question has no such argument; docs/commands/view.md lists them");
}

static struct view_refusal read_arguments(struct view_request *request, const struct view_arrived *arrived)
{
    size_t tokens = 0;
    FOR_EACH_OF(argument, arrived->arguments, arrived->argument_count) {
        if (strcmp(argument->key, "token") == 0) {
            if (tokens++)
                return refuse(400, "an argument is given twice");
            continue;
        }
        struct view_refusal refusal = read_argument(request, argument);
        if (refusal.status)
            return refusal;
    }
    if (request->question == VIEW_FIND && !request->pattern)
        return refuse(400, "find needs a pattern: re=REGEX");
    if (request->question == VIEW_EVENT && request->event == VIEW_NOT_GIVEN)
        return refuse(400, "event needs a number: id=N");
    if (request->question == VIEW_SQL && !request->query)
        return refuse(400, "sql needs a statement: q=SQL");
    return refuse(0, NULL);
}

struct view_refusal view_request_read(struct view_request *request, const struct view_arrived *arrived,
                                      const char *token)
{
    *request = (struct view_request){ .from_ns = VIEW_NOT_GIVEN,
                                      .to_ns = VIEW_NOT_GIVEN,
                                      .pixels = VIEW_NOT_GIVEN,
                                      .event = VIEW_NOT_GIVEN,
                                      .after_ns = VIEW_NOT_GIVEN,
                                      .before_ns = VIEW_NOT_GIVEN,
                                      .most = VIEW_NOT_GIVEN };
    if (strcmp(arrived->method, "GET") != 0)
        return refuse(405, "only GET is answered");
    if (arrived->hosts != 1 || !arrived->host || !view_host_is_here(arrived->host))
        return refuse(403, "the header Host is to name 127.0.0.1, localhost or [::1]");
    if (arrived->has_body)
        return refuse(413, "a request has no body");
    if (!has_token(arrived, token))
        return refuse(403, "the token is missing or another: use the address that tpa view printed");
    while (request->question < VIEW_QUESTIONS && strcmp(paths[request->question], arrived->path) != 0)
        request->question++;
    if (request->question == VIEW_QUESTIONS)
        return refuse(404, "there is nothing of this name");
    /* The page itself may be opened from a link. */
    if (request->question != VIEW_PAGE && arrived->fetch_site &&
        strcmp(arrived->fetch_site, "same-origin") != 0 && strcmp(arrived->fetch_site, "none") != 0)
        return refuse(403, "another site sent the request");
    return read_arguments(request, arrived);
}

uint64_t *view_read_lanes(const char *list, size_t count)
{
    uint64_t *bits = mem_zalloc(count / 64 + 1, sizeof *bits);
    for (;;) {
        char number[MOST_DIGITS + 1] = { 0 };
        size_t digits = strspn(list, "0123456789");
        int64_t lane = 0;
        memcpy(number, list, digits <= MOST_DIGITS ? digits : 0);
        if (!read_number(number, &lane) || (list[digits] && list[digits] != ',')) {
            free(bits);
            return NULL;
        }
        if ((uint64_t)lane < count)
            bits[lane / 64] |= UINT64_C(1) << lane % 64;
        if (!list[digits])
            return bits;
        list += digits + 1;
    }
}
