/*
 * fuzz_view.c - any bytes as a request to tpa view: lines METHOD, path, Host and Sec-Fetch-Site, then one argument a line.
 *
 * Whoever is refused gets a status of 400 and more; who is not has the token, GET and a host of this machine, whatever else there is.
 */
#include "tests/fuzz/fuzz.h"
#include "view/request.h"

enum { HEAD_LINES = 4, MOST_LINES = 20 };

static const char token[] = "0123456789abcdef0123456789abcdef";

/* Does a number that was given keep its range, and a list of lanes its length? */
static void check_request(const struct view_request *request, const struct view_arrived *arrived)
{
    must(strcmp(arrived->method, "GET") == 0 && arrived->hosts == 1 && view_host_is_here(arrived->host));
    must(request->question < VIEW_QUESTIONS && !arrived->has_body);
    must(request->from_ns >= VIEW_NOT_GIVEN && request->to_ns >= VIEW_NOT_GIVEN &&
         request->pixels >= VIEW_NOT_GIVEN);
    must(request->question == VIEW_SQL ? request->query != NULL : !request->query);
    must(request->question == VIEW_FIND ? request->pattern != NULL : !request->pattern);
    bool has_token = false;
    for (size_t i = 0; i < arrived->argument_count; i++)
        has_token =
            has_token || (strcmp(arrived->arguments[i].key, "token") == 0 && arrived->arguments[i].value &&
                          strcmp(arrived->arguments[i].value, token) == 0);
    must(has_token);
    if (request->lanes)
        free(view_read_lanes(request->lanes, 70));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char none[] = "", *text = mem_strndup((const char *)data, size);
    char *lines[MOST_LINES] = { none, none, none, none };
    size_t count = 0;
    for (char *at = text; at && count < MOST_LINES; count++) {
        char *end = strchr(at, '\n');
        lines[count] = at;
        if (end)
            *end++ = '\0';
        at = end;
    }
    struct view_argument arguments[MOST_LINES];
    struct view_arrived arrived = { .method = lines[0],
                                    .path = lines[1],
                                    .host = *lines[2] ? lines[2] : NULL,
                                    .fetch_site = *lines[3] ? lines[3] : NULL,
                                    .hosts = count > 2,
                                    .arguments = arguments };
    for (size_t i = HEAD_LINES; i < count; i++) {
        char *value = strchr(lines[i], '=');
        if (value)
            *value++ = '\0';
        arguments[arrived.argument_count++] = (struct view_argument){ lines[i], value };
    }
    struct view_request request;
    struct view_refusal refusal = view_request_read(&request, &arrived, token);
    must(refusal.status == 0 || (refusal.status >= 400 && refusal.message));
    if (refusal.status == 0)
        check_request(&request, &arrived);
    free(text);
    return 0;
}
