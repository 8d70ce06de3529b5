/* How Chiliad reports what went wrong.
 *
 * Every call that can fail returns 0 or one of the negative codes below. Calls that read something
 * a person wrote (a machine file, a stimulus, a command line) also take a `struct chil_error *`,
 * which may be NULL, and leave in it one line a person can act on: "FILE:LINE: what is wrong; what
 * to do". The library never prints and never exits, save in one place: when the host is out of
 * memory.
 */
#ifndef CHILIAD_ERROR_H
#define CHILIAD_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* code, short text */
#define CHIL_ERRORS(X)                                                                             \
    X(CHIL_EINVAL, -1, "invalid argument")                                                         \
    X(CHIL_ERANGE, -2, "value out of range")                                                       \
    X(CHIL_ENOENT, -3, "no such thing")                                                            \
    X(CHIL_EIO, -4, "input or output failed")                                                      \
    X(CHIL_EPARSE, -5, "malformed text")                                                           \
    X(CHIL_EORDER, -6, "time is out of order")                                                     \
    X(CHIL_EPARITY, -7, "a stored word has bad parity")                                            \
    X(CHIL_EBUSY, -8, "not while the unit is delivering or running")                               \
    X(CHIL_EGEOMETRY, -9, "the counter unit would lose carries")                                   \
    X(CHIL_ELAW, -10, "internal error: counts contradict each other")                              \
    X(CHIL_EPERM, -11, "not permitted")                                                            \
    X(CHIL_EEXEC, -12, "the program cannot be executed")                                           \
    X(CHIL_ENOPROGRAM, -13, "there is no such program")

enum chil_status {
    CHIL_OK = 0,
#define CHIL_ERROR_ENUM(name, value, text) name = (value),
    CHIL_ERRORS(CHIL_ERROR_ENUM)
#undef CHIL_ERROR_ENUM
};

struct chil_error {
    int status;
    char text[400]; /* one line, no newline; empty when nothing was said */
};

/* The short text of a status; never NULL. */
const char *chil_status_text(int status);

/* Fills `err` (may be NULL) and returns `status`, so that a failing call reads `return
 * chil_error_set(...)`. */
int chil_error_set(struct chil_error *err, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#ifdef __cplusplus
}
#endif
#endif
