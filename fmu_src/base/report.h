/* Where messages go: the command line prints them, an FMU hands them to its logger. */
#ifndef BASE_REPORT_H
#define BASE_REPORT_H

enum report_level { REPORT_ERROR, REPORT_WARNING };

struct report {
    void (*line)(void *context, enum report_level level,
                 const char *text); /* one finished message, no newline; NULL: silent */
    void *context;
    int errors; /* counted here */
    int warnings;
};

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void report_add(struct report *report, enum report_level level, const char *format, ...);

#endif
