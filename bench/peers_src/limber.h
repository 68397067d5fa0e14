/* The robot of a file in Limber, for the comparison with other libraries: its links as plain numbers, and the measured functions. */
#ifndef BENCH_PEERS_LIMBER_H
#define BENCH_PEERS_LIMBER_H

#ifdef __cplusplus
extern "C" {
#endif

struct limber_link {
    int parent;        /* -1: the world                                                      */
    double R[9], t[3]; /* frame of the joint in the parent at q = 0, R by rows                */
    double axis[3];    /* of a revolute joint                                                */
    double mass, com[3];
    double inertia[6]; /* about the center of mass: xx yy zz xy xz yz                         */
};

struct limber;

/* NULL unless the robot is a tree of rigid links with revolute joints. */
struct limber *limber_make(const char *robot_file);
void limber_free(struct limber *limber);
int limber_links(const struct limber *limber);
void limber_link(const struct limber *limber, int i, struct limber_link *link);
void limber_gravity(const struct limber *limber, double gravity[3]);

void limber_forward(struct limber *limber, const double *q, const double *qd, const double *tau, double *qdd);
void limber_inverse(struct limber *limber, const double *q, const double *qd, const double *qdd, double *tau);
/* n columns of n each */
void limber_derivatives(struct limber *limber, const double *q, const double *qd, const double *tau, double *qdd,
                        double *by_q, double *by_qd);

#ifdef __cplusplus
}
#endif

#endif
