/* Views as JSON: an array with an object a row, with every value at full precision. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "view/view_impl.h"

json_t *view_json_text(const char *text)
{
    json_t *value = json_string(text);
    return value ? value : json_string("?");
}

json_t *view_json_count(uint64_t value)
{
    char text[24];
    if (value <= INT64_MAX) return json_integer((json_int_t)value);
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    return json_string(text);
}

json_t *view_json_value(double value, bool whole)
{
    return whole && fabs(value) < 0x1p63 ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *cell_json(const struct view_column *column, const struct view_cell *cell)
{
    switch (cell->kind) {
    case VIEW_TEXT: return view_json_text(cell->text);
    case VIEW_COUNT: return view_json_count(cell->count);
    case VIEW_INTEGER: return json_integer((json_int_t)cell->integer);
    case VIEW_REAL: return json_real(cell->real);
    case VIEW_TRUTH: return json_boolean(cell->truth);
    default: return column->null ? json_null() : NULL;
    }
}

/* The object or array of that name within a row; made when it is not there. */
static json_t *member(json_t *row, const char *name, bool list)
{
    json_t *inner = json_object_get(row, name);
    if (inner) return inner;
    inner = list ? json_array() : json_object();
    (void)json_object_set_new(row, name, inner);
    return inner;
}

json_t *view_json(const struct view *view)
{
    json_t *rows = json_array();
    for (size_t r = 0; r < view->rows; r++) {
        json_t *row = json_object();
        for (size_t c = 0; c < view->columns; c++) {
            const struct view_column *column = &view->column[c];
            if (!view_shows(column, VIEW_IN_JSON)) continue;
            json_t *value = cell_json(column, &view->cell[r * view->columns + c]);
            if (!value) continue;
            if (column->list)
                (void)json_array_append_new(member(row, column->list, true), value);
            else
                (void)json_object_set_new(column->object ? member(row, column->object, false) : row,
                                          column->key ? column->key : column->title, value);
        }
        (void)json_array_append_new(rows, row);
    }
    return rows;
}

/* Jansson hands over a word at a time. Output to stderr has no buffer, so words are collected. */
struct collected {
    FILE *out;
    size_t used;
    char bytes[1 << 14];
};

static bool flush(struct collected *c)
{
    bool good = fwrite(c->bytes, 1, c->used, c->out) == c->used;
    c->used = 0;
    return good;
}

static int collect(const char *bytes, size_t count, void *context)
{
    struct collected *c = context;
    if (count > sizeof c->bytes - c->used && !flush(c)) return -1;
    if (count > sizeof c->bytes) return fwrite(bytes, 1, count, c->out) == count ? 0 : -1;
    memcpy(c->bytes + c->used, bytes, count);
    c->used += count;
    return 0;
}

bool view_json_write(json_t *document, FILE *out, size_t flags)
{
    struct collected c = {.out = out};
    bool good = json_dump_callback(document, collect, &c, flags) == 0 && collect("\n", 1, &c) == 0;
    good = flush(&c) && good;
    json_decref(document);
    return good;
}
