/* A function that is called before what it needs stops a debug build, and names the stage that is missing. */
#include "test.h"

#include "oracle/specimen.h"

TEST(a_work_knows_what_has_been_computed)
{
    struct specimen s;
    CHECK(specimen_random(&s, 3));
    dyn_configuration(s.model, s.work, s.q);
    CHECK(s.work->done == DYN_CONFIGURATION);
    dyn_motion(s.model, s.work, &s.in, NULL);
    dyn_velocity(s.model, s.work, &s.in);
    CHECK(s.work->done == (DYN_CONFIGURATION | DYN_MOTION | DYN_POSITION | DYN_VELOCITY));
    dyn_motion(s.model, s.work, &s.in, NULL); /* the velocities of other rates may be old */
    CHECK(s.work->done == (DYN_CONFIGURATION | DYN_MOTION | DYN_POSITION));
    specimen_free(&s);
}

#ifndef NDEBUG
#include <sys/wait.h>
#include <unistd.h>

static struct specimen robot;

static void before_motion(void)
{
    dyn_velocity(robot.model, robot.work, &robot.in);
}

static void before_factors(void)
{
    double x[200];
    dyn_solve_forces(robot.model, robot.work, robot.force, x);
}

static void before_reactions(void)
{
    double wrench[6];
    dyn_reaction(robot.work, 0, wrench);
}

static void before_tangent(void)
{
    const struct direction direction = {.q = robot.qd};
    dyn_tangent_outward(robot.model, robot.work, robot.mechanism.tangent, &direction);
}

/* Runs f in a process of its own; returns what that writes before it is stopped by SIGABRT */
static const char *stopped(void (*f)(void))
{
    static char text[2000];
    int ends[2], status;
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        f();
        _exit(0);
    }
    close(ends[1]);
    const ssize_t length = read(ends[0], text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    return text;
}

TEST(a_wrong_order_stops_a_debug_build)
{
    static void (*const wrong[])(void) = {before_motion, before_factors, before_reactions, before_tangent};
    static const char *const missing[] = {"DYN_MOTION", "DYN_FACTORS", "DYN_REACTIONS", "TANGENT_STATE"};
    CHECK(specimen_random(&robot, 3));
    dyn_configuration(robot.model, robot.work, robot.q);
    for (int i = 0; i < 4; i++) CHECK(strstr(stopped(wrong[i]), missing[i]) != NULL);
    specimen_free(&robot);
}
#endif

SUITE(dyn_order_test)
