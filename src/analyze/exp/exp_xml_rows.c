/* Builds metrics, regions and places from the fields that exp_xml_read.c collected.
 *
 * Metrics that are not plain sums of numbers (ghosts, derived ones, minima, histograms) are left
 * out; the attribute "chiliad:left out" names them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"

#include "analyze/exp/exp_xml.h"

static int int_field(struct xml_reader *r, enum xml_field field, int otherwise)
{
    int value;
    return r->field[field] && xml_int(r->field[field], &value) ? value : otherwise;
}

static const struct exp_dtype dtypes[] = {
    {"INT8", 1, EXP_SIGNED},
    {"UINT8", 1, EXP_UNSIGNED},
    {"CHAR", 1, EXP_SIGNED},
    {"UNSIGNED CHAR", 1, EXP_UNSIGNED},
    {"INT16", 2, EXP_SIGNED},
    {"UINT16", 2, EXP_UNSIGNED},
    {"SHORT INT", 2, EXP_SIGNED},
    {"UNSIGNED SHORT INT", 2, EXP_UNSIGNED},
    {"INT32", 4, EXP_SIGNED},
    {"UINT32", 4, EXP_UNSIGNED},
    {"INT", 4, EXP_SIGNED},
    {"UNSIGNED INT", 4, EXP_UNSIGNED},
    {"INT64", 8, EXP_SIGNED},
    {"INTEGER", 8, EXP_SIGNED},
    {"SIGNED INTEGER", 8, EXP_SIGNED},
    {"UINT64", 8, EXP_UNSIGNED},
    {"UNSIGNED INTEGER", 8, EXP_UNSIGNED},
    {"DOUBLE", 8, EXP_FLOAT},
    {"FLOAT", 8, EXP_FLOAT},
};

const struct exp_dtype *exp_dtype_find(const char *name)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].name, name) == 0) return &dtypes[i];
    return NULL;
}

static void skip_metric(struct xml_reader *r, const char *why)
{
    const char *name = xml_field(r, UNIQ_NAME);
    size_t size = strlen(name) + strlen(why) + 8;
    char *to = (char *)exp_bytes_add(&r->skipped, size);
    int length = snprintf(to, size, "%s%s (%s)", r->skipped.size > size ? "; " : "", name, why);
    r->skipped.size -= size - (size_t)length;
}

/* Why a metric cannot be taken, or NULL. */
static const char *why_not(const struct xml_reader *r)
{
    const char *type = xml_field(r, TYPE);
    if (strcmp(xml_field(r, VIZTYPE), "GHOST") == 0) return "a ghost";
    if (*type && strcmp(type, "EXCLUSIVE") != 0 && strcmp(type, "INCLUSIVE") != 0) return type;
    return exp_dtype_find(xml_field(r, DTYPE)) ? NULL : xml_field(r, DTYPE);
}

static enum chil_exp_origin origin_of(const char *val)
{
    if (strcmp(val, "COMPOSED") == 0) return CHIL_EXP_COMPOSED;
    return strcmp(val, "COMPUTED") == 0 ? CHIL_EXP_COMPUTED : CHIL_EXP_MEASURED;
}

/* Adds a metric. If its cleaned name exists already, as with A$ and A/, it gets a number. */
static int add_metric(struct xml_reader *r, const struct chil_exp_metric *metric)
{
    char name[256];
    struct chil_exp_metric again = *metric;
    int index = chil_exp_add_metric(r->doc->exp, metric);
    for (int number = 2; index < 0 && number < 10; number++) {
        (void)snprintf(name, sizeof name, "%.240s:%d", xml_field(r, UNIQ_NAME), number);
        again.name = name;
        index = chil_exp_add_metric(r->doc->exp, &again);
    }
    return index;
}

/* From the file's attributes, which come before the metrics:
 * "exactness=exact;derived=1;runs=3;low=1;high=2;formula=A + B". */
static void take_pedigree(struct xml_reader *r)
{
    static const struct {
        const char *key;
        enum xml_field field;
    } keys[] = {{"exactness", EXACTNESS}, {"derived", DERIVED}, {"runs", RUNS}, {"low", LOW},
                {"high", HIGH},           {"formula", FORMULA}};
    const char *name = xml_field(r, UNIQ_NAME);
    size_t size = sizeof EXP_PEDIGREE + strlen(name);
    char *key = arena_calloc(&r->arena, size, 1);
    (void)snprintf(key, size, EXP_PEDIGREE "%s", name);
    const char *text = chil_exp_attribute(r->doc->exp, key);
    char *rest = text ? arena_strdup(&r->arena, text) : NULL;
    while (rest && *rest) {
        char *value = strchr(rest, '='), *end = NULL;
        if (!value) return;
        *value++ = 0;
        bool last = strcmp(rest, "formula") == 0; /* with all that follows */
        if (!last && (end = strchr(value, ';'))) *end++ = 0;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (strcmp(rest, keys[i].key) == 0) xml_set_field(r, keys[i].field, value);
        rest = end;
    }
}

static void end_metric(struct xml_reader *r)
{
    struct cube_doc *doc = r->doc;
    const struct exp_dtype *dtype = exp_dtype_find(xml_field(r, DTYPE));
    const char *why = why_not(r);
    int id;
    if (why) {
        skip_metric(r, why);
        return;
    }
    if (!*xml_field(r, UNIQ_NAME) || !xml_int(xml_field(r, ID), &id)) {
        (void)xml_fail(r, "a metric wants an id and a <uniq_name>");
        return;
    }
    take_pedigree(r);
    const char *title = xml_field(r, DISP_NAME);
    bool partial = *title == '~' || strcmp(xml_field(r, PARTIAL), "1") == 0;
    struct chil_exp_metric metric = {.name = (char *)xml_field(r, UNIQ_NAME),
                                     .title = (char *)(title + (partial && *title == '~')),
                                     .unit = (char *)xml_field(r, UOM),
                                     .text = (char *)xml_field(r, DESCR),
                                     .formula = (char *)xml_field(r, FORMULA),
                                     .exactness = (char *)xml_field(r, EXACTNESS),
                                     .parent = -1,
                                     .kind = dtype->number == EXP_FLOAT ? CHIL_EXP_REAL
                                                                        : CHIL_EXP_COUNT,
                                     .origin = origin_of(xml_field(r, VAL)),
                                     .partial = partial,
                                     .derived = strcmp(xml_field(r, DERIVED), "1") == 0,
                                     .runs = (unsigned)int_field(r, RUNS, 1),
                                     .low = strtod(xml_field(r, LOW), NULL),
                                     .high = strtod(xml_field(r, HIGH), NULL)};
    if (int_field(r, RUNS, 1) < 1 || !isfinite(metric.low) || !isfinite(metric.high))
        metric.runs = 1;
    if (metric.runs == 1) metric.low = metric.high = 0;
    /* This metric's own frame is the innermost one still without an index, so the parent is found
     * above it. */
    metric.parent = xml_enclosing(r, METRIC);
    int index = add_metric(r, &metric);
    if (index < 0) {
        (void)xml_fail(r, "metric '%s' is there twice", xml_field(r, UNIQ_NAME));
        return;
    }
    for (size_t i = r->depth; i-- > 0;)
        if (r->frame[i].element == METRIC) {
            r->frame[i].index = index;
            break;
        }
    doc->metric = base_grow(doc->metric, &doc->metric_room, doc->metrics + 1, sizeof *doc->metric);
    exp_map_add(&doc->metric_ids, id, (int)doc->metrics);
    doc->metric[doc->metrics++] =
        (struct cube_metric){id, index, dtype, strcmp(xml_field(r, TYPE), "INCLUSIVE") == 0};
}

static void end_region(struct xml_reader *r)
{
    int id;
    struct chil_exp_region region = {(char *)xml_field(r, NAME), (char *)xml_field(r, MANGLED),
                                     (char *)xml_field(r, MOD),  int_field(r, BEGIN, -1),
                                     int_field(r, END, -1),      (char *)xml_field(r, PARADIGM),
                                     (char *)xml_field(r, ROLE)};
    if (!xml_int(xml_field(r, ID), &id))
        (void)xml_fail(r, "a region wants an id");
    else
        exp_map_add(&r->region_ids, id, chil_exp_add_region(r->doc->exp, &region));
}

static void end_place(struct xml_reader *r, enum xml_element element)
{
    static const enum xml_element above[] = {
        [SYSTEM_NODE] = SYSTEM_NODE, [GROUP] = SYSTEM_NODE, [LOCATION] = GROUP};
    struct xml_frame *frame = NULL;
    int id, parent = xml_enclosing(r, above[element]);
    for (size_t i = r->depth; i-- > 0 && !frame;)
        if (r->frame[i].element == element) frame = &r->frame[i];
    if (!frame) return;
    if (element == SYSTEM_NODE && r->drop_system) {
        r->drop_system = false;
        return;
    }
    bool inner = parent >= 0 || strcmp(xml_field(r, CLASS), "node") == 0;
    enum chil_exp_level level = element == LOCATION ? CHIL_EXP_THREAD
                                : element == GROUP  ? CHIL_EXP_PROCESS
                                : inner             ? CHIL_EXP_NODE
                                                    : CHIL_EXP_MACHINE;
    int rank = int_field(r, RANK, 0);
    if (!xml_int(xml_field(r, ID), &id)) {
        (void)xml_fail(r, "a place wants an Id");
        return;
    }
    frame->index =
        chil_exp_add_place(r->doc->exp, parent, level, xml_field(r, NAME), rank < 0 ? 0 : rank);
    if (frame->index < 0)
        (void)xml_fail(r, "%s is not inside %s",
                       element == LOCATION ? "a location" : "a location group",
                       element == LOCATION ? "a location group" : "a node");
    else if (element == LOCATION)
        exp_map_add(&r->doc->thread_ids, id, r->doc->exp->place[frame->index].thread);
    else if (element == GROUP)
        exp_map_add(&r->process_ids, id, frame->index);
}

void xml_end_pending(struct xml_reader *r)
{
    enum xml_element pending = r->pending;
    r->pending = OTHER;
    if (pending == METRIC) end_metric(r);
    if (pending == REGION) end_region(r);
    if (pending == SYSTEM_NODE || pending == GROUP || pending == LOCATION) end_place(r, pending);
}

void xml_set_field(struct xml_reader *r, enum xml_field field, const char *value)
{
    if (value) r->field[field] = name_printable(arena_strdup(&r->arena, value));
}

void xml_start_pending(struct xml_reader *r, enum xml_element element, const XML_Char **attributes)
{
    static const struct {
        const char *name;
        enum xml_field field;
    } names[] = {{"id", ID},   {"Id", ID},       {"type", TYPE}, {"viztype", VIZTYPE},
                 {"mod", MOD}, {"begin", BEGIN}, {"end", END}};
    arena_fini(&r->arena);
    arena_init(&r->arena);
    memset(r->field, 0, sizeof r->field);
    r->pending = element;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        xml_set_field(r, names[i].field, xml_attribute(attributes, names[i].name));
}
