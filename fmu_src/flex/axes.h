/* The axes of F, as indices. */
#ifndef FLEX_AXES_H
#define FLEX_AXES_H

enum { X, Y, Z };

#endif
