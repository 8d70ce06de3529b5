/* How commands run a program: SIGINT and SIGTERM end the run as its end does, and what was counted
 * until then is printed, marked partial; a second signal ends the command at once. --limit ends a
 * run at a simulated time or number of instructions. On a terminal, a run of more than two seconds
 * shows its progress:
 *
 *     chiliad stat: 1.305 s simulated, 182.4 million instructions a second
 *     0.013 s simulated, 182.4 million instructions/s, 40 of 64 nodes wait
 *
 * The handler of a signal notes its number; the run asks for it every few milliseconds, and while
 * the program waits for input.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"

static volatile sig_atomic_t caught; /* allowed: a handler of a signal has no other place */

enum { FIRST_PROGRESS = 2000, NEXT_PROGRESS = 500 }; /* milliseconds */

/* --- Signals --------------------------------------------------------------------------------- */

static void note(int number)
{
    caught = number;
}

/* Not where they are ignored, as under nohup. */
static void catch (int number)
{
    struct sigaction old, action = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND};
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        (void)sigaction(number, &action, NULL);
}

void cmd_signals_catch(void)
{
    catch (SIGINT);
    catch (SIGTERM);
}

int cmd_signal_caught(void)
{
    return caught;
}

void cmd_signals_end(void)
{
    if (!caught) return;
    (void)fflush(NULL);
    (void)signal(caught, SIG_DFL);
    (void)raise(caught);
}

/* --- Limits ---------------------------------------------------------------------------------- */

struct unit {
    const char *name;
    enum { CYCLES, INSTRUCTIONS, SECONDS } of;
    double factor;
};

static const struct unit *find_unit(const char *name)
{
    static const struct unit units[] = {{"c", CYCLES, 1},
                                        {"cycles", CYCLES, 1},
                                        {"i", INSTRUCTIONS, 1},
                                        {"s", SECONDS, 1},
                                        {"ms", SECONDS, 1e-3},
                                        {"us", SECONDS, 1e-6},
                                        {"instructions", INSTRUCTIONS, 1}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].name, name) == 0) return &units[i];
    return NULL;
}

static double prefix(char letter)
{
    switch (letter) {
    case 'k':
    case 'K': return 1e3;
    case 'M': return 1e6;
    case 'G': return 1e9;
    case 'T': return 1e12;
    default: return 0;
    }
}

bool cmd_limit_has_unit(const char *text)
{
    return *text >= '0' && *text <= '9' && !strchr("0123456789", text[strlen(text) - 1]);
}

int cmd_take_limit(void *options, const char *command, char *value)
{
    struct cmd_program *p = options;
    char *end;
    double amount = *value >= '0' && *value <= '9' ? strtod(value, &end) : (end = value, 0);
    const struct unit *unit = find_unit(end);
    if (!unit && prefix(*end) != 0) {
        amount *= prefix(*end);
        unit = find_unit(end + 1);
    }
    if (!unit)
        return cmd_fail(command,
                        "--limit wants an amount and a unit, as 500Mc (cycles), 2Gi (instructions) "
                        "or 0.1s (simulated seconds), not '%s'",
                        value);
    amount *= unit->factor;
    if (!(amount > 0) || (unit->of != SECONDS && amount < 1) || amount >= 0x1p62)
        return cmd_fail(command, "--limit: '%s' is no amount that can be reached", value);
    if (unit->of == CYCLES) p->run.limit_cycles = (uint64_t)amount;
    if (unit->of == INSTRUCTIONS) p->run.limit_instructions = (uint64_t)amount;
    if (unit->of == SECONDS) p->limit_seconds = amount;
    p->limit = value;
    return 0;
}

/* Seconds become cycles when the machine is known; the earlier of two limits holds. */
static int set_limit(struct cmd_program *p, const char *command)
{
    uint64_t mhz;
    if (!(p->limit_seconds > 0)) return 0;
    if (chil_machine_number(p->run.machine, "machine.clock_mhz", &mhz))
        return cmd_fail(command, "--limit in seconds: '%s' has no machine.clock_mhz",
                        chil_machine_name(p->run.machine));
    double cycles = ceil(p->limit_seconds * (double)mhz * 1e6);
    if (cycles >= 0x1p62)
        return cmd_fail(command, "--limit: '%s' is no amount that can be reached", p->limit);
    if (!p->run.limit_cycles || cycles < (double)p->run.limit_cycles)
        p->run.limit_cycles = (uint64_t)cycles;
    return 0;
}

/* --- Progress -------------------------------------------------------------------------------- */

static int64_t milliseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* allowed: the user's clock, in no result */
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void erase(void *context)
{
    struct cmd_progress *progress = context;
    if (!progress->shown) return;
    progress->shown = false;
    (void)fputs("\r\033[K", stderr);
}

static void show(struct cmd_progress *progress, const struct chil_run *run, int64_t now)
{
    uint64_t cycles, instructions;
    chil_run_progress(run, &cycles, &instructions);
    double rate = (double)(instructions - progress->instructions) / (double)(now - progress->last);
    erase(progress);
    if (chil_run_nodes(run) > 1)
        (void)fprintf(stderr, "%.3f s simulated, %.1f million instructions/s, %u of %u nodes wait",
                      (double)cycles / progress->clock_hz, rate / 1e3, chil_run_waiting(run),
                      chil_run_nodes(run));
    else
        (void)fprintf(stderr, "chiliad %s: %.3f s simulated, %.1f million instructions a second",
                      progress->command, (double)cycles / progress->clock_hz, rate / 1e3);
    progress->shown = true;
    progress->instructions = instructions;
    progress->last = now;
    progress->next = now + NEXT_PROGRESS;
}

static bool go_on(void *context, struct chil_run *run)
{
    struct cmd_progress *progress = context;
    int64_t now = progress->terminal ? milliseconds() : 0;
    if (progress->terminal && now >= progress->next) show(progress, run, now);
    return !caught;
}

/* --- The run --------------------------------------------------------------------------------- */

int cmd_program_prepare(struct cmd_program *p, const char *command)
{
    uint64_t mhz = 850;
    (void)chil_machine_number(p->run.machine, "machine.clock_mhz", &mhz);
    p->progress = (struct cmd_progress){
        .command = command, .clock_hz = (double)mhz * 1e6, .terminal = isatty(STDERR_FILENO)};
    p->host = (struct chil_run_host){.go_on = go_on, .writes = erase, .context = &p->progress};
    p->run.host = &p->host;
    return set_limit(p, command);
}

int cmd_program_go(struct cmd_program *p, struct chil_run *run, struct chil_error *err)
{
    struct cmd_progress *progress = &p->progress;
    progress->instructions = 0;
    progress->last = progress->terminal ? milliseconds() : 0;
    progress->next = progress->last + FIRST_PROGRESS;
    cmd_signals_catch();
    int status = chil_run_go(run, err);
    erase(progress);
    p->partial = NULL;
    if (status || !chil_run_was_stopped(run)) return status;
    if (chil_run_end(run) == CHIL_RUN_LIMIT) {
        (void)snprintf(p->partial_text, sizeof p->partial_text, "stopped by --limit %.60s",
                       p->limit);
    } else if (caught) {
        (void)snprintf(p->partial_text, sizeof p->partial_text, "stopped by SIG%s",
                       sigabbrev_np(caught));
    } else {
        return 0; /* by the command itself */
    }
    p->partial = p->partial_text;
    return 0;
}

int cmd_program_status(const struct chil_run *run)
{
    if (!chil_run_was_stopped(run)) return chil_run_status(run);
    if (chil_run_end(run) == CHIL_RUN_LIMIT) return CMD_LIMIT;
    return caught ? CMD_SIGNAL + caught : 0;
}
