/* What a call of the memory hierarchy costs: ns of thread CPU time for each access whose line byte
 * is clear.
 *
 * A row is a pattern of accesses by core 0; "all cores" means that the others have filled their L1
 * before, so that no snoop is dropped for the reason that a core never had a line; "of L1" that
 * core 0 loaded the lines before. Each row runs several rounds after one to warm up; the fastest
 * counts. `bench_cache PART` runs the rows whose name, machine first, has that part.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "machine/cache/cache.h"

enum { ACCESSES = 1 << 19, ROUNDS = 5, BASE = 0x10000000, WARM = 64 << 10 };

static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct pattern {
    const char *name;
    bool store;
    uint32_t span, step; /* step 0: random lines */
    bool all_cores, loaded;
};

static const struct pattern patterns[] = {
    {"loads, each line of 1 MB", false, 1 << 20, 32, false, false},
    {"loads, each L3 line of 1 MB", false, 1 << 20, 128, false, false},
    {"loads, random in 192 KB (no TLB miss)", false, 192 << 10, 0, false, false},
    {"loads, random in 4 MB", false, 4 << 20, 0, false, false},
    {"loads, each line of 64 MB (DDR)", false, 64 << 20, 32, false, false},
    {"loads, random in 64 MB (DDR)", false, 64 << 20, 0, false, false},
    {"loads, a page apart (TLB)", false, 8 << 20, 4096, false, false},
    {"stores, 4 lines of L1 in turn", true, 1024, 256, false, true},
    {"stores, each line of 16 KB", true, 16 << 10, 32, false, false},
    {"stores, each line of 1 MB", true, 1 << 20, 32, false, false},
    {"stores, each line of 1 MB, all cores", true, 1 << 20, 32, true, false},
    {"stores, random in 192 KB (no TLB miss)", true, 192 << 10, 0, false, false},
    {"stores, random in 4 MB", true, 4 << 20, 0, false, false},
};

struct node {
    struct cache *cache;
    unsigned space;
    uint64_t now, random;
};

static uint32_t address_of(struct node *node, const struct pattern *pattern, uint32_t i)
{
    if (pattern->step)
        return BASE +
               (i * pattern->step & (pattern->span - 1)); /* all such spans are powers of two */
    node->random = node->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return BASE + ((uint32_t)((node->random >> 33) * pattern->span >> 31) & ~31U);
}

static double round_of(struct node *node, const struct pattern *pattern)
{
    const uint8_t *lines = cache_lines(node->cache, 0, node->space);
    uint32_t calls = 0;
    double start = seconds();
    for (uint32_t i = 0; i < ACCESSES; i++) {
        uint32_t address = address_of(node, pattern, i);
        node->now++;
        if (lines[address >> CACHE_GRANULE_BITS] & (pattern->store ? CACHE_STORE : CACHE_LOAD))
            continue;
        calls++;
        node->now += pattern->store
                         ? cache_store(node->cache, 0, node->space, address, 8, node->now)
                         : cache_load(node->cache, 0, node->space, address, 8, node->now);
    }
    return calls ? (seconds() - start) * 1e9 / calls : 0;
}

static double measure(const struct cache_config *config, const struct pattern *pattern)
{
    struct node node = {.cache = cache_new(config), .random = 1};
    node.space = cache_space_new(node.cache);
    for (unsigned core = 1; core < config->cores && pattern->all_cores; core++)
        for (uint32_t at = 0; at < WARM; at += 32)
            (void)cache_load(node.cache, core, node.space, 0x40000000 + core * WARM + at, 8, at);
    for (uint32_t at = 0; at < pattern->span && pattern->loaded; at += 32)
        node.now += 1 + cache_load(node.cache, 0, node.space, BASE + at, 8, node.now);
    double best = 1e9;
    for (int round = 0; round <= ROUNDS; round++) {
        double ns = round_of(&node, pattern);
        if (round && ns < best) best = ns;
    }
    cache_free(node.cache);
    return best;
}

static int run(const char *name, const char *part)
{
    struct chil_machine *machine;
    struct cache_config config;
    struct chil_error err;
    if (chil_machine_open(&machine, name, &err) || cache_config_read(&config, machine, &err)) {
        (void)fprintf(stderr, "bench_cache: %s\n", err.text);
        return 2;
    }
    for (unsigned i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        char row[64];
        (void)snprintf(row, sizeof row, "%s %s", name, patterns[i].name);
        if (!part || strstr(row, part))
            printf("%-44s %7.1f ns/call\n", row, measure(&config, &patterns[i]));
    }
    chil_machine_free(machine);
    return 0;
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : NULL;
    printf("memory hierarchy; the fastest of %d rounds of %d accesses\n", ROUNDS, ACCESSES);
    int status = run("bgp", part);
    return status ? status : run("bgl", part);
}
