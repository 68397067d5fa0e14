#include "base/report.h"

#include <stdarg.h>
#include <stdio.h>

void report_add(struct report *report, enum report_level level, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    if (level == REPORT_ERROR) report->errors++;
    else report->warnings++;
    if (report->line != NULL) report->line(report->context, level, text);
}
