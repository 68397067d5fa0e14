/* Saved states. The importer's handle and the serialized bytes have the same form, without pointers:
       header | position in the call sequence | the simulation's own saved state
   with a checksum over all of it, so that a state that was changed is rejected. */
#include <string.h>

#include "base/hash.h"
#include "fmi/component.h"

enum { VERSION = 4 };
static const char MAGIC[8] = "limberF2";

/* Fixed widths and no padding: every byte is written and checked. */
struct header {
    char magic[8];
    uint32_t version;
    uint32_t type;     /* fmi2Type                                 */
    uint64_t size;     /* of all bytes                             */
    uint64_t checksum; /* of all bytes, with this field zero       */
    char guid[GUID_SIZE];
    uint32_t state, stale, stop_defined, zero;
    uint64_t steps;
    double point, start_time, stop_time, tolerance;
};

/* What an fmi2FMUstate points to */
struct saved {
    size_t size;
    unsigned char bytes[]; /* header, then the simulation's */
};

static uint64_t checksum_of(const unsigned char *bytes, size_t size)
{
    struct header header;
    memcpy(&header, bytes, sizeof header);
    header.checksum = 0;
    return hash_bytes(hash_bytes(HASH_START, &header, sizeof header), bytes + sizeof header, size - sizeof header);
}

static size_t size_of(const struct component *component)
{
    return sizeof(struct header) + instance_saved_size(component->instance);
}

/* ---- the bytes ---------------------------------------------------------------------------------------------------------------- */

static void write_header(const struct component *component, unsigned char *bytes)
{
    const struct progress *progress = &component->progress;
    struct header header;
    memset(&header, 0, sizeof header);
    memcpy(header.magic, MAGIC, sizeof MAGIC);
    memcpy(header.guid, instance_guid(component->instance), sizeof header.guid);
    header.version = VERSION;
    header.type = (uint32_t)component->type;
    header.size = size_of(component);
    header.state = (uint32_t)progress->state;
    header.stale = progress->stale;
    header.stop_defined = progress->experiment.stop_defined;
    header.steps = progress->steps;
    header.point = progress->point;
    header.start_time = progress->experiment.start_time;
    header.stop_time = progress->experiment.stop_time;
    header.tolerance = progress->experiment.tolerance;
    memcpy(bytes, &header, sizeof header);
    header.checksum = checksum_of(bytes, size_of(component));
    memcpy(bytes, &header, sizeof header);
}

/* Why these bytes are not a saved state of this component; NULL if they are */
static const char *state_error(const struct component *component, const unsigned char *bytes, size_t size)
{
    struct header header;
    if (size < sizeof header) return "it is too short";
    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.magic, MAGIC, sizeof MAGIC) != 0) return "it is not a saved state of Limber";
    if (header.version != VERSION) return "it comes from another version of Limber";
    if (header.size != size) return "it has the wrong size";
    if (header.checksum != checksum_of(bytes, size)) return "its checksum does not match: it was damaged";
    if (strncmp(header.guid, instance_guid(component->instance), sizeof header.guid) != 0)
        return "it belongs to another robot or drive";
    if (size != size_of(component)) return "it has the wrong size";
    if (header.type != (uint32_t)component->type) return "it mixes model exchange and co-simulation";
    if (component_state_name((enum state)header.state) == NULL) return "it names no state of the call sequence";
    return NULL;
}

static void read_progress(const unsigned char *bytes, struct progress *progress)
{
    struct header header;
    memcpy(&header, bytes, sizeof header);
    *progress = (struct progress){.state = (enum state)header.state,
                                  .stale = header.stale != 0,
                                  .point = header.point,
                                  .steps = header.steps,
                                  .experiment = {.start_time = header.start_time,
                                                 .stop_defined = header.stop_defined != 0,
                                                 .stop_time = header.stop_time,
                                                 .tolerance = header.tolerance}};
}

/* ---- the importer's handle ------------------------------------------------------------------------------------------------------ */

static struct saved *allocate_saved(const struct component *component, size_t size)
{
    struct saved *saved = component->allocator.allocate(1, sizeof *saved + size);
    if (saved != NULL) saved->size = size;
    return saved;
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    ENTER(c, fmi2GetFMUstate);
    REQUIRE(state != NULL, "the pointer to the state is NULL");
    struct saved *saved = *state;
    if (saved == NULL || saved->size != size_of(component)) saved = allocate_saved(component, size_of(component));
    if (saved == NULL) return component_leave(component, STATUS_NO_MEMORY);
    instance_save(component->instance, saved->bytes + sizeof(struct header));
    write_header(component, saved->bytes);
    if (*state != NULL && *state != saved) component->allocator.release(*state);
    *state = saved;
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    ENTER(c, fmi2SetFMUstate);
    REQUIRE(state != NULL, "the state is NULL");
    const struct saved *saved = state;
    const char *error = state_error(component, saved->bytes, saved->size);
    REQUIRE(error == NULL, "the state is rejected: %s", error);
    struct progress progress;
    read_progress(saved->bytes, &progress);
    const bool initialized =
        progress.state != STATE_INSTANTIATED && !(progress.state == STATE_INITIALIZATION && progress.stale);
    const enum status status = instance_restore(component->instance, saved->bytes + sizeof(struct header), initialized);
    if (status != STATUS_OK) progress.state = STATE_ERROR; /* partly restored */
    component->progress = progress;
    return component_leave(component, status);
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    ENTER(c, fmi2FreeFMUstate);
    if (state == NULL || *state == NULL) return fmi2OK;
    component->allocator.release(*state);
    *state = NULL;
    return fmi2OK;
}

/* ---- serialization ----------------------------------------------------------------------------------------------------------------- */

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    ENTER(c, fmi2SerializedFMUstateSize);
    REQUIRE(state != NULL && size != NULL, "the state or the pointer for the size is NULL");
    *size = ((const struct saved *)state)->size;
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    ENTER(c, fmi2SerializeFMUstate);
    REQUIRE(state != NULL && bytes != NULL, "the state or the array of bytes is NULL");
    const struct saved *saved = state;
    REQUIRE(size >= saved->size, "the array has %zu bytes; the state needs %zu", size, saved->size);
    memcpy(bytes, saved->bytes, saved->size);
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    ENTER(c, fmi2DeSerializeFMUstate);
    REQUIRE(bytes != NULL && state != NULL, "the array of bytes or the pointer to the state is NULL");
    const char *error = state_error(component, (const unsigned char *)bytes, size);
    REQUIRE(error == NULL, "the state is rejected: %s", error);
    struct saved *saved = allocate_saved(component, size);
    if (saved == NULL) return component_leave(component, STATUS_NO_MEMORY);
    memcpy(saved->bytes, bytes, size);
    *state = saved;
    return fmi2OK;
}
