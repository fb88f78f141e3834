/* page_files.h - the style sheet and the script of page.h, byte for byte; cmake/embed.cmake makes page_files.c of page/. */
#ifndef TPA_REPORT_PAGE_FILES_H
#define TPA_REPORT_PAGE_FILES_H

#include <stddef.h>

/* LIVE: a script behind the other, of pages that a server sends. */
extern const unsigned char page_style[], page_script[], page_live[];
extern const size_t page_style_size, page_script_size, page_live_size;

/* SHA-256 in base64, as a content security policy names them. */
extern const char page_style_hash[], page_script_hash[], page_live_hash[];

#endif
