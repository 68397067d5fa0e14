/* A robot as its file describes it (limber-robot/1 to /3): every number that the file gives or implies, nothing derived from modes.
   SI units and radians. Filled by the reader (read.c); the model (dyn/model.h) is computed from it. */
#ifndef ROBOT_ROBOT_H
#define ROBOT_ROBOT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/report.h"
#include "base/status.h"
#include "robot/beam.h"
#include "robot/joint.h"

struct drive;

enum body_type { BODY_RIGID, BODY_BEAM, BODY_NODAL };
enum elastic_terms { TERMS_FULL = 1, TERMS_LINEAR = 2, TERMS_RUTHLESS = 3 }; /* numbered as the FMU enumerates them */

/* A rigid body given in some frame. */
struct mass_properties {
    double mass;       /* [kg]                                              */
    double com[3];     /* center of mass                               [m]  */
    double inertia[6]; /* about it: xx yy zz xy xz yz              [kg m^2] */
};

struct node {
    double position[3];
    struct mass_properties body; /* com is the offset from the node */
    const double *translation;   /* Phi: 3 x modes, row major       */
    const double *rotation;      /* Lambda: 3 x modes, row major    */
};

/* Matrices of geometric_stiffness: 3 of `acceleration`, 6 of `rates`, 3 of `angular_acceleration` (zeros where absent) */
enum { GEOMETRIC_MOMENTS = 12 };

struct nodal {
    int modes;
    int n_nodes;
    const struct node *node;
    int hinge_node, tip_node;
    const double *stiffness; /* modes x modes */
    const double *damping;   /* modes x modes; zeros where absent */
    const double *geometric; /* geometric_stiffness: GEOMETRIC_MOMENTS matrices modes x modes; NULL where absent */
};

/* Where something is attached to a link: a frame at a fixed offset from the hinge frame O, the tip frame T, the section of a beam at x,
   or a node. */
enum site_type { AT_WORLD, AT_HINGE, AT_TIP, AT_STATION, AT_NODE };

struct site {
    int link; /* -1: the world */
    enum site_type type;
    double x;       /* AT_STATION                                [m] */
    int node;       /* AT_NODE                                       */
    struct pose at; /* the frame in the axes of O, T, section or node */
};

/* A named site: a sensor, a load, or a point to attach something to. */
struct robot_frame {
    const char *name;
    struct site site;
    bool sensor, load;
    bool gauge; /* `at` is a station of a beam: the frame has a curvature and an elongation */
};

struct link {
    const char *name;
    struct site mount; /* what joint.origin is relative to: T of the parent, or the frame that the joint names */
    struct joint joint;
    enum body_type type;
    struct mass_properties rigid; /* BODY_RIGID: in F */
    struct pose rigid_tip;        /* BODY_RIGID: T in F */
    struct beam beam;             /* BODY_BEAM */
    struct nodal nodal;           /* BODY_NODAL */
    bool has_hub, has_payload;
    struct mass_properties hub;     /* in O */
    struct mass_properties payload; /* in T */
};

enum { SIDE_A, SIDE_B, SIDE_PLANE, LOOP_SITES };

enum loop_type { LOOP_BALL, LOOP_PLANAR_PIN, LOOP_PIN, LOOP_WELD };

struct loop {
    const char *name;
    enum loop_type type;
    int site; /* first of LOOP_SITES: the loop frames; of a planar pin, O of the link that carries the plane, or the world */
    double plane[2][3]; /* planar-pin: unit vectors, in axes of O or of the world  */
    double axis[3];     /* pin: unit vector, in either loop frame                  */
    bool approximate;   /* the start positions of its joints need not close it     */
};

struct line {
    const char *name;
    enum hold hold;
    int site; /* first of two: from, to */
};

/* factor times position k of the joint of a link, whose rate is velocity k. */
struct coupling_term {
    int link, k;
    double factor;
};

/* gap = sum of the terms - offset: a constraint; or, if it is elastic, a spring and damper between the joints. (theory.md 111 to 113) */
struct coupling {
    const char *name;
    int n_terms;
    struct coupling_term *term;
    double offset;
    bool elastic;
    double stiffness, damping; /* of the gap                                            */
    double backlash;           /* full width of the dead zone, smoothed as that of a gear */
};

/* A common supply of cylinders. */
struct supply {
    const char *name;
    double pressure;   /* [Pa]                              */
    double flow_limit; /* largest flow of its pump  [m^3/s] */
};

/* A drive inside the arm: of the joint of a link, or of a line. */
struct robot_drive {
    const struct drive *drive;
    int link, line;     /* what it drives; -1: not this one                       */
    int supply;         /* -1: none                                               */
    double *value;      /* as in struct drive: parameters, and inputs at the start */
    int first, first_w; /* index of its first value and state among those of all drives */
};

struct robot {
    int format; /* 1 to 3 */
    const char *name;
    const char *description; /* "" where absent */
    double gravity[3];       /* [m/s^2], world */
    enum elastic_terms elastic_terms;
    int tip; /* link whose tip frame is reported and loaded */
    int n_links;
    struct link *link;
    int n_loops;
    struct loop *loop;
    int n_lines;
    struct line *line;
    int n_couplings;
    struct coupling *coupling;
    int n_sites;
    struct site *site; /* where loops and lines are attached, part by part */
    int *part;         /* n_sites: the first site of the same part         */
    int n_frames;
    struct robot_frame *frame;
    int n_drives;
    struct robot_drive *drive;
    int n_supplies;
    struct supply *supply;
    bool every_frame_loaded; /* for analyses: wrenches may act on every frame, not only on loads */
    struct arena arena;      /* owns all of the above */
};

/* Number of elastic coordinates of a link. */
int robot_link_modes(const struct link *link);

/* More sites, of the world, so many for each of `count` parts. false: the arena failed. */
bool robot_add_sites(struct robot *robot, int count, int each);
/* T of a link, or the world for -1. */
struct site robot_site_of_link(int link);
/* Moves a site by a pose in its axes. */
void robot_site_offset(struct site *site, const struct pose *by);
/* What a site is attached to, in words: "hinge", "tip", "x = 1.2 m", "node 3". */
enum { SITE_SIZE = 40 };
const char *robot_site_text(const struct site *site, char text[SITE_SIZE]);
/* Its type, AT_HINGE or AT_TIP also where a station or node is at the hinge or at the tip of its link. */
enum site_type robot_site_section(const struct link *link, const struct site *site);
/* Whether two sites are fixed to each other. */
bool robot_site_same_section(const struct robot *robot, const struct site *a, const struct site *b);

/* Whether it has constraints: loops or rigid couplings. */
bool robot_is_closed(const struct robot *robot);

/* Whether lines move the joint of a link in place of a drive: the robot is not closed, as many lines (without springs) as its
   passive joints between the points of a line have velocities, and this is one of these joints. */
bool joint_actuated(const struct robot *robot, int link);

/* Whether the drive of a line has no states and commands, so that its force follows from length and rate: a spring. */
bool robot_line_is_spring(const struct robot *robot, int line);
/* Numbers of values and states of all drives together. */
int robot_drive_value_count(const struct robot *robot);
int robot_drive_states(const struct robot *robot);
/* The drive of a line, or of the joint of a link; NULL: none. */
const struct robot_drive *robot_drive_of_line(const struct robot *robot, int line);
const struct robot_drive *robot_drive_of_link(const struct robot *robot, int link);
/* Whether input k of the drive's table is an input of the robot: motion and supply share come from the arm. */
bool robot_drive_input(const struct robot_drive *robot_drive, int k);
/* Its name in messages and variables: J.drive or A.drive. */
enum { MOST_NAME = 256 };
const char *robot_drive_name(const struct robot *robot, int drive, char name[MOST_NAME]);
/* Start values of a drive: parameters, with the pressure of its supply, and inputs. */
void robot_drive_values(const struct robot *robot, const struct robot_drive *robot_drive, double *v);

/* Reads and checks a robot file. All problems are reported, each with file, path, value and what was expected; on any error
   the result is NULL and the status negative. `name` is what messages call the file. */
enum status robot_read_file(const char *file, struct robot **robot, struct report *report);
enum status robot_read_text(const char *name, const char *text, struct robot **robot, struct report *report);

/* Conditions on several numbers, to be checked after one of them has changed: sections with a wall are hollow, inertias of payloads are
   positive semidefinite. Returns the number of errors, all of which are reported. */
int robot_check(const struct robot *robot, struct report *report);

/* An empty robot in its own arena; NULL: out of memory. */
struct robot *robot_new(void);
/* A deep copy with its own arena: the caller may edit it and frees it. NULL with STATUS_NO_MEMORY. */
enum status robot_clone(const struct robot *robot, struct robot **clone);
void robot_free(struct robot *robot);

#endif
