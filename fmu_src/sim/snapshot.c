/* Saved states: pointer-free, versioned, checksummed, and only for what they come from. */
#include <stdint.h>
#include <string.h>

#include "base/hash.h"
#include "sim/course.h"

enum { VERSION = 2 };
static const char MAGIC[8] = "limber-s";

struct header {
    char magic[8];
    uint32_t version, n_values;
    uint64_t owner;    /* hash of the robot file and its table */
    uint64_t bytes;    /* of all                               */
    uint64_t checksum; /* of all behind the header             */
};

/* The arrays that are the state, one after the other. */
struct part {
    double *numbers;
    int count;
};

enum { PARTS = 8 };

static void list_parts(struct course *course, double scalars[8], struct part part[PARTS])
{
    const int inputs = course->n_inputs;
    const struct part all[PARTS] = {{course->value, course->variables->n_values},
                                    {course->state, course->n_numbers},
                                    {course->now.u, inputs},
                                    {course->now.rate, inputs},
                                    {course->given, inputs},
                                    {course->before.u, inputs},
                                    {course->before.rate, inputs},
                                    {scalars, 8}};
    memcpy(part, all, sizeof all);
}

size_t course_state_size(const struct course *course)
{
    const size_t numbers = (size_t)(course->variables->n_values + course->n_numbers + 5 * course->n_inputs + 8);
    return sizeof(struct header) + numbers * sizeof(double);
}

void course_save(struct course *course, unsigned char *bytes)
{
    struct part part[PARTS];
    if (!course->restart && course->integrator != NULL)
        course->first_step = integrator_step_size(course->integrator); /* from here on, this instance restarts too */
    course->restart = true;
    double scalars[8] = {course->start_time, course->local,    course->carry,       course->first_step,
                         course->tolerance,  course->now.from, course->before.from, 0};
    list_parts(course, scalars, part);
    unsigned char *to = bytes + sizeof(struct header);
    for (int i = 0; i < PARTS; i++) {
        const size_t size = (size_t)part[i].count * sizeof(double);
        if (size > 0) memcpy(to, part[i].numbers, size);
        to += size;
    }
    const size_t size = course_state_size(course);
    struct header header = {.version = VERSION,
                            .n_values = (uint32_t)course->variables->n_values,
                            .owner = course->hash,
                            .bytes = size,
                            .checksum = hash_bytes(HASH_START, bytes + sizeof header, size - sizeof header)};
    memcpy(header.magic, MAGIC, sizeof MAGIC);
    memcpy(bytes, &header, sizeof header);
}

static const char *fault_of(const struct course *course, const unsigned char *bytes, size_t size)
{
    struct header header;
    if (size < sizeof header) return "it is too short";
    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.magic, MAGIC, sizeof MAGIC) != 0) return "it is not a saved state of Limber";
    if (header.version != VERSION) return "it comes from another version of Limber";
    if (header.owner != course->hash) return "it belongs to another robot or drive";
    if (header.bytes != size || size != course_state_size(course)) return "its size is wrong";
    if (header.checksum != hash_bytes(HASH_START, bytes + sizeof header, size - sizeof header))
        return "its checksum does not match: it was damaged";
    return NULL;
}

enum status course_restore(struct course *course, const unsigned char *bytes, size_t size, double *tolerance)
{
    const char *fault = fault_of(course, bytes, size);
    if (fault != NULL) {
        report_add(course->report, REPORT_ERROR, "the saved state is refused: %s", fault);
        return STATUS_BAD_STATE;
    }
    struct part part[PARTS];
    double scalars[8];
    list_parts(course, scalars, part);
    const unsigned char *from = bytes + sizeof(struct header);
    for (int i = 0; i < PARTS; i++) {
        const size_t length = (size_t)part[i].count * sizeof(double);
        if (length > 0) memcpy(part[i].numbers, from, length);
        from += length;
    }
    course->start_time = scalars[0];
    course->local = scalars[1];
    course->carry = scalars[2];
    course->first_step = scalars[3];
    course->now.from = scalars[5];
    course->before.from = scalars[6];
    *tolerance = scalars[4];
    course_interrupt(course);
    return STATUS_OK;
}
