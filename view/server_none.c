/* server_none.c - server.h where libmicrohttpd was not found: there is no server. */
#include "view/server.h"

bool view_serve(const struct view_server_options *options, const atomic_int *stopped, struct tpa_error *err)
{
    (void)options;
    (void)stopped;
    tpa_fail(err, TPA_NOWHERE, "this tpa was built without libmicrohttpd, which tpa view needs");
    return tpa_hint(
        err, "install libmicrohttpd-dev, and build again; tpa report writes a page that needs no server");
}
