/* What writing and reading a large experiment costs: 1,000 metrics, 10,000 call paths, 256 threads,
 * 10 million values.
 *
 * Two layouts of the values. "rows": a metric has values on 39 or 40 call paths, there on every
 * thread, as a program whose threads all do the same. "scattered": a metric has one value on each
 * call path, on some thread, which is the worst for a format with dense rows. Printed: seconds of
 * wall time for building, writing (with fsync) and reading, and of CPU time for all of it and
 * comparing; megabytes of the file, and the process's greatest memory so far. `bench_exp rows 10`
 * makes a tenth.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "chiliad/experiment.h"

enum { METRICS = 1000, NODES = 10000, THREADS = 256, VALUES = 10000 /* of a metric */ };

static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add_trees(struct chil_exp *exp)
{
    char name[32];
    for (int i = 0; i < 500; i++) {
        (void)snprintf(name, sizeof name, "function_%d", i);
        (void)chil_exp_add_region(
            exp, &(struct chil_exp_region){
                     .name = name, .module = "program.c", .begin = i, .end = i + 9});
    }
    for (int i = 0; i < NODES; i++)
        (void)chil_exp_add_node(exp, i ? (i - 1) / 4 : -1, i % 500, i % 77, "program.c");
    int machine = chil_exp_add_place(exp, -1, CHIL_EXP_MACHINE, "machine", 0);
    for (int p = 0; p < THREADS / 4; p++) {
        int node = chil_exp_add_place(exp, machine, CHIL_EXP_NODE, "node", 0);
        int process = chil_exp_add_place(exp, node, CHIL_EXP_PROCESS, "process", p);
        for (int t = 0; t < 4; t++)
            (void)chil_exp_add_place(exp, process, CHIL_EXP_THREAD, "thread", t);
    }
}

static struct chil_exp *build(bool scattered, int part)
{
    struct chil_exp *exp = chil_exp_new();
    uint64_t random = 1;
    add_trees(exp);
    for (int m = 0; m < METRICS / part; m++) {
        char name[32];
        (void)snprintf(name, sizeof name, "EVENT_%d", m);
        int metric = chil_exp_add_metric(
            exp, &(struct chil_exp_metric){.name = name, .parent = m % 10 ? m - m % 10 : -1});
        for (int i = 0; i < VALUES; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            int node = scattered ? i : (m * 7 + i / THREADS * 251) % NODES;
            int thread = scattered ? (int)(random >> 40) % THREADS : i % THREADS;
            chil_exp_add_count(exp, metric, node, thread,
                               1 + (int64_t)((random >> 33) >> (random >> 59)));
        }
    }
    return exp;
}

static bool same(const struct chil_exp *a, const struct chil_exp *b)
{
    bool equal = a->metrics == b->metrics && a->nodes == b->nodes && a->threads == b->threads;
    for (size_t m = 0; m < a->metrics && equal; m++) {
        size_t x_count, y_count;
        int other = chil_exp_find_metric(b, a->metric[m].name);
        equal = other >= 0;
        if (!equal) break;
        (void)chil_exp_cells(a, (int)m, &x_count);
        (void)chil_exp_cells(b, other, &y_count);
        equal = x_count == y_count && chil_exp_sum_count(a, (int)m, -1, false, -1) ==
                                          chil_exp_sum_count(b, other, -1, false, -1);
    }
    return equal;
}

static int run(const char *name, bool scattered, int part)
{
    char path[] = "bench_exp.XXXXXX.cubex";
    int fd = mkstemps(path, 6);
    struct chil_exp *read = NULL;
    struct chil_error err = {0};
    struct stat info = {0};
    struct rusage usage;
    if (fd < 0) return 1;
    (void)close(fd);
    (void)getrusage(RUSAGE_SELF, &usage);
    double before = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                    1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    double start = seconds();
    struct chil_exp *exp = build(scattered, part);
    double built = seconds();
    int status = chil_exp_write(exp, path, &err);
    double written = seconds();
    if (!status) status = chil_exp_read(&read, path, &err);
    double done = seconds();
    (void)stat(path, &info);
    (void)unlink(path);
    bool equal = !status && same(exp, read);
    chil_exp_free(exp);
    chil_exp_free(read);
    (void)getrusage(RUSAGE_SELF, &usage);
    double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) - before;
    if (status) (void)fprintf(stderr, "bench_exp: %s\n", err.text);
    (void)printf(
        "%-10s build %.2f s, write %.2f s, read %.2f s, CPU %.2f s; file %.0f MB, memory %.0f MB; %s\n",
        name, built - start, written - built, done - written, cpu, (double)info.st_size / 1e6,
        (double)usage.ru_maxrss / 1e3, equal ? "equal" : "DIFFERENT");
    return equal ? 0 : 1;
}

int main(int argc, char **argv)
{
    int part = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1, status = 0;
    if (part < 1) part = 1;
    if (argc < 2 || strcmp(argv[1], "rows") == 0) status |= run("rows", false, part);
    if (argc < 2 || strcmp(argv[1], "scattered") == 0) status |= run("scattered", true, part);
    return status;
}
