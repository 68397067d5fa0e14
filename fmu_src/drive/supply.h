/* Drives together: the values of one after another in one array. Those of a supply get the same share of the flow that they demand. */
#ifndef DRIVE_SUPPLY_H
#define DRIVE_SUPPLY_H

#include "drive/drive.h"
#include "drive/laws.h"

struct drive_member {
    const struct drive *drive;
    int first, supply; /* its first value; -1: no supply */
};

/* All values of the drives of a supply (-1: of the others) from states, inputs and motion; returns the flow that they demand, which does
   not depend on the share. */
static inline double supply_values(int n, const struct drive_member *member, int supply, double share, double *values)
{
    double demand = 0;
    for (int d = 0; d < n; d++) {
        double *v = values + member[d].first;
        if (member[d].supply != supply) continue;
        if (supply >= 0) v[member[d].drive->share] = share;
        member[d].drive->evaluate(v);
        if (supply >= 0) demand += v[member[d].drive->demand];
    }
    return demand;
}

static inline double supply_changes(int n, const struct drive_member *member, int supply, double dshare,
                                    const double *values, double *changes)
{
    double demand = 0;
    for (int d = 0; d < n; d++) {
        double *dv = changes + member[d].first;
        if (member[d].supply != supply) continue;
        if (supply >= 0) dv[member[d].drive->share] = dshare;
        member[d].drive->tangent(values + member[d].first, dv);
        if (supply >= 0) demand += dv[member[d].drive->demand];
    }
    return demand;
}

/* With the share of a flow limit. One that does not limit, share 1, needs no second evaluation. */
static inline void supply_evaluate(int n, const struct drive_member *member, int supply, double limit, double *values,
                                   double *demand, double *share)
{
    *demand = supply_values(n, member, supply, 1, values);
    *share = supply_share(*demand, limit).value;
    if (*share != 1) supply_values(n, member, supply, *share, values);
}

static inline void supply_tangent(int n, const struct drive_member *member, int supply, double limit,
                                  const double *values, double *changes, double *ddemand, double *dshare)
{
    double demand = 0;
    for (int d = 0; d < n; d++)
        if (member[d].supply == supply) demand += values[member[d].first + member[d].drive->demand];
    const double slope = supply_share(demand, limit).slope;
    *ddemand = supply_changes(n, member, supply, 0, values, changes);
    *dshare = slope * *ddemand;
    if (slope != 0) supply_changes(n, member, supply, *dshare, values, changes);
}

#endif
