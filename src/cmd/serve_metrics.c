/* The run as OpenMetrics 1.0, or as the text format 0.0.4 that came before it.
 *
 * One family has all events, with the event as a label, so that names stay what they are. Simulated
 * time is a gauge: as a timestamp it would be mistaken for the host's. Values above 2^53 lose
 * digits in Prometheus, not here.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/serve.h"

/* A label's value: backslashes, quotes and line ends are escaped; other control characters, which
 * no name of an event has, become blanks. */
static void write_value(FILE *out, const char *text)
{
    for (; text && *text; text++) {
        if (*text == '\\' || *text == '"')
            (void)fprintf(out, "\\%c", *text);
        else if (*text == '\n')
            (void)fputs("\\n", out);
        else
            (void)fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

struct writer {
    FILE *out;
    bool open; /* OpenMetrics */
};

static void begin(const struct writer *w, const char *name, const char *type, const char *unit,
                  const char *help)
{
    bool counter = strcmp(type, "counter") == 0, info = strcmp(type, "info") == 0;
    const char *suffix = w->open ? "" : counter ? "_total" : info ? "_info" : "";
    (void)fprintf(w->out, "# TYPE %s%s %s\n", name, suffix, info && !w->open ? "gauge" : type);
    if (unit && w->open) (void)fprintf(w->out, "# UNIT %s %s\n", name, unit);
    (void)fprintf(w->out, "# HELP %s%s %s\n", name, suffix, help);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static json_int_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void write_run(const struct writer *w, const json_t *counts, enum serve_state state)
{
    begin(w, "chiliad_run", "info", NULL, "The program and the machine.");
    (void)fputs("chiliad_run_info{machine=\"", w->out);
    write_value(w->out, text_of(counts, "machine"));
    (void)fputs("\",program=\"", w->out);
    write_value(w->out, text_of(counts, "program"));
    (void)fputs("\"} 1\n", w->out);
    begin(w, "chiliad_running", "gauge", NULL,
          "1 while the program runs, 0 when it is paused or has ended.");
    (void)fprintf(w->out, "chiliad_running %d\n", state == SERVE_RUNNING);
    begin(w, "chiliad_ended", "gauge", NULL, "1 when the program has ended.");
    (void)fprintf(w->out, "chiliad_ended %d\n", state == SERVE_ENDED);
    begin(w, "chiliad_simulated_seconds", "gauge", "seconds", "Simulated time.");
    (void)fprintf(w->out, "chiliad_simulated_seconds %.17g\n",
                  json_real_value(json_object_get(counts, "seconds")));
    begin(w, "chiliad_cycles", "counter", NULL, "Simulated cycles.");
    (void)fprintf(w->out, "chiliad_cycles_total %" JSON_INTEGER_FORMAT "\n",
                  number_of(counts, "cycles"));
    begin(w, "chiliad_instructions", "counter", NULL, "Instructions completed on all cores.");
    (void)fprintf(w->out, "chiliad_instructions_total %" JSON_INTEGER_FORMAT "\n",
                  number_of(counts, "instructions"));
}

static void write_events(const struct writer *w, const json_t *counts)
{
    json_t *rows = json_object_get(counts, "counters"), *row, *value;
    size_t i, core;
    begin(w, "chiliad_events", "counter", NULL, "What an event counted; those of 0 are left out.");
    json_array_foreach(rows, i, row)
    {
        (void)fputs("chiliad_events_total{event=\"", w->out);
        write_value(w->out, text_of(row, "name"));
        (void)fputs("\",exactness=\"", w->out);
        write_value(w->out, text_of(row, "exactness"));
        (void)fprintf(w->out, "\"} %" JSON_INTEGER_FORMAT "\n", number_of(row, "value"));
    }
    begin(w, "chiliad_core_events", "counter", NULL, "What an event counted on a core.");
    json_array_foreach(rows, i, row)
    {
        json_array_foreach(json_object_get(row, "cores"), core, value)
        {
            if (!json_integer_value(value)) continue;
            (void)fputs("chiliad_core_events_total{event=\"", w->out);
            write_value(w->out, text_of(row, "name"));
            (void)fprintf(w->out, "\",core=\"%zu\"} %" JSON_INTEGER_FORMAT "\n", core,
                          json_integer_value(value));
        }
    }
}

struct serve_bytes *serve_metrics(struct serve *serve, bool is_openmetrics)
{
    char *text = NULL;
    size_t size = 0;
    struct writer w = {.out = open_memstream(&text, &size), .open = is_openmetrics};
    if (!w.out) return NULL;
    begin(&w, "chiliad_results", "gauge", NULL, "Files that are served.");
    (void)fprintf(w.out, "chiliad_results %zu\n", serve_results_count(serve->results));
    struct serve_live *live = serve->live;
    if (live) {
        (void)pthread_mutex_lock(&live->lock);
        json_t *counts = live->counts ? json_deep_copy(live->counts) : NULL;
        enum serve_state state = live->state;
        (void)pthread_mutex_unlock(&live->lock);
        if (counts) {
            write_run(&w, counts, state);
            write_events(&w, counts);
        }
        json_decref(counts);
    }
    if (w.open) (void)fputs("# EOF\n", w.out);
    bool good = fclose(w.out) == 0;
    struct serve_bytes *bytes = good ? serve_bytes_new(text, size) : NULL;
    free(text);
    return bytes;
}
