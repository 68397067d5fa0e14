#include "base/status.h"

const char *status_text(enum status status)
{
    switch (status) {
#define STATUS_CASE(name, code, text) \
    case STATUS_##name: return text;
        STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
    }
    return "unknown status";
}
