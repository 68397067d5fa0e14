/* The floating-point environment of the host. Computations need rounding to nearest, no traps, and subnormal numbers. The host may have
   another environment, so each call into an FMU sets this one and restores the host's, with its exception flags. */
#ifndef FMI_ENVIRONMENT_H
#define FMI_ENVIRONMENT_H

#include <fenv.h>

#if defined(__x86_64__) && defined(__GNUC__)

#include <xmmintrin.h>

/* Control words with all exceptions masked and rounding to nearest: of SSE, without flush-to-zero; of the x87 unit, 64-bit precision */
enum { SSE_DEFAULT = 0x1f80, X87_DEFAULT = 0x37f, X87_FLAGS = 0x3f };

struct environment {
    unsigned sse;
    unsigned short x87, x87_status;
};

static inline unsigned short x87_control(void)
{
    unsigned short word;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    return word;
}

static inline void set_x87_control(unsigned short word)
{
    __asm__ volatile("fldcw %0" : : "m"(word));
}

static inline unsigned short x87_status(void)
{
    unsigned short word;
    __asm__ volatile("fnstsw %0" : "=m"(word));
    return word;
}

static inline struct environment environment_enter(void)
{
    const struct environment host = {_mm_getcsr(), x87_control(), x87_status()};
    if (host.x87 != X87_DEFAULT) set_x87_control(X87_DEFAULT);
    _mm_setcsr(SSE_DEFAULT);
    return host;
}

/* The compiler does not know that these words affect arithmetic. It cannot move the computations, because they are in another function. */
static inline void environment_leave(const struct environment *host)
{
    if (((x87_status() ^ host->x87_status) & X87_FLAGS) != 0) {
        struct {
            unsigned short control, a, status, b, rest[10];
        } all;
        __asm__ volatile("fnstenv %0" : "=m"(all));
        all.status = host->x87_status;
        __asm__ volatile("fldenv %0" : : "m"(all));
    }
    if (x87_control() != host->x87) set_x87_control(host->x87);
    _mm_setcsr(host->sse);
}

#else

struct environment {
    fenv_t host;
};

static inline struct environment environment_enter(void)
{
    struct environment environment;
    fegetenv(&environment.host);
    fesetenv(FE_DFL_ENV);
    return environment;
}

static inline void environment_leave(const struct environment *environment)
{
    fesetenv(&environment->host);
}

#endif

#endif
