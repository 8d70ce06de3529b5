/* chiliad sweep: the same program on a family of machines.
 *
 *     $ chiliad sweep --set l1d.size=16K,32K,64K ./program
 *     l1d.size           cycles     BGL_D1_L_MISS ...
 *     16K             1,234,567            12,345      ####################
 *     ...
 *
 * Every --set names a parameter and its values, -n numbers of nodes; all combinations are run, as
 * many at a time as the host has processors, each in a process of its own. The program's output is
 * discarded.
 */
#include "cmd/page.h"
#include "cmd/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/page.h"

struct job {
    pid_t pid;
    int fd;
    size_t run;
};

/* --- Running --------------------------------------------------------------------------------- */

static int open_machine(const struct sweep *s, size_t run, struct chil_machine **machine)
{
    char text[SWEEP_AXES_MAX][200];
    const char *settings[SWEEP_AXES_MAX + CMD_PROGRAM_LIST];
    size_t count = 0;
    struct chil_error err = {0};
    for (; count < s->program.setting_count; count++) /* --miss-kinds */
        settings[count] = s->program.settings[count];
    for (size_t i = 0; i < s->axis_count; i++) {
        if (s->axes[i].key == sweep_nodes) continue;
        (void)snprintf(text[i], sizeof text[i], "%s=%s", s->axes[i].key, sweep_value(s, run, i));
        settings[count++] = text[i];
    }
    if (chil_machine_open_with(machine, s->program.machine, settings, count, &err))
        return cmd_fail_error("sweep", &err);
    int status = cmd_program_memory(&s->program, "sweep", *machine);
    if (status) chil_machine_free(*machine);
    return status;
}

/* All machines and events are looked at before anything runs. */
static int check_all(const struct sweep *s)
{
    for (size_t run = 0; run < s->runs; run++) {
        struct chil_machine *machine;
        struct chil_error err = {0};
        const struct chil_event *event;
        int status = open_machine(s, run, &machine);
        if (status) return status;
        for (size_t i = 0; !status && i < s->event_count; i++)
            status = chil_machine_find_event(machine, s->events[i], &event, &err)
                         ? cmd_fail_error("sweep", &err)
                         : cmd_event_check("sweep", event);
        chil_machine_free(machine);
        if (status) return status;
    }
    return 0;
}

static uint64_t count_of(const struct chil_run *run, const struct chil_machine *machine,
                         const char *name)
{
    const struct chil_event *event;
    return chil_machine_find_event(machine, name, &event, NULL) ? 0 : chil_run_count(run, event);
}

/* Threads that are in MPI at once may have more time there than the rank has. */
static void divide_time(const struct chil_run *run, const struct chil_machine *machine,
                        struct sweep_outcome *outcome)
{
    uint64_t all = outcome->cycles * chil_run_nodes(run) * chil_run_processes(run),
             mpi = count_of(run, machine, "BGL_MPI_CYCLES"),
             wait = count_of(run, machine, "BGL_MPI_CYC_WAIT");
    if (mpi > all) mpi = all;
    if (wait > mpi) wait = mpi;
    outcome->time[SWEEP_COMPUTE] = all - mpi;
    outcome->time[SWEEP_WAIT] = wait;
    outcome->time[SWEEP_TRANSFER] = mpi - wait;
}

/* One run. The parent reports errors, since the standard error of this process is discarded. */
static void run_once(struct sweep *s, size_t number, struct sweep_outcome *outcome)
{
    struct chil_machine *machine;
    struct chil_run *run = NULL;
    struct chil_error err = {0};
    if (open_machine(s, number, &machine)) return;
    s->program.run.machine = machine;
    for (size_t i = 0; i < s->axis_count; i++)
        if (s->axes[i].key == sweep_nodes)
            s->program.run.nodes = (unsigned)strtoul(sweep_value(s, number, i), NULL, 10);
    if (cmd_program_prepare(&s->program, "sweep")) return;
    if (cmd_program_new(&s->program, &s->program.run, &run, &err) ||
        cmd_program_go(&s->program, run, &err)) {
        outcome->status = cmd_status_of(err.status);
        (void)snprintf(outcome->why, sizeof outcome->why, "%s", err.text);
    } else {
        outcome->done = true;
        outcome->status = cmd_program_status(run);
        if (s->program.partial)
            (void)snprintf(outcome->partial, sizeof outcome->partial, "%s", s->program.partial);
        outcome->cycles = chil_run_cycles(run);
        for (size_t i = 0; i < s->event_count; i++)
            outcome->counts[i] = count_of(run, machine, s->events[i]);
        if (sweep_has_nodes(s)) divide_time(run, machine, outcome);
    }
    chil_run_free(run);
    chil_machine_free(machine);
}

static void child(struct sweep *s, size_t run, int fd)
{
    struct sweep_outcome outcome = {.status = CMD_BAD};
    int nothing = open("/dev/null", O_RDWR);
    (void)setpgid(0, 0); /* signals of the terminal come from the parent, once */
    for (int stream = STDIN_FILENO; nothing >= 0 && stream <= STDERR_FILENO; stream++)
        (void)dup2(nothing, stream);
    run_once(s, run, &outcome);
    _exit(write(fd, &outcome, sizeof outcome) == (ssize_t)sizeof outcome ? 0 : CMD_BAD);
}

static int start(struct sweep *s, size_t run, struct job *job)
{
    FILE *file = tmpfile();
    job->fd = file ? dup(fileno(file)) : -1;
    if (file) (void)fclose(file);
    job->run = run;
    (void)fflush(stdout);
    job->pid = job->fd < 0 ? -1 : fork();
    if (job->pid == 0) child(s, run, job->fd);
    return job->pid < 0 ? cmd_fail("sweep", "cannot start a run: %s", strerror(errno)) : 0;
}

static int collect(struct job *jobs, size_t *count, struct sweep_outcome *outcomes)
{
    int how;
    pid_t pid = wait(&how);
    if (pid < 0 && errno == EINTR) { /* the user's signal */
        for (size_t i = 0; i < *count; i++)
            (void)kill(jobs[i].pid, cmd_signal_caught());
        return 0;
    }
    for (size_t i = 0; i < *count; i++) {
        if (jobs[i].pid != pid) continue;
        struct sweep_outcome *outcome = &outcomes[jobs[i].run];
        if (pread(jobs[i].fd, outcome, sizeof *outcome, 0) != (ssize_t)sizeof *outcome)
            *outcome = (struct sweep_outcome){.status = CMD_BAD};
        (void)close(jobs[i].fd);
        int status = outcome->done ? 0 : outcome->status;
        if (!outcome->done)
            (void)cmd_fail("sweep", "%s", *outcome->why ? outcome->why : "a run did not end");
        jobs[i] = jobs[--*count];
        return status;
    }
    return cmd_fail("sweep", "a run was lost");
}

static int run_all(struct sweep *s, struct sweep_outcome *outcomes)
{
    struct job jobs[SWEEP_JOBS_MAX];
    size_t running = 0, next = 0, over = 0;
    int status = 0;
    cmd_signals_catch();
    while ((next < s->runs && !status && !cmd_signal_caught()) || running) {
        if (next < s->runs && !status && running < s->jobs && !cmd_signal_caught()) {
            status = start(s, next++, &jobs[running]);
            running += status == 0;
            continue;
        }
        int one = collect(jobs, &running, outcomes);
        if (!status) status = one;
        if (isatty(STDERR_FILENO)) (void)fprintf(stderr, "\r%zu of %zu runs", ++over, s->runs);
    }
    if (isatty(STDERR_FILENO)) (void)fputc('\n', stderr);
    if (next < s->runs && !status)
        (void)fprintf(stderr, "chiliad sweep: stopped by SIG%s: %zu of %zu runs were begun\n",
                      sigabbrev_np(cmd_signal_caught()), next, s->runs);
    s->begun = next;
    return status;
}

/* --- All ------------------------------------------------------------------------------------- */

static int run_and_print(struct sweep *s, struct cmd_output *plot, struct page_file *page)
{
    struct sweep_outcome *outcomes = calloc(s->runs, sizeof *outcomes);
    if (!outcomes) return cmd_fail("sweep", "out of memory");
    int status = run_all(s, outcomes);
    if (!status) sweep_print(s, outcomes);
    if (!status && s->plot && s->begun == s->runs) sweep_plot(s, outcomes, plot->file);
    if (!status && s->page) {
        sweep_print_json(s, outcomes, page->json);
        status = page_write_printed(page, "sweep", s->program.run.program);
    }
    if (!status && s->program.limit) status = sweep_partial(s, outcomes) ? CMD_LIMIT : 0;
    free(outcomes);
    return status;
}

int cmd_sweep(int argc, char **argv)
{
    struct sweep s = {.program.machine = "bgp", .runs = 1};
    struct cmd_output plot = {0};
    struct page_file page = {0};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    s.jobs = processors > 0 && processors < SWEEP_JOBS_MAX ? (unsigned)processors : 1;
    int status = sweep_parse_options(argc, argv, &s);
    if (status) return status < 0 ? 0 : status;
    status = check_all(&s);
    if (!status && s.plot) status = cmd_output_open(&plot, "sweep", s.plot);
    if (!status) status = page_open(&page, "sweep", s.page);
    if (status) return status;
    status = run_and_print(&s, &plot, &page);
    page_abandon(&page);
    int written = s.plot ? cmd_output_close(&plot, s.begun == s.runs) : 0;
    return status ? status : written;
}
