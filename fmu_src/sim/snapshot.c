/* Saved states: pointer-free, versioned, checksummed, and only for the robot they come from. */
#include <stdint.h>
#include <string.h>

#include "base/hash.h"
#include "sim/instance.h"

enum { VERSION = 1 };
static const char MAGIC[8] = "limber-s";

struct header {
    char magic[8];
    uint32_t version, n_values;
    uint64_t robot;    /* hash of the robot file and its table */
    uint64_t bytes;    /* of all                               */
    uint64_t checksum; /* of all behind the header             */
};

/* The arrays that are the state, one after the other. */
struct part {
    double *numbers;
    int count;
};

enum { PARTS = 9 };

static void list_parts(struct sim *sim, double scalars[8], struct part part[PARTS])
{
    const int n = sim->model->n, inputs = sim->n_inputs;
    const struct part all[PARTS] = {{sim->value, sim->variables.n_values},
                                    {sim->q, n},
                                    {sim->qd, n},
                                    {sim->now.u, inputs},
                                    {sim->now.rate, inputs},
                                    {sim->before.u, inputs},
                                    {sim->before.rate, inputs},
                                    {scalars, 8},
                                    {sim->kept_rows, sim->loops->n_rows}};
    memcpy(part, all, sizeof all);
}

/* Which equations of the loops are kept: 1, the others 0 */
static void note_kept(struct sim *sim)
{
    const struct loops *loops = sim->loops;
    for (int i = 0; i < loops->n_rows; i++) sim->kept_rows[i] = 0;
    for (int k = 0; k < loops->n_kept; k++) sim->kept_rows[loops->kept[k]] = 1;
}

static void keep_noted(struct sim *sim)
{
    struct loops *loops = sim->loops;
    loops->n_kept = 0;
    for (int i = 0; i < loops->n_rows; i++)
        if (sim->kept_rows[i] != 0) loops->kept[loops->n_kept++] = i;
}

size_t sim_state_size(const struct sim *sim)
{
    const size_t numbers =
        (size_t)(sim->variables.n_values + 2 * sim->model->n + 4 * sim->n_inputs + 8 + sim->loops->n_rows);
    return sizeof(struct header) + numbers * sizeof(double);
}

enum status sim_save(struct sim *sim, unsigned char *bytes)
{
    struct part part[PARTS];
    if (!sim->restart && sim->integrator != NULL)
        sim->first_step = integrator_step_size(sim->integrator); /* from here on, this instance restarts too */
    sim->restart = true;
    double scalars[8] = {sim->start_time, sim->local,    sim->carry,       sim->first_step,
                         sim->tolerance,  sim->now.from, sim->before.from, 0};
    note_kept(sim);
    list_parts(sim, scalars, part);
    unsigned char *to = bytes + sizeof(struct header);
    for (int i = 0; i < PARTS; i++) {
        const size_t size = (size_t)part[i].count * sizeof(double);
        if (size > 0) memcpy(to, part[i].numbers, size);
        to += size;
    }
    const size_t size = sim_state_size(sim);
    struct header header = {.version = VERSION,
                            .n_values = (uint32_t)sim->variables.n_values,
                            .robot = sim->robot_hash,
                            .bytes = size,
                            .checksum = hash_bytes(HASH_START, bytes + sizeof header, size - sizeof header)};
    memcpy(header.magic, MAGIC, sizeof MAGIC);
    memcpy(bytes, &header, sizeof header);
    return STATUS_OK;
}

static const char *fault_of(const struct sim *sim, const unsigned char *bytes, size_t size)
{
    struct header header;
    if (size < sizeof header) return "it is too short";
    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.magic, MAGIC, sizeof MAGIC) != 0) return "it is not a saved state of Limber";
    if (header.version != VERSION) return "it comes from another version of Limber";
    if (header.robot != sim->robot_hash) return "it belongs to another robot";
    if (header.bytes != size || size != sim_state_size(sim)) return "its size is wrong";
    if (header.checksum != hash_bytes(HASH_START, bytes + sizeof header, size - sizeof header))
        return "its checksum does not match: it was damaged";
    return NULL;
}

enum status sim_restore(struct sim *sim, const unsigned char *bytes, size_t size)
{
    const char *fault = fault_of(sim, bytes, size);
    if (fault != NULL) {
        report_add(sim->report, REPORT_ERROR, "the saved state is refused: %s", fault);
        return STATUS_BAD_STATE;
    }
    struct part part[PARTS];
    double scalars[8];
    list_parts(sim, scalars, part);
    const unsigned char *from = bytes + sizeof(struct header);
    for (int i = 0; i < PARTS; i++) {
        const size_t length = (size_t)part[i].count * sizeof(double);
        if (length > 0) memcpy(part[i].numbers, from, length);
        from += length;
    }
    keep_noted(sim);
    sim->start_time = scalars[0];
    sim->local = scalars[1];
    sim->carry = scalars[2];
    sim->first_step = scalars[3];
    sim->now.from = scalars[5];
    sim->before.from = scalars[6];
    sim->restart = true;
    sim->fresh = false;
    return sim_adopt_parameters(sim, scalars[4]);
}
