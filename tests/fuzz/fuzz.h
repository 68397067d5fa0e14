/* What the fuzzing harnesses share. Each is one file with LLVMFuzzerTestOneInput(); run.py builds and runs them. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Internal steps of one communication step: solver.max_steps in all harnesses, which keeps every input short. */
enum { FUZZ_MAX_STEPS = 50 };

/* ---- input as a sequence of arguments: zero where it has ended -------------------------------------------------------- */

struct bytes {
    const uint8_t *at;
    size_t left;
};

static inline unsigned take_byte(struct bytes *b)
{
    if (b->left == 0) return 0;
    b->left--;
    return *b->at++;
}

static inline void take_bytes(struct bytes *b, void *to, size_t size)
{
    const size_t given = size < b->left ? size : b->left;
    memset(to, 0, size);
    memcpy(to, b->at, given);
    b->at += given;
    b->left -= given;
}

/* A usual number, a special one, or any bits at all */
static inline double take_number(struct bytes *b)
{
    static const double special[] = {0, 1, -1, 0.01, 0.1, 1e-3, 1e-300, 1e300, 1e15, -1e6, 3.14159265358979, 0.5};
    const unsigned kind = take_byte(b);
    double number;
    if (kind < 128) return special[kind % (sizeof special / sizeof *special)];
    if (kind < 224) return ((int)take_byte(b) - 128) / 64.0;
    take_bytes(b, &number, sizeof number);
    return number;
}

/* The input as text, ended by a null byte; freed by the caller */
static inline char *text_of(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL) abort();
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* ---- robots of harnesses that are not about robots ------------------------------------------------------------------- */

enum { FUZZ_ROBOTS = 4 };
extern const char *const fuzz_robot[FUZZ_ROBOTS];

/* A folder of this process with the robot in it, as the resources of an FMU; made once, removed at exit. */
const char *fuzz_resources(int robot);

#endif
