/* Fuzzes the loader: any file is loaded as a program, or refused in one line; what is loaded may
 * also run a little.
 *
 * `tools/fuzz program SECONDS` from the root of the repository; its first seed is a program that
 * tools/fuzz assembles. The loader opens paths, so the input is written to a file in memory where
 * the host has a place for that. The program runs for a few thousand cycles without an operating
 * system: up to its first system call or fault.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/core/core.h"
#include "machine/os/os_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static char path[64];

static void remove_file(void)
{
    (void)unlink(path);
}

static void make_file(void)
{
    (void)snprintf(path, sizeof path, "%s/chiliad-fuzz-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    int fd = mkstemp(path);
    if (fd < 0 || fchmod(fd, 0755) || close(fd) || atexit(remove_file)) abort();
}

static void run(struct os_space *space)
{
    struct cores *cores = cores_new(1, &(struct core_options){.units = UINT32_MAX});
    struct core_regs regs = {.pc = space->entry, .msr = MSR_PR | MSR_FP};
    regs.gpr[1] = space->stack_pointer;
    core_switch(cores_get(cores, 0), &regs, space->mem);
    (void)core_run(cores_get(cores, 0), 5000);
    uint64_t counts[CORE_SIGNAL_COUNT];
    core_signal_counts(cores_get(cores, 0), counts);
    cores_forget(cores, space->mem);
    cores_free(cores);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static char *const argv[] = {"program", NULL}, *const envp[] = {NULL};
    const struct os_rules rules = {.sysroot = "/usr/powerpc-linux-gnu"};
    struct chil_error err = {0};
    if (!*path) make_file();
    FILE *out = fopen(path, "w");
    if (!out || fwrite(bytes, 1, length, out) != length || fclose(out)) abort();
    struct os_files *files = os_files_new(&rules, &err);
    struct os_space *space = NULL;
    if (!files) abort();
    int status = os_load(&space, files, &rules, path, argv, envp, &err);
    if (status && (!*err.text || strchr(err.text, '\n') || space)) abort();
    if (!status) run(space);
    if (space) os_space_release(space);
    os_files_release(files);
    return 0;
}
