/* svg_printer.c - the picture of a result as an SVG file (svg.h). */
#include "report/svg.h"

static bool print_svg(const struct result *result, const struct print_options *options, FILE *out,
                      struct tpa_error *err)
{
    (void)options;
    struct buffer image = { 0 };
    if (!result->picture)
        return tpa_fail(err, TPA_NOWHERE, "there is nothing to draw");
    svg_add_picture(&image, result->picture, 0, 0);
    bool good = fwrite(image.at, 1, image.count, out) == image.count ||
                tpa_fail_errno(err, "cannot write the picture");
    buffer_release(&image);
    return good;
}

const struct printer printer_svg = { "svg", "the picture alone", print_svg };
