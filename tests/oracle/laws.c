#include "oracle/laws.h"
#include "oracle/larger.h"

#include <math.h>
#include <stdio.h>

const double LEFT_OUT = -1;

bool law_holds(int robots, specimen_maker *make, law_function *law, double tolerance)
{
    double worst = 0;
    int tried = 0;
    bool holds = true;
    for (int seed = 0; seed < robots; seed++) {
        struct specimen s;
        if (!make(&s, seed)) {
            printf("     seed %d: no robot\n", seed);
            return false;
        }
        s.random.state = (uint64_t)seed;
        const double error = law(&s);
        specimen_free(&s);
        if (error == LEFT_OUT) continue;
        tried++;
        worst = larger(worst, error);
        if (error >= 0 && error <= tolerance) continue;
        printf("     seed %d: %.1e\n", seed, error);
        holds = false;
    }
    printf("     worst %.1e of %d robots\n", worst, tried);
    return holds && 6 * tried >= robots;
}
