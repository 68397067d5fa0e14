/* The host's floating-point environment: other rounding modes, traps, flush-to-zero. Every number is the one of the default environment,
   to the bit, and every call leaves the environment as it found it. */
#define _GNU_SOURCE
#include <fenv.h>
#include <xmmintrin.h>

#include "life.h"

struct mode {
    const char *name;
    int rounding, traps;
    unsigned sse;       /* further bits of the control word: flush-to-zero 0x8000, subnormals are zero 0x40, flags */
    unsigned short x87; /* precision control, if not 0                                                              */
};

static const struct mode modes[] = {
    {"default", FE_TONEAREST, 0, 0, 0},
    {"upward", FE_UPWARD, 0, 0, 0},
    {"downward", FE_DOWNWARD, 0, 0, 0},
    {"toward zero", FE_TOWARDZERO, 0, 0, 0},
    {"traps", FE_TONEAREST, FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW, 0, 0},
    {"all traps", FE_TONEAREST, FE_ALL_EXCEPT, 0, 0},
    {"flush to zero", FE_TONEAREST, 0, 0x8040, 0},
    {"flags raised", FE_TONEAREST, 0, FE_INVALID | FE_OVERFLOW, 0},
    {"x87 of 53 bits", FE_TONEAREST, 0, 0, 0x27f},
    {"x87 of 24 bits, upward", FE_UPWARD, 0, 0x8000, 0x87f},
};

enum { MODES = sizeof modes / sizeof modes[0] };

/* Everything that can be observed of the environment */
struct seen {
    unsigned sse;
    unsigned short x87, status;
};

static struct seen look(void)
{
    struct seen seen = {.sse = _mm_getcsr()};
    __asm__ volatile("fnstcw %0" : "=m"(seen.x87));
    __asm__ volatile("fnstsw %0" : "=m"(seen.status));
    return seen;
}

static struct seen expected;
static bool watching;
static int changes;

static void after_call(const char *name)
{
    const struct seen now = look();
    if (!watching || (now.sse == expected.sse && now.x87 == expected.x87 && now.status == expected.status)) return;
    if (changes++ == 0)
        fprintf(stderr, "%s: environment %x %x %x became %x %x %x\n", name, expected.sse, (unsigned)expected.x87,
                (unsigned)expected.status, now.sse, (unsigned)now.x87, (unsigned)now.status);
}

static bool live_in(const struct mode *mode, const struct fmu *fmu, fmi2Type type, struct record *record)
{
    fenv_t before;
    fegetenv(&before);
    fesetround(mode->rounding);
    if (mode->x87 != 0) __asm__ volatile("fldcw %0" : : "m"(mode->x87));
    _mm_setcsr(_mm_getcsr() | mode->sse);
    if (mode->traps != 0) feenableexcept(mode->traps);
    expected = look();
    watching = true;
    const bool good = live(fmu, type, record);
    watching = false;
    fesetenv(&before);
    return good;
}

int main(int n, char **words)
{
    static struct fmu fmu;
    static struct record normal, other;
    if (!load_fmu(&fmu, n, words)) return 2;
    int failures = 0;
    for (int type = fmu.exchanged ? fmi2ModelExchange : fmi2CoSimulation; type <= fmi2CoSimulation; type++)
        for (int i = 0; i < MODES; i++) {
            struct record *record = i == 0 ? &normal : &other;
            memset(record, 0, sizeof *record);
            changes = 0;
            const bool good = live_in(&modes[i], &fmu, (fmi2Type)type, record);
            const bool same = record->count == normal.count &&
                              memcmp(record->number, normal.number, normal.count * sizeof(double)) == 0;
            if (good && same && changes == 0 && normal.count > 0) continue;
            failures++;
            printf("%s, %s: %s %s, numbers %s, %d calls changed the environment\n", type == 0 ? "ME" : "CS",
                   modes[i].name, good ? "done" : record->failed, record->text, same ? "the same" : "differ", changes);
        }
    return failures > 0;
}
