/* Curves over one variable as an SVG file that needs nothing else. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdbool.h>

struct plot {
    const char *title, *x_label, *y_label;
    const char *curve; /* curves are called by this and a number, from 1 */
    int n_points, n_curves;
    int stride;      /* distance of the rows of y                         */
    const double *x; /* n_points                                          */
    const double *y; /* n_points rows, n_curves of each drawn; >= 0       */
};

/* The y axis is logarithmic where a linear one would hide the lowest curves; zeros are then omitted. An
   exit code; problems go to standard error. */
int plot_write(const struct plot *plot, const char *file);

#endif
