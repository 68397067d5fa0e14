/* The constant model: read by every algorithm, changed by none. Built once from a robot; threads may share it. */
#ifndef DYN_MODEL_H
#define DYN_MODEL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/report.h"
#include "base/status.h"
#include "flex/body.h"
#include "flex/strain.h"
#include "math/spatial.h"
#include "robot/robot.h"

/* A section of a flexible link on which something acts or that is observed: the tip, a station of a beam, a node. */
struct section_model {
    struct section shape;
    int node;         /* nodal bodies: its number               */
    bool has_inertia; /* payload or children are attached to it */
    bool has_child;
};

/* A frame fixed to a link, at a pose from one of its sections, or from O. Everything on a rigid link is fixed to O. */
struct anchor {
    int link;    /* -1: the world */
    int section; /* -1: O         */
    bool offset; /* `at` is not the identity */
    struct pose at;
};

struct link_model {
    /* position in the tree; q = (positions of the joint, eta) and qd = (velocities of the joint, eta_dot), link by link */
    int parent;       /* -1: the world                                   */
    int mover;        /* the nearest link inward, or this one, whose joint has coordinates; -1: none */
    int mount;        /* section of the parent that the joint is attached to; -1: its O, or the world */
    int q, v;         /* first position and first velocity of the joint  */
    int eta_q, eta_v; /* first elastic coordinate in q and in qd         */
    int m;            /* elastic coordinates; 0: rigid                   */
    int tau;          /* first of its numbers in tau; -1: fixed joint    */
    int prescribed;   /* first of its numbers among the prescribed velocities, else -1 */
    bool passive;     /* takes no tau                                    */
    bool has_child;   /* a child is attached to O                        */
    bool last_child;  /* of all that are attached to the same O or section, it has the largest index */

    /* joint frame at position zero in the parent frame */
    bool turned, offset; /* R is not the identity; t is not zero        */
    double R[9];
    double t[3]; /*                                        [m] */
    struct joint_model joint;

    /* bodies */
    const struct body *body;       /* flexible body; NULL: rigid                                       */
    struct rigid rigid;            /* about O in O axes: rigid link with hub and payload, or the hub   */
    bool has_hub;                  /* flexible link with a hub                                         */
    bool has_payload;              /* flexible link with a payload                                     */
    struct rigid payload;          /* flexible link: about T in T axes                                 */
    int n_sections;                /* flexible link: sections of the recursions; rigid: 0              */
    int n_all_sections;            /* and after them those that are only observed                      */
    struct section_model *section; /* the first is the tip                                             */
    struct rigid added;            /* rigid link, a beam: its added mass with factor 1, about O        */
    struct pose tip;               /* rigid link: T in O; flexible: the identity                       */
};

struct model {
    const struct robot *robot; /* names and data of the file */
    int nq, nv;                /* positions, velocities  */
    int n_links;
    int n_tau;        /* velocities of all joints                          */
    int n_prescribed; /* those that are prescribed                         */
    bool branched;    /* some link, or the world, has two children         */
    int tip;          /* link with the tip frame for output and tip wrench */
    struct anchor tip_frame;
    enum elastic_terms terms;
    double gravity[3];
    struct link_model *link;
    struct anchor *site;        /* n_sites of the robot                            */
    struct anchor *frame;       /* n_frames of the robot                           */
    double (**strain)[STRAINS]; /* n_frames: strain_make(); NULL: not at a station */
    struct arena arena;
};

/* Number of joint velocities that the dynamics determines: none for a prescribed joint. */
static inline int free_velocities(const struct link_model *lm)
{
    return lm->prescribed >= 0 ? 0 : lm->joint.nv;
}

/* The pose `b`, given in the frame `a`, in the frame in which `a` is given. */
struct pose dyn_pose_compose(const struct pose *a, const struct pose *b);

/* Whether a wrench on a frame of the robot has an effect: not on sections that are only observed. */
bool model_frame_acts(const struct model *model, int frame);

/* (psi', -w'', v''; a') at a frame's station from the elastic coordinates of its link, or their change from a change of these;
   zero if the frame is not at a station of a flexible beam. */
void model_strain(const struct model *model, int frame, const double *eta, double strain[STRAINS]);

/* The tip frame of a link, and its hinge frame. */
struct anchor model_tip(const struct model *model, int link);
struct anchor model_hinge(int link);

/* Runs `statement` with a constant count for joints of one column. */
#define WITH_COLUMNS(N, count, statement) \
    do {                                  \
        if ((count) == 1) {               \
            enum { N = 1 };               \
            statement;                    \
        } else {                          \
            const int N = (count);        \
            statement;                    \
        }                                 \
    } while (0)

/* Moves q by `fraction` times a tangent dx of nv numbers. */
void model_move(const struct model *model, double *q, const double *dx, double fraction);
/* The tangent dx of a change dq of positions, and the change of positions of a tangent: with qd for dx it is dq/dt. */
void model_tangent(const struct model *model, const double *q, const double *dq, double *dx);
void model_position_change(const struct model *model, const double *q, const double *dx, double *dq);
/* The tangent from one q to another. */
void model_difference(const struct model *model, const double *from, const double *to, double *dx);
/* Quaternions in q become unit quaternions. */
void model_normalize(const struct model *model, double *q);
/* Start positions and velocities of the file; elastic coordinates zero. */
void model_start(const struct model *model, double *q, double *qd);

/* The robot must outlive the model. Problems (a modal mass that is not positive definite) are reported with their path in the
   file. */
enum status model_make(const struct robot *robot, struct model **model, struct report *report);

void model_free(struct model *model);

/* Updates the payload of a link and the added mass of a beam from the robot. Only the owner of the model may call it, between
   evaluations; works of the model need work_reset() then. */
void model_set_masses(struct model *model, int link);

#endif
