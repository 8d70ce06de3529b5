/* chiliad serve: the page over the results of a folder, and over a program while it runs.
 *
 *     $ chiliad serve -- ./cg
 *     chiliad serve: open http://127.0.0.1:40123/#token=0f1e... ; Ctrl-C ends
 *
 * Only this host can connect, and only with the token, which is another one each time. The program
 * has the standard streams, and counts the same as without watchers: serve_live.c. HTTP is in
 * serve_http.c, what is served in serve_results.c.
 */
#include "cmd/serve.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { PORT_MAX = 65535, SUMS_ABOVE = 20000000 };

#define EVERY_DEFAULT UINT64_C(100000)
#define EVERY_MAX     UINT64_C(1000000000000)

struct serve_options {
    struct cmd_program program;
    uint64_t port, every, sums_above;
    bool open_metrics, paused, ends;
    const char *url;
};

static const struct option_row option_rows[] = {
    {"port", 0, "N", "listen on this port of 127.0.0.1 (default: any that is free)",
     OPTION_SET_NUMBER(struct serve_options, port, 1, PORT_MAX)},
    {"url-file", 0, "FILE", "write the address, with the token, to FILE, which only you may read",
     OPTION_SET_FULL(struct serve_options, url)},
    {"metrics-open", 0, NULL, "/metrics needs no token",
     OPTION_SET_FLAG(struct serve_options, open_metrics)},
    {"paused", 0, NULL, "the program waits at its beginning until a watcher lets it go",
     OPTION_SET_FLAG(struct serve_options, paused)},
    {"sums-above", 0, "VALUES",
     "experiments with more values stay here; the page asks for sums (default 20000000)",
     OPTION_SET_NUMBER(struct serve_options, sums_above, 0, INT64_MAX)},
    {"every", 0, "CYCLES", "the program can pause at multiples of CYCLES (default 100000)",
     OPTION_SET_NUMBER(struct serve_options, every, 1, EVERY_MAX)},
    {"end", 0, NULL, "end with the program, instead of serving its counts until Ctrl-C",
     OPTION_SET_FLAG(struct serve_options, ends)},
};

const struct option_table cmd_serve_options = {
    .forms = {"[OPTIONS] [FILE|FOLDER]...", "[OPTIONS] -- PROGRAM [ARGUMENTS]"},
    .about = "Serves the page of 'chiliad page' to browsers on this host: over files and the "
             "results of a folder (default: the working directory), or over a program while it "
             "runs, with pause, step and stop. Counts are the same with and without watchers.",
    .groups = {OPTION_ROWS(option_rows),
               OPTION_ROWS_AT(cmd_program_rows, struct serve_options, program)},
    .ends_at_operand = true,
};

static void say(void *context, const char *line)
{
    char name[] = "serve";
    (void)context;
    cmd_program_say(name, line);
}

static void wait_for_signal(void)
{
    const struct timespec moment = {.tv_nsec = 50000000};
    while (!cmd_signal_caught())
        (void)nanosleep(&moment, NULL);
}

static int announce(const struct serve *serve, const char *path)
{
    char text[100 + SERVE_TOKEN];
    (void)snprintf(text, sizeof text, "http://127.0.0.1:%u/#token=%s", serve->port, serve->token);
    if (path) {
        struct cmd_output output;
        int status = cmd_output_open(&output, "serve", path);
        if (status) return status;
        bool good = fchmod(fileno(output.file), S_IRUSR | S_IWUSR) == 0 &&
                    fprintf(output.file, "%s\n", text) > 0;
        if ((status = cmd_output_close(&output, good))) return status;
    }
    (void)fprintf(stderr, "chiliad serve: open %s ; Ctrl-C ends\n", text);
    return 0;
}

/* --- Results --------------------------------------------------------------------------------- */

static int serve_files(struct serve *serve, const struct serve_options *o, int count, char **paths)
{
    const struct cmd_program *p = &o->program;
    int status = 0;
    if (o->paused || o->ends || o->every != EVERY_DEFAULT || p->machine || p->setting_count ||
        p->run.nodes || p->run.torus.size[0] || p->run.mode || p->run.mapping || p->run.sysroot ||
        p->run.root || p->run.writable_count || p->no_sandbox || p->env_count || p->env_host ||
        p->limit || p->run.engine)
        return cmd_fail("serve",
                        "these options want a program: chiliad serve [OPTIONS] -- PROGRAM");
    for (int i = 0; i < count && !status; i++)
        status = serve_results_add(serve->results, paths[i]);
    if (!count) status = serve_results_add(serve->results, ".");
    cmd_signals_catch();
    if (!status) status = serve_start(serve);
    if (!status) status = announce(serve, o->url);
    if (!status) wait_for_signal();
    serve_stop(serve);
    return status ? status : CMD_SIGNAL + cmd_signal_caught();
}

/* --- A program ------------------------------------------------------------------------------- */

static int run(struct serve *serve, struct serve_options *o)
{
    struct chil_error err = {0};
    struct chil_run *one = NULL;
    int status = announce(serve, o->url);
    if (status) return status;
    if (cmd_program_new(&o->program, &o->program.run, &one, &err))
        return cmd_fail_error("serve", &err);
    if (cmd_program_go(&o->program, one, &err)) {
        status = cmd_fail_error("serve", &err);
    } else {
        cmd_program_report(&o->program, "serve", one);
        status = cmd_program_status(one);
        serve_live_end(serve->live, one, o->program.partial);
        if (!o->ends && !cmd_signal_caught()) {
            (void)fprintf(stderr, "chiliad serve: the program has ended; Ctrl-C ends serving\n");
            wait_for_signal();
        }
    }
    serve_stop(serve);
    *serve = (struct serve){.results = serve->results};
    chil_run_free(one);
    return status;
}

static int serve_program(struct serve *serve, struct serve_options *o, int argc, char **argv)
{
    struct serve_live live;
    struct chil_machine *machine;
    int status = cmd_program_words(&o->program, "serve", argc, argv);
    if (!status) status = cmd_program_machine(&o->program, "serve", &machine);
    if (status) return status;
    status = serve_live_init(&live, &o->program, machine);
    live.records = o->program.run.nodes <= 1 && !o->program.run.torus.size[0];
    if (o->paused) live.pause_at = 0;
    o->program.run.record = live.records;
    o->program.run.pause = serve_live_pause;
    o->program.run.pause_cycles = o->every;
    o->program.run.context = &live;
    o->program.run.report = say;
    serve->live = &live;
    if (!status) status = serve_start(serve);
    if (!status) status = run(serve, o);
    serve_stop(serve);
    serve->live = NULL;
    o->program.run.context = NULL;
    serve_live_fini(&live);
    chil_machine_free(machine);
    return status;
}

/* Whether "--" stands before the operands: a program follows. */
static bool names_program(int argc, char **argv)
{
    return optind > 1 && optind < argc && strcmp(argv[optind - 1], "--") == 0;
}

int cmd_serve(int argc, char **argv)
{
    struct serve_options o = {.every = EVERY_DEFAULT, .sums_above = SUMS_ABOVE};
    int status = options_parse(&cmd_serve_options, &o, argc, argv);
    if (status) return status < 0 ? 0 : status;
    struct serve serve = {
        .results = serve_results_new(), .port = (unsigned)o.port, .open_metrics = o.open_metrics};
    if (!serve.results) return cmd_fail("serve", "out of memory");
    serve_results_keep_above(serve.results, (size_t)o.sums_above);
    if (names_program(argc, argv))
        status = serve_program(&serve, &o, argc, argv);
    else
        status = serve_files(&serve, &o, argc - optind, argv + optind);
    serve_results_free(serve.results);
    return status;
}
