/* Simulates the Canadarm for 2 s under a torque that rises by 2 N m/s, and prints all outputs as CSV:
   canadarm PREFIX/share/limber/canadarm.json > canadarm.csv */
#include <limber.h>
#include <stdio.h>

static void print_message(void *context, int level, const char *text)
{
    (void)context;
    fprintf(stderr, "%s: %s\n", level == LIMBER_ERROR ? "error" : "warning", text);
}

/* Over the next step the torque follows its slope. */
static int drive(void *context, double time, limber_simulation *simulation)
{
    const int torque = *(const int *)context;
    const int status = limber_simulation_set(simulation, torque, 2 * time);
    return status == LIMBER_OK ? limber_simulation_set_rate(simulation, torque, 2) : status;
}

static int print_outputs(void *context, double time, limber_simulation *simulation)
{
    double value;
    (void)context;
    printf("%.17g", time);
    for (int i = 0; i < limber_simulation_variables(simulation); i++)
        if (limber_simulation_variable_causality(simulation, i) == LIMBER_OUTPUT &&
            limber_simulation_get(simulation, i, &value) == LIMBER_OK)
            printf(",%.17g", value);
    return putchar('\n') == '\n' ? LIMBER_OK : LIMBER_NO_FILE;
}

int main(int argc, char **argv)
{
    limber_simulation *arm;
    if (argc != 2 || limber_simulation_read(argv[1], print_message, NULL, &arm) != LIMBER_OK) return 1;
    int torque = limber_simulation_find(arm, "upper_joint.tau");
    const int status = limber_simulate(arm, 2, 0.01, drive, print_outputs, &torque);
    limber_simulation_free(arm);
    return status == LIMBER_OK ? 0 : 1;
}
