/* Vectors of as many doubles as the machine processes at once, with the compiler's vector types: the same source compiles to vector
   and to scalar code. Rows are padded to whole vectors; loops over a triangle start at the vector that contains its edge, so with
   one lane they visit exactly the elements of the triangle. */
#ifndef MATH_LANES_H
#define MATH_LANES_H

#include <string.h>

#if defined(LIMBER_SCALAR) || !defined(__GNUC__) || !defined(__SSE2__)
enum { LANES = 1 };
typedef double lanes;
#elif defined(__AVX__)
enum { LANES = 4 };
typedef double lanes __attribute__((vector_size(32)));
#else
enum { LANES = 2 };
typedef double lanes __attribute__((vector_size(16)));
#endif

/* n rounded up to whole vectors; i rounded down to the start of its vector */
#define PADDED(n)     (((n) + LANES - 1) / LANES * LANES)
#define LANE_START(i) ((i) / LANES * LANES)

/* a 6-vector padded to whole vectors; the padding is zero */
enum { SIX = PADDED(6) };

#define INLINE static inline __attribute__((always_inline))

INLINE lanes load(const double *from)
{
    lanes value;
    memcpy(&value, from, sizeof value);
    return value;
}

INLINE void store(double *to, lanes value)
{
    memcpy(to, &value, sizeof value);
}

/* Runs `statement` with M a compile-time constant if the count is small, so that the compiler unrolls its loops. */
#define CONSTANT_CASE(M, value, statement) \
    case value: {                          \
        enum { M = value };                \
        statement;                         \
        break;                             \
    }
#define WITH_CONSTANT_COUNT(M, count, statement) \
    switch (count) {                             \
        CONSTANT_CASE(M, 1, statement)           \
        CONSTANT_CASE(M, 2, statement)           \
        CONSTANT_CASE(M, 3, statement)           \
        CONSTANT_CASE(M, 4, statement)           \
        CONSTANT_CASE(M, 5, statement)           \
        CONSTANT_CASE(M, 6, statement)           \
        CONSTANT_CASE(M, 7, statement)           \
        CONSTANT_CASE(M, 8, statement)           \
        CONSTANT_CASE(M, 9, statement)           \
        CONSTANT_CASE(M, 10, statement)          \
        CONSTANT_CASE(M, 11, statement)          \
        CONSTANT_CASE(M, 12, statement)          \
    default: {                                   \
        const int M = (count);                   \
        statement;                               \
        break;                                   \
    }                                            \
    }

#endif
