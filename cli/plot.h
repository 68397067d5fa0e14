/* Curves over one variable as an SVG file that needs nothing else. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdbool.h>

#include "xml.h"

struct plot {
    const char *title, *x_label, *y_label;
    const char *curve; /* curves are called by this and a number, from 1; "": they have no names */
    bool log_x;        /* x is logarithmic, and positive                          */
    bool any_sign;     /* y may be negative: its axis is linear, over its range   */
    int n_points, n_curves;
    int stride;      /* distance of the rows of y                         */
    const double *x; /* n_points                                          */
    const double *y; /* n_points rows, n_curves of each drawn; >= 0 unless any_sign */
};

/* The y axis is logarithmic where a linear one would hide the lowest curves; zeros are then omitted. An
   exit code; problems go to standard error. */
int plot_write(const struct plot *plot, const char *file);

/* Writes the plot as a figure of a page. */
void plot_figure(const struct plot *plot, struct xml *page, struct arena *arena);

#endif
