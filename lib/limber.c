/* Version, status codes and messages. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

_Static_assert((int)LIMBER_OK == STATUS_OK && (int)LIMBER_BAD_ROBOT == STATUS_BAD_ROBOT &&
                   (int)LIMBER_NO_MEMORY == STATUS_NO_MEMORY && (int)LIMBER_NO_FILE == STATUS_NO_FILE,
               "limber.h repeats these codes of base/status.h");
_Static_assert((int)LIMBER_ERROR == REPORT_ERROR && (int)LIMBER_WARNING == REPORT_WARNING,
               "limber.h repeats the levels of base/report.h");

const char *limber_version(void)
{
    return LIMBER_VERSION;
}

const char *limber_status_text(int status)
{
    switch (status) {
    case LIMBER_BAD_ARGUMENT: return "an argument is not valid";
    case LIMBER_BAD_CALL: return "the function cannot be called now";
    case LIMBER_NO_NAME: return "there is nothing of this name";
    default: return status_text((enum status)status);
    }
}

static void forward_message(void *context, enum report_level level, const char *text)
{
    const struct messages *messages = context;
    messages->message(messages->context, (int)level, text);
}

void lib_messages_start(struct messages *messages, limber_message *message, void *context)
{
    *messages = (struct messages){.message = message, .context = context};
    messages->report = (struct report){.line = message != NULL ? forward_message : NULL, .context = messages};
}

int lib_call_failed(struct messages *messages, int status, const char *function, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    report_add(&messages->report, REPORT_ERROR, "%s: %s", function, text);
    return status;
}

bool lib_all_finite(int count, const double *number)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(number[i])) return false;
    return true;
}
