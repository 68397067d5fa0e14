/* A robot as bodies to draw: their constant parts (sections along the links, joints, arms) and their poses at a state. The viewer, the
   pictures and the documentation page of an FMU draw this scene. */
#ifndef SCENE_SCENE_H
#define SCENE_SCENE_H

#include "mech/mechanism.h"

enum outline { OUTLINE_ROUND, OUTLINE_RECTANGLE };

/* A cross section of a link as it is drawn. */
struct scene_point {
    struct section shape; /* flexible link: in F; rigid: only x, in O                            */
    double width, height; /* along y and z; of a round one both are its diameter           [m]  */
};

/* The inertia ellipsoid: a homogeneous ellipsoid with the mass and the inertia of a rigid body. */
struct ellipsoid {
    struct pose at;     /* center and principal axes, in O                                        */
    double semiaxes[3]; /*                                                                  [m]  */
};

struct scene_link {
    enum outline outline;
    double wall;  /* fraction of the smaller outer dimension; 0: solid, or not known            */
    bool nominal; /* the file has no section: the width is chosen by the size of the robot       */
    int n_points; /* along the body; 0: nothing between hinge and tip                           */
    struct scene_point *point;
    bool has_ellipsoid;
    struct ellipsoid ellipsoid;
};

/* A straight connection that is fixed to a link and is not along its body: to a pin, a frame, a joint. */
struct scene_arm {
    struct anchor from, to;
};

struct scene {
    struct mechanism *mechanism;
    struct scene_link *link; /* n_links     */
    int n_arms;
    struct scene_arm *arm;
    int n_lines;
    const struct force_element **line; /* elements between two points, which are drawn */
    double size;                       /* largest extent of the robot at its start                    [m] */
    double nominal;                    /* width of parts without dimensions                            [m] */
    double *q, *qd;                    /* nq, nv: workspace                                               */
    struct arena arena;
};

/* The mechanism must outlive the scene. scene_free() in any case. */
enum status scene_make(struct mechanism *mechanism, struct scene *scene);
void scene_free(struct scene *scene);

/* Diameter with which a payload of this mass is drawn. */
double scene_payload_size(const struct scene *scene, double mass);

/* Computes all poses at q, which includes elastic coordinates. Call it before the functions below. */
void scene_pose(struct scene *scene, const double *q);

/* World: joint frame, hinge frame, tip frame of a link; point k of it; the frame of an anchor. */
struct pose scene_joint_frame(const struct scene *scene, int link);
struct pose scene_hinge_frame(const struct scene *scene, int link);
struct pose scene_tip_frame(const struct scene *scene, int link);
struct pose scene_point_pose(const struct scene *scene, const double *q, int link, int k);
struct pose scene_anchor(const struct scene *scene, const struct anchor *anchor);

/* All of them as one array, for a program that only reads numbers. A frame is 12 numbers, p then R by rows. In this order: of every
   link joint frame, hinge frame, tip frame and its points; of every arm two points p; every frame of the robot; of every loop and
   then of every line two points p. */
int scene_number_count(const struct scene *scene);
void scene_numbers(struct scene *scene, const double *q, double *number);

#endif
