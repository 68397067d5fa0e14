#include "base/report.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT_SIZE = 2048 };

void report_add(struct report *report, enum report_level level, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    if (level == REPORT_ERROR) report->errors++;
    else report->warnings++;
    if (report->line != NULL) report->line(report->context, level, text);
}

void report_note(const struct report *report, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list arguments;
    if (report->note == NULL) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    report->note(report->context, text);
}

void report_progress(const struct report *report, const char *what, int done, int all)
{
    if (report != NULL && report->progress != NULL) report->progress(what, done, all);
}
