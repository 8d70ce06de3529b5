/* chiliad record --perturb: a run for each set, each with another stack address.
 *
 * Two runs on a real machine differ, mostly because addresses differ; two runs of the simulator are
 * the same. --perturb gives every run an environment variable of another length. That moves the
 * stack by a multiple of its alignment, by less than a page. The lengths follow from a seed, so the
 * same command gives the same counts.
 */
#include "cmd/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "CHILIAD_PERTURB="
enum { STEP = 16, STEPS = 256 }; /* of the stack's alignment, to a page */

/* splitmix64: a number for each number. */
static uint64_t scatter(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

char **record_environment(char *const *usual, uint64_t seed, size_t number)
{
    size_t count = 0, length = STEP * (size_t)(scatter(scatter(seed) + number) % STEPS),
           start = strlen(NAME);
    while (usual[count])
        count++;
    char **list = calloc(count + 2, sizeof *list);
    char *padding = malloc(start + length + 1);
    if (!list || !padding) {
        free(list); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
        free(padding);
        return NULL;
    }
    memcpy(padding, NAME, start);
    memset(padding + start, 'x', length);
    padding[start + length] = 0;
    list[0] = padding;
    memcpy(list + 1, usual, count * sizeof *list);
    return list;
}

void record_environment_free(char **environment)
{
    if (environment) free(environment[0]);
    free(environment); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
}

void record_streams_init(struct record_streams *streams)
{
    streams->start = lseek(STDIN_FILENO, 0, SEEK_CUR);
}

int record_streams_mute(struct record_streams *streams)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) return cmd_fail("record", "cannot open /dev/null: %s", strerror(errno));
    (void)fflush(NULL);
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        streams->saved[stream] = fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (stream != STDIN_FILENO || streams->start < 0 ||
            lseek(stream, streams->start, SEEK_SET) < 0)
            (void)dup2(nothing, stream);
    }
    (void)close(nothing);
    return 0;
}

void record_streams_restore(struct record_streams *streams)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (streams->saved[stream] < 0) {
            (void)close(stream);
        } else {
            (void)dup2(streams->saved[stream], stream);
            (void)close(streams->saved[stream]);
        }
    }
}
