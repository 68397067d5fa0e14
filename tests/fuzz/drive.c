/* Parameters of a companion: the first byte chooses the drive, the rest is its file; then a step and all values. */
#include "companion/companion.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    int count = 0;
    while (companion_drives[count] != NULL) count++;
    struct report silent = {0};
    struct instance *instance = NULL;
    char *text = text_of(data + 1, size - 1);
    if (companion_make(companion_drives[data[0] % count], "drive", text, &silent, &instance) == STATUS_OK) {
        const struct variables *v = instance_variables(instance);
        const struct experiment experiment = {.tolerance = 1e-4};
        instance_set(instance, v->solver.max_steps, FUZZ_MAX_STEPS);
        if (instance_initialize(instance, &experiment) == STATUS_OK && instance_step(instance, 1e-3) == STATUS_OK &&
            instance_update(instance) == STATUS_OK)
            for (int r = 0; r < v->n_values; r++) (void)instance_get(instance, r);
    }
    instance_free(instance);
    free(text);
    return 0;
}
