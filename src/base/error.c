/* The texts of the status codes, and the one way to fill a `struct chil_error`. */
#include "chiliad/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/name.h"

const char *chil_status_text(int status)
{
    switch (status) {
    case CHIL_OK: return "ok";
#define CHIL_ERROR_CASE(name, value, text)                                                         \
    case name: return text;
        CHIL_ERRORS(CHIL_ERROR_CASE)
#undef CHIL_ERROR_CASE
    default: return "unknown status";
    }
}

int chil_error_set(struct chil_error *err, int status, const char *format, ...)
{
    if (!err) return status;
    va_list args;
    va_start(args, format);
    err->status = status;
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    (void)name_printable(err->text);
    return status;
}
