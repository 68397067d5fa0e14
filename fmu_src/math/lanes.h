/* As many doubles as the machine handles at once, by the compiler's vector types: the same source is vector code and scalar
   code. Rows are padded to whole lanes; loops over a triangle start at the lane that holds its edge, so with one lane they
   count exactly what the mathematics asks for. */
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

/* n rounded up to whole lanes; i rounded down to the start of its lane */
#define PADDED(n)     (((n) + LANES - 1) / LANES * LANES)
#define LANE_START(i) ((i) / LANES * LANES)

/* a 6-vector in whole lanes; what is beyond six is zero */
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

/* Runs `statement` with the count M a constant where it is small, so that the compiler unrolls the loops in it. */
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
