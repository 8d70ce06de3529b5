/* Reads an event file and checks what concerns more than one row.
 *
 * Ids are unique, and on a hybrid unit all of 0 .. counters x inputs - 1 are there, since an id is
 * a counter and an input. Names are unique but for reserved rows. No two events share a place on a
 * grouped unit.
 */
#include "catalog/catalog.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct rows {
    struct catalog_row *row;
    size_t count, capacity;
};

static int compare_lines(const struct catalog_row *a, const struct catalog_row *b)
{
    return (a->line > b->line) - (a->line < b->line);
}

static int by_id(const void *a, const void *b)
{
    const struct catalog_row *x = a, *y = b;
    if (x->event.id != y->event.id) return x->event.id < y->event.id ? -1 : 1;
    return compare_lines(x, y);
}

static int by_name(const void *a, const void *b)
{
    const struct catalog_row *x = a, *y = b;
    int order = strcmp(x->event.name, y->event.name);
    return order ? order : compare_lines(x, y);
}

static int check_names(struct rows *rows, struct text_file *file, struct chil_error *err)
{
    assert(rows->row);
    qsort(rows->row, rows->count, sizeof *rows->row, by_name);
    for (size_t i = 1; i < rows->count; i++) {
        const struct catalog_row *row = &rows->row[i];
        if (row->event.reserved || strcmp(row->event.name, row[-1].event.name) != 0) continue;
        file->line = row->line;
        return text_error(file, err, "name '%s' is used again; line %u has it", row->event.name,
                          row[-1].line);
    }
    return 0;
}

static int check_ids(struct rows *rows, const struct chil_machine *machine, struct text_file *file,
                     struct chil_error *err)
{
    uint64_t wanted = machine ? catalog_value_number(machine, "upc.counters") *
                                    catalog_value_number(machine, "upc.inputs")
                              : 0;
    assert(rows->row);
    qsort(rows->row, rows->count, sizeof *rows->row, by_id);
    for (size_t i = 1; i < rows->count; i++) {
        const struct catalog_row *row = &rows->row[i];
        if (row->event.id != row[-1].event.id) continue;
        file->line = row->line;
        return text_error(file, err, "id %u is used again; line %u has it", row->event.id,
                          row[-1].line);
    }
    for (size_t i = 0; i < wanted; i++) {
        if (i < rows->count && rows->row[i].event.id == i) continue;
        if (i < rows->count) file->line = rows->row[i].line;
        return text_error(file, err, "id %zu is missing; %llu counters x inputs need 0 to %llu", i,
                          (unsigned long long)wanted, (unsigned long long)wanted - 1);
    }
    return 0;
}

static size_t place_index(const struct chil_placement *placement)
{
    size_t counter = 0;
    while (strcmp(catalog_counters[counter].name, placement->counter) != 0)
        counter++;
    return (placement->group * (size_t)CATALOG_COUNTERS + counter) * CATALOG_CODES +
           placement->code;
}

static int check_places(const struct rows *rows, const struct chil_machine *machine,
                        struct text_file *file, struct chil_error *err)
{
    size_t groups = catalog_value_number(machine, "upc.groups") +
                    catalog_value_number(machine, "upc.fpu_counters") / 2;
    unsigned *lines = base_calloc(groups * CATALOG_COUNTERS * CATALOG_CODES, sizeof *lines);
    int status = 0;
    for (size_t i = 0; !status && i < rows->count; i++) {
        const struct chil_event *event = &rows->row[i].event;
        for (size_t k = 0; !status && k < event->placement_count; k++) {
            const struct chil_placement *at = &event->placements[k];
            unsigned *line = &lines[place_index(at)];
            file->line = rows->row[i].line;
            if (*line)
                status = text_error(file, err, "placement %u:%s:%u is used again; line %u has it",
                                    at->group, at->counter, at->code, *line);
            *line = rows->row[i].line;
        }
    }
    free(lines);
    return status;
}

static int read_rows(struct rows *rows, struct chil_machine *machine, struct text_file *file,
                     struct chil_error *err)
{
    const struct catalog_columns *columns;
    int status = catalog_columns_read(machine, file, &columns, err);
    if (status) return status;
    for (char *line; (line = text_next_line(file));) {
        rows->row = base_grow(rows->row, &rows->capacity, rows->count + 1, sizeof *rows->row);
        status = catalog_row_read(machine, columns, file, line, &rows->row[rows->count++], err);
        if (status) return status;
    }
    if (!rows->count)
        return text_error(file, err, "no rows after the columns; a machine has events");
    return 0;
}

static void keep_rows(struct chil_machine *machine, const struct rows *rows, bool simulator)
{
    struct chil_event *events = arena_calloc(&machine->arena, rows->count, sizeof *events);
    for (size_t i = 0; i < rows->count; i++) {
        events[i] = rows->row[i].event;
        events[i].simulator = simulator;
    }
    *(simulator ? &machine->own : &machine->events) = events;
    *(simulator ? &machine->own_count : &machine->event_count) = rows->count;
}

int catalog_events_read(struct chil_machine *machine, const char *path, bool simulator,
                        struct chil_error *err)
{
    struct rows rows = {0};
    struct text_file file;
    int status = text_file_open_named(&file, path, err);
    if (status) return status;
    status = read_rows(&rows, machine, &file, err);
    if (!status) status = check_names(&rows, &file, err);
    if (!status) status = check_places(&rows, machine, &file, err);
    if (!status)
        status = check_ids(&rows, simulator ? NULL : machine, &file,
                           err); /* and leaves them ordered by id */
    if (!status) keep_rows(machine, &rows, simulator);
    free(rows.row);
    text_file_close(&file);
    return status;
}
