/* Where messages go: the command line prints them, an FMU passes them to its logger. */
#ifndef BASE_REPORT_H
#define BASE_REPORT_H

/* The compiler checks the arguments after a format string; mingw needs to know which printf is meant. */
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
                 const char *text);                        /* one complete message without newline; NULL: silent */
    void (*note)(void *context, const char *text);         /* information that is no problem; NULL: not wanted */
    void (*progress)(const char *what, int done, int all); /* of long work; NULL: not wanted */
    void *context;
    int errors; /* counted by report_add() */
    int warnings;
};

PRINTF_LIKE(3, 4)
void report_add(struct report *report, enum report_level level, const char *format, ...);

PRINTF_LIKE(2, 3)
void report_note(const struct report *report, const char *format, ...);

/* Reports the progress of long work. */
void report_progress(const struct report *report, const char *what, int done, int all);

#endif
