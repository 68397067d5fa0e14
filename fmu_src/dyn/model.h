/* The const model: what every algorithm reads and none changes. Made once from a robot; many threads may share it. */
#ifndef DYN_MODEL_H
#define DYN_MODEL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/report.h"
#include "base/status.h"
#include "flex/body.h"
#include "math/spatial.h"
#include "robot/robot.h"

struct updated;

struct link_model {
    /* place in the tree and in q = (joint coordinate, eta) link by link */
    int parent; /* -1: the world                                   */
    int q;      /* index of the joint coordinate; -1: fixed joint  */
    int eta;    /* index of the first elastic coordinate           */
    int m;      /* elastic coordinates; 0: rigid                   */

    /* joint frame at zero in the parent's carrying frame: O of a rigid parent, T of a flexible one */
    bool turned, offset; /* R is not the identity; t is not zero        */
    double R[9];
    double t[3]; /*                                        [m] */
    enum joint_type joint;
    double axis[3];   /* unit vector in the joint frame              */
    int axis_index;   /* k where axis is +e_k or -e_k, else -1       */
    double axis_sign; /* that sign                                   */
    int prescribed;   /* number among the prescribed joints, else -1 */
    bool passive;     /* takes no tau                                */
    int tau;          /* number among the moving joints, else -1     */

    /* joint forces */
    double motor_inertia, viscous, coulomb, coulomb_velocity, stiffness, rest;
    const struct limits *limits; /* stops; NULL: none */

    /* bodies */
    const struct body *body;       /* flexible body; NULL: rigid                                    */
    struct rigid rigid;            /* about O in O axes: rigid link with hub and payload, or the hub */
    bool has_hub;                  /* flexible link with a hub                                      */
    bool has_payload;              /* flexible link with a payload                                  */
    struct rigid payload;          /* flexible link: about T in T axes                              */
    bool loaded;                   /* flexible link: something moves with T (payload or children)   */
    const struct updated *updated; /* flexible link whose modes are eliminated by updated.c; else NULL */
    struct pose tip;               /* rigid link: T in O                                            */
};

struct model {
    const struct robot *robot; /* names and file numbers */
    int n;                     /* coordinates            */
    int n_links;
    int n_joints; /* that move: length of tau   */
    int n_prescribed;
    bool branched; /* a tree: some link carries two, or the world does */
    int tip;       /* link whose tip is reported and loaded */
    enum elastic_terms terms;
    int update_from; /* dyn/updated.h: UPDATE_FROM */
    double gravity[3];
    struct link_model *link;
    struct arena arena;
};

/* The robot must outlive the model. Problems (a modal mass that is not positive definite) are reported with their place. */
enum status model_make(const struct robot *robot, struct model **model, struct report *report);

/* The same with another number than UPDATE_FROM: 0 always, a large one never. For tests and measurements. */
enum status model_make_with(const struct robot *robot, int update_from, struct model **model, struct report *report);
void model_free(struct model *model);

/* Takes the payload of a link anew from the robot: between evaluations, by the one who owns the model. */
void model_set_payload(struct model *model, int link);

#endif
