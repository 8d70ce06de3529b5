/* Counts of several nodes: least, mean and most with the coordinates of the node, and JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/stat.h"

void stat_spread(const struct stat_shown *shown, const struct chil_event *event,
                 struct stat_spread *spread)
{
    unsigned nodes = chil_run_nodes(shown->run);
    double sum = 0;
    *spread = (struct stat_spread){.least = UINT64_MAX};
    for (unsigned i = 0; i < nodes; i++) {
        uint64_t count = chil_run_node_count(shown->run, i, event);
        sum += (double)count;
        if (count < spread->least) {
            spread->least = count;
            spread->least_node = i;
        }
        if (count > spread->most) {
            spread->most = count;
            spread->most_node = i;
        }
    }
    spread->mean = sum / nodes;
}

const char *stat_place(const struct chil_run *run, unsigned node, char text[STAT_PLACE])
{
    unsigned at[3];
    chil_run_coordinates(run, node, at);
    (void)snprintf(text, STAT_PLACE, "(%u,%u,%u)", at[0], at[1], at[2]);
    return text;
}

const char *stat_shape(const struct chil_run *run, char text[STAT_PLACE])
{
    struct chil_torus torus = chil_run_torus(run);
    (void)snprintf(text, STAT_PLACE, "%u nodes (%u%sx%u%sx%u%s)", chil_run_nodes(run),
                   torus.size[0], torus.mesh[0] ? "m" : "", torus.size[1], torus.mesh[1] ? "m" : "",
                   torus.size[2], torus.mesh[2] ? "m" : "");
    return text;
}

/* ---- the table ---- */

enum { TOTAL, LEAST, LEAST_AT, MEAN, MOST, MOST_AT, NAME, COLUMNS };

void stat_print_spreads(FILE *out, const struct stat_shown *shown)
{
    static const struct view_column column[COLUMNS] = {
        [TOTAL] = {.title = "total", .least = 18, .none = "-"},
        [LEAST] = {.title = "min", .least = 14, .none = "-"},
        [LEAST_AT] = {.title = "at", .left = true},
        [MEAN] = {.title = "mean", .least = 14, .real = "%.1f", .none = "-"},
        [MOST] = {.title = "max", .least = 14, .none = "-"},
        [MOST_AT] = {.title = "at", .left = true},
        [NAME] = {.title = "event", .left = true},
    };
    struct view view;
    view_init(&view, column, COLUMNS);
    for (size_t i = 0; i < shown->chosen->count; i++) {
        const struct chil_event *event = shown->chosen->events[i];
        struct view_cell *cell = view_row(&view);
        struct stat_spread spread;
        char place[STAT_PLACE];
        cell[NAME] = view_text(event->name);
        if (event->exactness == CHIL_NONE) continue;
        stat_spread(shown, event, &spread);
        cell[TOTAL] = stat_count_cell(shown, STAT_TOTAL, event);
        cell[LEAST] = view_count(spread.least);
        cell[LEAST_AT] = view_copy(&view, stat_place(shown->run, spread.least_node, place));
        cell[MEAN] = view_real(spread.mean);
        cell[MOST] = view_count(spread.most);
        cell[MOST_AT] = view_copy(&view, stat_place(shown->run, spread.most_node, place));
    }
    view_table(&view, out, &(struct view_table_style){.heading = true});
    view_fini(&view);
}

/* ---- JSON ---- */

void stat_json_event(const struct stat_shown *shown, const struct chil_event *event, json_t *row)
{
    struct stat_spread spread;
    json_t *nodes = json_array();
    stat_spread(shown, event, &spread);
    for (unsigned i = 0; i < chil_run_nodes(shown->run); i++)
        (void)json_array_append_new(nodes,
                                    view_json_count(chil_run_node_count(shown->run, i, event)));
    (void)json_object_set_new(row, "min", view_json_count(spread.least));
    (void)json_object_set_new(row, "min_node", json_integer(spread.least_node));
    (void)json_object_set_new(row, "mean", json_real(spread.mean));
    (void)json_object_set_new(row, "max", view_json_count(spread.most));
    (void)json_object_set_new(row, "max_node", json_integer(spread.most_node));
    (void)json_object_set_new(row, "nodes", nodes);
}

static json_t *json_node(const struct chil_run *run, unsigned node)
{
    unsigned at[3];
    chil_run_coordinates(run, node, at);
    return json_pack("{s:[i,i,i], s:i, s:o, s:o}", "at", (int)at[0], (int)at[1], (int)at[2],
                     "exit_status", chil_run_node_status(run, node), "cycles",
                     view_json_count(chil_run_node_cycles(run, node)), "instructions",
                     view_json_count(chil_run_node_instructions(run, node)));
}

void stat_json_nodes(const struct stat_shown *shown, json_t *json)
{
    struct chil_torus t = chil_run_torus(shown->run);
    json_t *nodes = json_array();
    for (unsigned i = 0; i < chil_run_nodes(shown->run); i++)
        (void)json_array_append_new(nodes, json_node(shown->run, i));
    (void)json_object_set_new(json, "torus",
                              json_pack("[i,i,i]", (int)t.size[0], (int)t.size[1], (int)t.size[2]));
    (void)json_object_set_new(json, "mesh", json_pack("[b,b,b]", t.mesh[0], t.mesh[1], t.mesh[2]));
    (void)json_object_set_new(json, "failed_node", json_integer(chil_run_failed_node(shown->run)));
    (void)json_object_set_new(json, "nodes", nodes);
}
