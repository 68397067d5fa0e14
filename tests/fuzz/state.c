/* A STATE document of a fixed robot, and the evaluation of the state. The first byte chooses the robot. */
#include "analysis/state.h"
#include "fuzz.h"
#include "mech/mechanism.h"
#include "robot/read.h"

enum { MOST_VELOCITIES_HERE = 64 };

static struct robot *robot[FUZZ_ROBOTS];
static struct mechanism mechanism[FUZZ_ROBOTS];

static void make(int i)
{
    struct report silent = {0};
    if (robot_read_text("robot", fuzz_robot[i], &robot[i], &silent) != STATUS_OK) abort();
    robot[i]->every_frame_loaded = true;
    if (mechanism_make(robot[i], &mechanism[i], &silent) != STATUS_OK) abort();
    if (mechanism[i].model->nv > MOST_VELOCITIES_HERE) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    const int i = data[0] % FUZZ_ROBOTS;
    if (robot[i] == NULL) make(i);
    struct report silent = {0};
    struct state state;
    char *text = text_of(data + 1, size - 1);
    if (state_start(mechanism[i].model, &silent, &state) != STATUS_OK) abort();
    if (state_parse("state", text, &silent, &state) == STATUS_OK) {
        double qdd[MOST_VELOCITIES_HERE];
        (void)mechanism_forward(&mechanism[i], &state.input, qdd);
    }
    arena_release(&state.arena);
    free(text);
    return 0;
}
