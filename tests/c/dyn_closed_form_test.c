/* Small robots whose equations are known. */
#include "test.h"

#include <string.h>

#include "oracle/specimen.h"

/* Planar double pendulum in gravity -g y; rods along x, lengths l, centres of mass at c, inertias I about them. */
TEST(double_pendulum)
{
    const double m1 = 2, l1 = 0.8, c1 = 0.3, I1 = 0.05, m2 = 1.5, c2 = 0.45, I2 = 0.07, g = 9.81;
    struct specimen s;
    CHECK(specimen_read(
        &s,
        "{\"format\": \"limber-robot/1\", \"name\": \"double_pendulum\", \"gravity\": [0, -9.81, 0], \"links\": ["
        "{\"name\": \"one\", \"joint\": {\"type\": \"revolute\"}, \"rigid\": {\"mass\": 2, \"com\": [0.3, 0, 0], "
        "\"inertia\": [0, 0.05, 0.05, 0, 0, 0], \"tip\": {\"xyz\": [0.8, 0, 0]}}},"
        "{\"name\": \"two\", \"joint\": {\"type\": \"revolute\"}, \"rigid\": {\"mass\": 1.5, \"com\": [0.45, 0, 0], "
        "\"inertia\": [0, 0.07, 0.07, 0, 0, 0], \"tip\": {\"xyz\": [1, 0, 0]}}}]}"));
    struct random random = {3};
    for (int i = 0; i < 100; i++) {
        specimen_random_state(&s, &random);
        memset(s.tip_wrench, 0, sizeof s.tip_wrench);
        const double q1 = s.q[0], q12 = s.q[0] + s.q[1], w1 = s.qd[0], w2 = s.qd[1];
        const double c = cos(s.q[1]), h = m2 * l1 * c2 * sin(s.q[1]);
        const double M22 = I2 + m2 * c2 * c2, M12 = M22 + m2 * l1 * c2 * c;
        const double M11 = I1 + m1 * c1 * c1 + M22 + m2 * (l1 * l1 + 2 * l1 * c2 * c);
        const double G2 = m2 * g * c2 * cos(q12), G1 = (m1 * c1 + m2 * l1) * g * cos(q1) + G2;
        const double b1 = -h * w2 * (2 * w1 + w2) + G1, b2 = h * w1 * w1 + G2;

        specimen_evaluate(&s, NULL);
        dyn_mass_matrix(s.model, s.work);
        const double *M = s.work->M;
        CHECK_NEAR(M[0], M11, 1e-14 * M11);
        CHECK_NEAR(M[1], M12, 1e-14 * M11);
        CHECK_NEAR(M[2], M12, 1e-14 * M11);
        CHECK_NEAR(M[3], M22, 1e-14 * M11);
        CHECK_NEAR(s.force[0], b1, 1e-13 * (1 + fabs(G1)));
        CHECK_NEAR(s.force[1], b2, 1e-13 * (1 + fabs(G2)));

        const double det = M11 * M22 - M12 * M12, r1 = s.tau[0] - b1, r2 = s.tau[1] - b2;
        CHECK(tree_forward(s.model, s.work, &s.in, s.qdd) == STATUS_OK);
        CHECK_NEAR(s.qdd[0], (M22 * r1 - M12 * r2) / det, 1e-12 * (1 + norm(2, s.qdd)));
        CHECK_NEAR(s.qdd[1], (M11 * r2 - M12 * r1) / det, 1e-12 * (1 + norm(2, s.qdd)));

        struct frame_motion tip;
        dyn_tip(s.model, s.work, 1, &tip);
        CHECK_NEAR(tip.p[0], l1 * cos(q1) + cos(q12), 1e-14);
        CHECK_NEAR(tip.p[1], l1 * sin(q1) + sin(q12), 1e-14);
    }
    specimen_free(&s);
}

/* A beam in one hermite shape, phi = 3 s^2 - 2 s^3 and L (s^3 - s^2), turning about z: mass matrix of one beam element and
   of its turning, in fractions of rhoA L (int phi_i phi_j, int x phi_i, int x^2). */
TEST(hermite_beam_is_one_finite_element)
{
    const double rhoA = 2, L = 1.5, m = rhoA * L, EI = 30;
    struct specimen s;
    CHECK(specimen_read(&s, "{\"format\": \"limber-robot/1\", \"name\": \"element\", \"links\": [{\"name\": \"beam\", "
                            "\"joint\": {\"type\": \"revolute\"}, \"beam\": {\"length\": 1.5, \"mass_per_length\": 2, "
                            "\"EIz\": 30, \"modes\": {\"y\": {\"shape\": \"hermite\"}}}}]}"));
    specimen_evaluate(&s, NULL);
    dyn_mass_matrix(s.model, s.work);
    const double *M = s.work->M, *K = s.model->link[0].body->K;
    const double expected[9] = {m * L * L / 3,     7 * m * L / 20,  -m * L * L / 20,   7 * m * L / 20, 13 * m / 35,
                                -11 * m * L / 210, -m * L * L / 20, -11 * m * L / 210, m * L * L / 105};
    const double stiffness[4] = {12 * EI / (L * L * L), -6 * EI / (L * L), -6 * EI / (L * L), 4 * EI / L};
    for (int i = 0; i < 9; i++) CHECK_NEAR(M[i], expected[i], 1e-14 * M[0]);
    for (int i = 0; i < 4; i++) CHECK_NEAR(K[i], stiffness[i], 1e-14 * K[0]);

    /* spinning at w with eta: M_00 grows by eta' M_ff eta, and the modes feel -w^2 M_ff eta */
    const double w = 2, eta[2] = {0.1, -0.2};
    s.q[1] = eta[0];
    s.q[2] = eta[1];
    s.qd[0] = w;
    specimen_evaluate(&s, NULL);
    dyn_mass_matrix(s.model, s.work);
    double grown = expected[0];
    for (int i = 0; i < 2; i++) {
        double centrifugal = 0, strain = 0;
        for (int j = 0; j < 2; j++) {
            centrifugal += expected[3 * (i + 1) + j + 1] * eta[j];
            strain += stiffness[2 * i + j] * eta[j];
        }
        grown += eta[i] * centrifugal;
        CHECK_NEAR(s.force[1 + i], strain - w * w * centrifugal, 1e-13 * (1 + fabs(strain)));
    }
    CHECK_NEAR(M[0], grown, 1e-14 * grown);
    specimen_free(&s);
}

/* Friction, spring and motor inertia of a joint, alone on a slider. */
TEST(joint_forces_are_what_the_file_says)
{
    struct specimen s;
    CHECK(specimen_read(&s,
                        "{\"format\": \"limber-robot/1\", \"name\": \"slider\", \"links\": [{\"name\": \"cart\", "
                        "\"joint\": {\"type\": \"prismatic\", \"viscous\": 2, \"coulomb\": 3, \"coulomb_velocity\": "
                        "0.5, \"stiffness\": 7, \"rest\": 0.1, \"motor_inertia\": 4}, \"rigid\": {\"mass\": 1}}]}"));
    s.q[0] = 0.4;
    s.qd[0] = -0.6;
    s.qdd[0] = 2;
    specimen_evaluate(&s, s.qdd);
    CHECK_NEAR(s.force[0], (1 + 4) * 2 + 2 * -0.6 + 3 * tanh(-0.6 / 0.5) + 7 * (0.4 - 0.1), 1e-14 * 20);
    struct energy energy;
    dyn_energy(s.model, s.work, &s.in, &energy);
    CHECK_NEAR(energy.kinetic, 0.5 * 5 * 0.36, 1e-15);
    CHECK_NEAR(energy.elastic, 0.5 * 7 * 0.09, 1e-15);
    CHECK_NEAR(energy.loss, 2 * 0.36 + 3 * tanh(1.2) * 0.6, 1e-15 * 4);
    specimen_free(&s);
}

SUITE(dyn_closed_form_test)
