/* Files that another file names: the source of a function, the program of a trace, the events of a
 * machine.
 *
 * Who wrote the name is not known, a guest may have. So only regular files of a sensible size are
 * opened: a FIFO would wait for ever, a device may do anything. Files that a user names on the
 * command line may be FIFOs and are opened as usual.
 *
 * Terms: docs/glossary.md
 */
#ifndef BASE_NAMED_H
#define BASE_NAMED_H

#include <stdint.h>

#define NAMED_TEXT_MAX    (UINT64_C(64) << 20)
#define NAMED_PROGRAM_MAX (UINT64_C(1) << 30)

/* A descriptor to read, or -1 with errno: EINVAL when it is no regular file, EFBIG when it is
 * larger than `most`. */
int named_open(const char *path, uint64_t most);

#endif
