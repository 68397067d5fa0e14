/* Parts of the page of `limber report`. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "analysis/linear.h"
#include "html.h"
#include "load.h"

enum { MOST_SWEEPS = 8, MOST_PAIRS = 8, REASON_TEXT = 2048 };

struct report_options {
    struct common common;
    struct text_list sweep, bode;
};

struct report_page {
    const struct report_options *options;
    struct xml *xml;
    struct arena *arena;
    struct report report;     /* collects in `reason`        */
    char reason[REASON_TEXT]; /* why something failed; cleared by report_reason() */
};

/* A paragraph with what could not be computed, and why. If memory ran out, there is no page. */
void report_reason(struct report_page *page, enum status status, const char *what);

/* Natural modes at the state, and over positions of joints (report_modes.c). An exit code: wrong names are errors. */
int report_modes(struct report_page *page, struct cli_model *loaded);

/* Poles, and zeros and Bode plots of pairs (report_linear.c). */
int report_linear(struct report_page *page, struct operating_point *point);

#endif
