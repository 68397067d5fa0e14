/* Indices of the axes of F. */
#ifndef FLEX_AXES_H
#define FLEX_AXES_H

enum { X, Y, Z };

#endif
