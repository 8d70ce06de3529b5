/* Random numbers that are the same everywhere: splitmix64 from a seed. And how long a test may
 * take. */
#ifndef TEST_RANDOM_H
#define TEST_RANDOM_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static inline uint64_t random_below(uint64_t *state, uint64_t limit)
{
    return random_next(state) % limit;
}

/* `count` in a quick run, a tenth of it in a short one (sanitizers), twenty times it in a long one.
 */
static inline uint64_t random_trials(uint64_t count)
{
    const char *length = getenv("CHILIAD_TEST_LENGTH");
    if (length && strcmp(length, "short") == 0) return count / 10 + 1;
    return length && strcmp(length, "long") == 0 ? count * 20 : count;
}

#endif
