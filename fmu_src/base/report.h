/* Where messages go: the command line prints them, an FMU hands them to its logger. */
#ifndef BASE_REPORT_H
#define BASE_REPORT_H

/* The compiler checks the arguments behind a format; mingw must be told whose printf it is. */
#if defined(__MINGW32__)
#define PRINTF_LIKE(text, first) __attribute__((format(gnu_printf, text, first)))
#elif defined(__GNUC__)
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define PRINTF_LIKE(text, first)
#endif

enum report_level { REPORT_ERROR, REPORT_WARNING };

struct report {
    void (*line)(void *context, enum report_level level,
                 const char *text); /* one finished message, no newline; NULL: silent */
    void *context;
    int errors; /* counted here */
    int warnings;
};

PRINTF_LIKE(3, 4)
void report_add(struct report *report, enum report_level level, const char *format, ...);

#endif
