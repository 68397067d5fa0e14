/* FMU names of coordinates. */
#ifndef ANALYSIS_NAMES_H
#define ANALYSIS_NAMES_H

#include "dyn/model.h"

enum { NAME_SIZE = 1024 };

enum derivative { POSITION, VELOCITY, ACCELERATION };

/* Name of coordinate i of q, of qd or of qdd: J.q, J.qd, J.qdd, L.eta[k], L.etad[k], L.etadd[k]. */
void coordinate_name(const struct model *model, enum derivative derivative, int i, char name[NAME_SIZE]);

/* The link that coordinate i belongs to. */
int coordinate_link(const struct model *model, int i);

/* Name of the parameter with the start value of a position or velocity: J.q_start, L.eta_start[k]. */
void start_name(const char *name, char start[NAME_SIZE]);

#endif
