/* Reads the XML of CUBE files by anybody: anchor.xml of CUBE 4, and CUBE 3 with its severities.
 *
 * expat calls back for each element. What belongs to one metric, region or place comes as small elements after its
 * start, so these are collected in `pending` until a child of the same sort or the end shows that it is whole; the
 * table `elements` says what each name is. Anything unknown is passed over. Metrics that are not plain sums of numbers
 * (ghosts, derived ones, minima, histograms) are left out, and an attribute says which.
 */
#include "exp/exp_cube.h"

#include <expat.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum field {
    DISP_NAME,
    UNIQ_NAME,
    DTYPE,
    UOM,
    VAL,
    DESCR,
    NAME,
    MANGLED,
    PARADIGM,
    ROLE,
    RANK,
    CLASS, /* texts of elements */
    ID,
    TYPE,
    VIZTYPE,
    MOD,
    BEGIN,
    END,
    FORMULA,
    EXACTNESS,
    PARTIAL,
    RUNS,
    LOW,
    HIGH, /* from attributes */
    FIELDS
};
enum element {
    OTHER,
    CUBE,
    ATTR,
    METRIC,
    REGION,
    CNODE,
    SYSTEM_NODE,
    GROUP,
    LOCATION,
    CART,
    DIM,
    COORD,
    MATRIX,
    ROW,
    LEAF
};

static const struct {
    const char *name;
    enum element element;
    enum field field; /* of a leaf */
} elements[] = {
    {"attr", ATTR, 0},
    {"metric", METRIC, 0},
    {"disp_name", LEAF, DISP_NAME},
    {"uniq_name", LEAF, UNIQ_NAME},
    {"dtype", LEAF, DTYPE},
    {"uom", LEAF, UOM},
    {"val", LEAF, VAL},
    {"descr", LEAF, DESCR},
    {"region", REGION, 0},
    {"name", LEAF, NAME},
    {"mangled_name", LEAF, MANGLED},
    {"paradigm", LEAF, PARADIGM},
    {"role", LEAF, ROLE},
    {"cnode", CNODE, 0},
    {"location", LOCATION, 0},
    {"rank", LEAF, RANK},
    {"class", LEAF, CLASS},
    {"locationgroup", GROUP, 0},
    {"systemtreenode", SYSTEM_NODE, 0},
    {"machine", SYSTEM_NODE, 0},
    {"node", SYSTEM_NODE, 0},
    {"process", GROUP, 0},
    {"thread", LOCATION, 0},
    {"cart", CART, 0},
    {"dim", DIM, 0},
    {"coord", COORD, 0},
    {"matrix", MATRIX, 0},
    {"row", ROW, 0},
    {"cube", CUBE, 0},
};

enum { DEPTH_MAX = 1 << 17 };

struct frame {
    enum element element;
    enum field field;
    int index; /* of what it made: metric, node, place; else -1 */
};

struct reader {
    struct cube_doc *doc;
    XML_Parser parser;
    struct chil_error *err;
    int status;
    struct frame *frame;
    size_t depth, frame_room;
    char *text; /* of the innermost element */
    size_t text_size, text_room;
    enum element pending; /* of which fields are collected; OTHER: nothing */
    struct arena arena;   /* what is pending */
    const char *field[FIELDS];
    struct exp_map region_ids, process_ids;
    bool drop_call, drop_system; /* roots that only the file has, until they were met */
    struct chil_exp_topology topology;
    unsigned dims;
    int coordinate_of; /* thread or process place; -1: nobody */
    int matrix, row;   /* CUBE 3: which cube_metric, which node */
    struct exp_bytes skipped;
};

static int fail(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(struct reader *r, const char *format, ...)
{
    char text[300];
    va_list args;
    if (r->status) return r->status;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ') *at = ' '; /* names may have line ends */
    r->status = chil_error_set(r->err, CHIL_EPARSE, "%s:%lu: %s", r->doc->name,
                               (unsigned long)XML_GetCurrentLineNumber(r->parser), text);
    (void)XML_StopParser(r->parser, XML_FALSE);
    return r->status;
}

static const char *field_of(const struct reader *r, enum field field)
{
    return r->field[field] ? r->field[field] : "";
}

static bool to_int(const char *text, int *value)
{
    char *end;
    long number = strtol(text, &end, 10);
    *value = (int)number;
    return end != text && !*end && number >= INT32_MIN && number <= INT32_MAX;
}

static int int_field(struct reader *r, enum field field, int otherwise)
{
    int value;
    return r->field[field] && to_int(r->field[field], &value) ? value : otherwise;
}

static const char *attribute_of(const XML_Char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0) return attributes[1];
    return NULL;
}

/* The index of the innermost open element of a sort; -1: none, or it was left out. */
static int enclosing(const struct reader *r, enum element element)
{
    for (size_t i = r->depth; i-- > 0;)
        if (r->frame[i].element == element && r->frame[i].index != -1) return r->frame[i].index;
    return -1;
}

/* --- What is collected becomes a row -------------------------------------------------------------------------------
 */

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

static void skip_metric(struct reader *r, const char *why)
{
    const char *name = field_of(r, UNIQ_NAME);
    size_t size = strlen(name) + strlen(why) + 8;
    char *to = (char *)exp_bytes_add(&r->skipped, size);
    int length = snprintf(to, size, "%s%s (%s)", r->skipped.size > size ? "; " : "", name, why);
    r->skipped.size -= size - (size_t)length;
}

/* Why a metric cannot be taken, or NULL. */
static const char *why_not(const struct reader *r)
{
    const char *type = field_of(r, TYPE);
    if (strcmp(field_of(r, VIZTYPE), "GHOST") == 0) return "a ghost";
    if (*type && strcmp(type, "EXCLUSIVE") != 0 && strcmp(type, "INCLUSIVE") != 0) return type;
    return exp_dtype_find(field_of(r, DTYPE)) ? NULL : field_of(r, DTYPE);
}

static enum chil_exp_origin origin_of(const char *val)
{
    if (strcmp(val, "COMPOSED") == 0) return CHIL_EXP_COMPOSED;
    return strcmp(val, "COMPUTED") == 0 ? CHIL_EXP_COMPUTED : CHIL_EXP_MEASURED;
}

/* Adds a metric; one whose name becomes another's, as A$ and A/ do, gets a number. */
static int add_metric(struct reader *r, struct chil_exp_metric *metric)
{
    char name[256];
    int index = chil_exp_add_metric(r->doc->exp, metric);
    for (int number = 2; index < 0 && number < 10; number++) {
        (void)snprintf(name, sizeof name, "%.240s:%d", field_of(r, UNIQ_NAME), number);
        metric->name = name;
        index = chil_exp_add_metric(r->doc->exp, metric);
    }
    return index;
}

static void end_metric(struct reader *r)
{
    struct cube_doc *doc = r->doc;
    const struct exp_dtype *dtype = exp_dtype_find(field_of(r, DTYPE));
    const char *why = why_not(r);
    int id;
    if (why) {
        skip_metric(r, why);
        return;
    }
    if (!*field_of(r, UNIQ_NAME) || !to_int(field_of(r, ID), &id)) {
        (void)fail(r, "a metric wants an id and a <uniq_name>");
        return;
    }
    const char *title = field_of(r, DISP_NAME);
    bool partial = *title == '~' || strcmp(field_of(r, PARTIAL), "1") == 0;
    struct chil_exp_metric metric = {.name = (char *)field_of(r, UNIQ_NAME),
                                     .title = (char *)(title + (partial && *title == '~')),
                                     .unit = (char *)field_of(r, UOM),
                                     .text = (char *)field_of(r, DESCR),
                                     .formula = (char *)field_of(r, FORMULA),
                                     .exactness = (char *)field_of(r, EXACTNESS),
                                     .parent = -1,
                                     .kind = dtype->number == EXP_FLOAT ? CHIL_EXP_REAL : CHIL_EXP_COUNT,
                                     .origin = origin_of(field_of(r, VAL)),
                                     .partial = partial,
                                     .runs = (unsigned)int_field(r, RUNS, 1),
                                     .low = strtod(field_of(r, LOW), NULL),
                                     .high = strtod(field_of(r, HIGH), NULL)};
    if (int_field(r, RUNS, 1) < 1 || !isfinite(metric.low) || !isfinite(metric.high)) metric.runs = 1;
    if (metric.runs == 1) metric.low = metric.high = 0;
    /* This metric's own frame is the innermost one still without an index, so the parent is found above it. */
    metric.parent = enclosing(r, METRIC);
    int index = add_metric(r, &metric);
    if (index < 0) {
        (void)fail(r, "metric '%s' is there twice", field_of(r, UNIQ_NAME));
        return;
    }
    for (size_t i = r->depth; i-- > 0;)
        if (r->frame[i].element == METRIC) {
            r->frame[i].index = index;
            break;
        }
    doc->metric = base_grow(doc->metric, &doc->metric_room, doc->metrics + 1, sizeof *doc->metric);
    exp_map_add(&doc->metric_ids, id, (int)doc->metrics);
    doc->metric[doc->metrics++] = (struct cube_metric){id, index, dtype, strcmp(field_of(r, TYPE), "INCLUSIVE") == 0};
}

static void end_region(struct reader *r)
{
    int id;
    struct chil_exp_region region = {
        (char *)field_of(r, NAME), (char *)field_of(r, MANGLED),  (char *)field_of(r, MOD), int_field(r, BEGIN, -1),
        int_field(r, END, -1),     (char *)field_of(r, PARADIGM), (char *)field_of(r, ROLE)};
    if (!to_int(field_of(r, ID), &id))
        (void)fail(r, "a region wants an id");
    else
        exp_map_add(&r->region_ids, id, chil_exp_add_region(r->doc->exp, &region));
}

static void end_place(struct reader *r, enum element element)
{
    static const enum element above[] = {[SYSTEM_NODE] = SYSTEM_NODE, [GROUP] = SYSTEM_NODE, [LOCATION] = GROUP};
    struct frame *frame = NULL;
    int id, parent = enclosing(r, above[element]);
    for (size_t i = r->depth; i-- > 0 && !frame;)
        if (r->frame[i].element == element) frame = &r->frame[i];
    if (!frame) return;
    if (element == SYSTEM_NODE && r->drop_system) {
        r->drop_system = false;
        return;
    }
    bool inner = parent >= 0 || strcmp(field_of(r, CLASS), "node") == 0;
    enum chil_exp_level level = element == LOCATION ? CHIL_EXP_THREAD
                                : element == GROUP  ? CHIL_EXP_PROCESS
                                : inner             ? CHIL_EXP_NODE
                                                    : CHIL_EXP_MACHINE;
    int rank = int_field(r, RANK, 0);
    if (!to_int(field_of(r, ID), &id)) {
        (void)fail(r, "a place wants an Id");
        return;
    }
    frame->index = chil_exp_add_place(r->doc->exp, parent, level, field_of(r, NAME), rank < 0 ? 0 : rank);
    if (frame->index < 0)
        (void)fail(r, "%s is not inside %s", element == LOCATION ? "a location" : "a location group",
                   element == LOCATION ? "a location group" : "a node");
    else if (element == LOCATION)
        exp_map_add(&r->doc->thread_ids, id, r->doc->exp->place[frame->index].thread);
    else if (element == GROUP)
        exp_map_add(&r->process_ids, id, frame->index);
}

static void end_pending(struct reader *r)
{
    enum element pending = r->pending;
    r->pending = OTHER;
    if (pending == METRIC) end_metric(r);
    if (pending == REGION) end_region(r);
    if (pending == SYSTEM_NODE || pending == GROUP || pending == LOCATION) end_place(r, pending);
}

static void set_field(struct reader *r, enum field field, const char *value)
{
    if (value) r->field[field] = arena_strdup(&r->arena, value);
}

/* Starts to collect, with the attributes of the element. */
static void start_pending(struct reader *r, enum element element, const XML_Char **attributes)
{
    static const struct {
        const char *name;
        enum field field;
    } names[] = {{"id", ID},   {"Id", ID},       {"type", TYPE}, {"viztype", VIZTYPE},
                 {"mod", MOD}, {"begin", BEGIN}, {"end", END}};
    arena_fini(&r->arena);
    arena_init(&r->arena);
    memset(r->field, 0, sizeof r->field);
    r->pending = element;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        set_field(r, names[i].field, attribute_of(attributes, names[i].name));
}

/* --- Elements that are whole at their start ------------------------------------------------------------------------
 */

static void take_attribute(struct reader *r, const XML_Char **attributes)
{
    static const struct {
        const char *key;
        enum field field;
    } keys[] = {{"chiliad:formula", FORMULA}, {"chiliad:exactness", EXACTNESS},
                {"chiliad:partial", PARTIAL}, {"chiliad:runs", RUNS},
                {"chiliad:low", LOW},         {"chiliad:high", HIGH}};
    const char *key = attribute_of(attributes, "key"), *value = attribute_of(attributes, "value");
    if (!key || !value) return;
    if (r->depth && r->frame[r->depth - 1].element == METRIC && r->pending == METRIC)
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (strcmp(key, keys[i].key) == 0) set_field(r, keys[i].field, value);
    if (r->depth != 1) return;
    if (strcmp(key, EXP_SYNTHETIC) == 0) {
        r->drop_call = r->doc->shifted = strstr(value, "call") != NULL;
        r->drop_system = strstr(value, "system") != NULL;
    } else if (strcmp(key, "Creator") != 0 || strncmp(value, "Chiliad", 7) != 0) {
        chil_exp_set_attribute(r->doc->exp, key, value);
        if (r->doc->exp->attributes > EXP_ATTRIBUTES_MAX) (void)fail(r, "more than %d attributes", EXP_ATTRIBUTES_MAX);
    }
}

/* A synthetic root goes, and its region, which is the last. */
static void drop_root(struct reader *r, int region)
{
    struct chil_exp *exp = r->doc->exp;
    r->drop_call = false;
    if (region >= 0 && (size_t)region == exp->regions - 1) exp->regions--;
}

static void start_node(struct reader *r, struct frame *frame, const XML_Char **attributes)
{
    const char *id_text = attribute_of(attributes, "id"), *callee_text = attribute_of(attributes, "calleeId");
    const char *line_text = attribute_of(attributes, "line");
    int id, callee, line = -1;
    if (!id_text || !to_int(id_text, &id) || !callee_text || !to_int(callee_text, &callee)) {
        (void)fail(r, "a cnode wants an id and a calleeId");
        return;
    }
    if (line_text && !to_int(line_text, &line)) line = -1;
    int region = exp_map_find(&r->region_ids, callee);
    if (r->drop_call) {
        drop_root(r, region);
        return;
    }
    frame->index = chil_exp_add_node(r->doc->exp, enclosing(r, CNODE), region, line < 0 ? -1 : line,
                                     attribute_of(attributes, "mod"));
    if (frame->index < 0)
        (void)fail(r, "there is no region %d", callee);
    else
        exp_map_add(&r->doc->node_ids, id, frame->index);
}

static void start_topology(struct reader *r, const XML_Char **attributes)
{
    int dimensions = 0;
    const char *text = attribute_of(attributes, "ndims"), *name = attribute_of(attributes, "name");
    free(r->topology.coordinates);
    r->topology = (struct chil_exp_topology){0};
    r->dims = 0;
    if (!text || !to_int(text, &dimensions) || dimensions < 1 || dimensions > 8) return; /* left out */
    r->topology.dimensions = (unsigned)dimensions;
    r->topology.name = exp_text(r->doc->exp, name);
    size_t count = r->doc->exp->threads * (size_t)dimensions;
    r->topology.coordinates = base_calloc(count, sizeof(int));
    for (size_t i = 0; i < count; i++)
        r->topology.coordinates[i] = -1;
}

static void take_dimension(struct reader *r, const XML_Char **attributes)
{
    const char *size = attribute_of(attributes, "size"), *periodic = attribute_of(attributes, "periodic");
    if (r->dims >= r->topology.dimensions) return;
    if (!size || !to_int(size, &r->topology.size[r->dims])) r->topology.size[r->dims] = 0;
    r->topology.periodic[r->dims] = periodic && strcmp(periodic, "true") == 0;
    r->topology.dimension_name[r->dims++] = exp_text(r->doc->exp, attribute_of(attributes, "name"));
}

static void start_coordinates(struct reader *r, const XML_Char **attributes)
{
    static const struct {
        const char *name;
        bool process;
    } owners[] = {{"locId", false}, {"thrdId", false}, {"lgId", true}, {"procId", true}};
    r->coordinate_of = -1;
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        const char *text = attribute_of(attributes, owners[i].name);
        int id;
        if (!text || !to_int(text, &id)) continue;
        int found = exp_map_find(owners[i].process ? &r->process_ids : &r->doc->thread_ids, id);
        if (found >= 0) r->coordinate_of = owners[i].process ? found : r->doc->exp->thread[found];
    }
}

static void start_values(struct reader *r, enum element element, const XML_Char **attributes)
{
    const char *text = attribute_of(attributes, element == MATRIX ? "metricId" : "cnodeId");
    int id;
    if (!text || !to_int(text, &id)) {
        (void)fail(r, "a %s wants an id", element == MATRIX ? "matrix" : "row");
        return;
    }
    if (element == MATRIX) {
        r->matrix = exp_map_find(&r->doc->metric_ids, id);
        return;
    }
    r->row = exp_map_find(&r->doc->node_ids, id);
    if (r->row < 0 && !r->doc->shifted) (void)fail(r, "there is no cnode %d", id);
}

/* --- Elements that are whole at their end --------------------------------------------------------------------------
 */

static void end_coordinates(struct reader *r)
{
    int value[8];
    char *at = r->text;
    const struct chil_exp *exp = r->doc->exp;
    unsigned dimensions = r->topology.dimensions;
    if (!dimensions || r->coordinate_of < 0 || !at) return;
    for (unsigned d = 0; d < dimensions; d++) {
        char *end;
        long number = strtol(at, &end, 10);
        if (end == at || number < 0 || number > INT32_MAX) return;
        value[d] = (int)number;
        at = end;
    }
    for (size_t i = 0; i < exp->threads; i++) {
        int place = exp->thread[i];
        if (place == r->coordinate_of || exp->place[place].parent == r->coordinate_of)
            memcpy(&r->topology.coordinates[i * dimensions], value, dimensions * sizeof(int));
    }
}

/* A number for each thread, in the order of their ids. */
static void end_row(struct reader *r)
{
    struct cube_doc *doc = r->doc;
    char *at = r->text;
    if (r->matrix < 0 || r->row < 0 || !at) return;
    const struct cube_metric *metric = &doc->metric[r->matrix];
    for (size_t column = 0;; column++) {
        char *end;
        double real = 0;
        at += strspn(at, " \t\r\n");
        if (!*at) return;
        int64_t count = strtoll(at, &end, 10);
        if (metric->dtype->number == EXP_FLOAT || !strchr(" \t\r\n", *end)) { /* also 12.0 and 1e6 for counts */
            real = strtod(at, &end);
            count = real >= -0x1p63 && real < 0x1p63 ? (int64_t)real : 0;
        }
        if (end == at || !strchr(" \t\r\n", *end)) {
            (void)fail(r, "a row has something that is no number: '%.*s'", (int)strcspn(at, " \t\r\n"), at);
            return;
        }
        if (column == doc->exp->threads) {
            (void)fail(r, "a row has more numbers than there are threads");
            return;
        }
        int thread = exp_map_find(&doc->thread_ids, (int)column);
        if (thread < 0) thread = (int)column;
        if ((r->status = cube_doc_add(doc, metric, r->row, thread, real, count, r->err))) {
            (void)XML_StopParser(r->parser, XML_FALSE);
            return;
        }
        at = end;
    }
}

static void end_leaf(struct reader *r, enum field field)
{
    if (r->pending == OTHER || r->field[field] || !r->text) return;
    char *start = r->text + strspn(r->text, " \t\r\n"), *end = start + strlen(start);
    while (end > start && strchr(" \t\r\n", end[-1]))
        end--;
    r->field[field] = arena_strndup(&r->arena, start, (size_t)(end - start));
}

/* --- expat ---------------------------------------------------------------------------------------------------------
 */

static void XMLCALL on_start(void *context, const XML_Char *name, const XML_Char **attributes)
{
    struct reader *r = context;
    struct frame frame = {OTHER, 0, -1};
    for (size_t i = 0; i < sizeof elements / sizeof *elements && frame.element == OTHER; i++)
        if (strcmp(elements[i].name, name) == 0) frame = (struct frame){elements[i].element, elements[i].field, -1};
    if (r->depth == 0 && frame.element != CUBE) {
        (void)fail(r, "this is not a CUBE file: it starts with <%.40s>", name);
        return;
    }
    if (r->depth == DEPTH_MAX) {
        (void)fail(r, "elements are nested more than %d deep", DEPTH_MAX);
        return;
    }
    r->text_size = 0;
    if (r->text) r->text[0] = 0;
    if (frame.element == METRIC || frame.element == REGION || frame.element == SYSTEM_NODE || frame.element == GROUP ||
        frame.element == LOCATION) {
        end_pending(r);
        start_pending(r, frame.element, attributes);
    }
    if (frame.element == ATTR) take_attribute(r, attributes);
    if (frame.element == CNODE) start_node(r, &frame, attributes);
    if (frame.element == CART) start_topology(r, attributes);
    if (frame.element == DIM) take_dimension(r, attributes);
    if (frame.element == COORD) start_coordinates(r, attributes);
    if (frame.element == MATRIX || frame.element == ROW) start_values(r, frame.element, attributes);
    r->doc->severity |= frame.element == MATRIX;
    r->frame = base_grow(r->frame, &r->frame_room, r->depth + 1, sizeof *r->frame);
    r->frame[r->depth++] = frame;
}

static void XMLCALL on_end(void *context, const XML_Char *name)
{
    struct reader *r = context;
    (void)name;
    if (r->status || !r->depth) return;
    struct frame *frame = &r->frame[r->depth - 1];
    if (frame->element == LEAF) end_leaf(r, frame->field);
    if (frame->element == r->pending) end_pending(r);
    if (frame->element == COORD) end_coordinates(r);
    if (frame->element == ROW) end_row(r);
    if (frame->element == CART && r->topology.dimensions && r->dims == r->topology.dimensions)
        (void)chil_exp_add_topology(r->doc->exp, &r->topology);
    r->depth--;
}

static void XMLCALL on_text(void *context, const XML_Char *text, int length)
{
    struct reader *r = context;
    if (!r->depth || (r->frame[r->depth - 1].element != LEAF && r->frame[r->depth - 1].element != ROW &&
                      r->frame[r->depth - 1].element != COORD))
        return;
    r->text = base_grow(r->text, &r->text_room, r->text_size + (size_t)length + 1, 1);
    memcpy(r->text + r->text_size, text, (size_t)length);
    r->text_size += (size_t)length;
    r->text[r->text_size] = 0;
}

static void XMLCALL on_doctype(void *context, const XML_Char *name, const XML_Char *system, const XML_Char *public,
                               int internal)
{
    (void)name, (void)system, (void)public, (void)internal;
    (void)fail(context, "a CUBE file has no document type");
}

static int parse(struct reader *r, const uint8_t *bytes, size_t size)
{
    enum { STEP = 1 << 20 };
    for (size_t at = 0;; at += STEP) {
        size_t length = size - at < STEP ? size - at : STEP;
        bool last = at + length == size;
        if (XML_Parse(r->parser, (const char *)bytes + at, (int)length, last) != XML_STATUS_OK && !r->status)
            (void)fail(r, "%s", XML_ErrorString(XML_GetErrorCode(r->parser)));
        if (last || r->status) return r->status;
    }
}

/* Columns are ids where these are 0 to n - 1, else document order. */
static void number_threads(struct cube_doc *doc)
{
    bool numbered = exp_map_unique(&doc->thread_ids);
    size_t threads = doc->exp->threads;
    doc->thread_of = base_calloc(threads, sizeof *doc->thread_of);
    numbered = numbered && threads && exp_map_find(&doc->thread_ids, 0) >= 0 &&
               exp_map_find(&doc->thread_ids, (int)threads - 1) >= 0 && doc->thread_ids.entry[0].id == 0 &&
               doc->thread_ids.entry[threads - 1].id == (int)threads - 1;
    for (size_t i = 0; i < threads; i++)
        doc->thread_of[i] = numbered ? exp_map_find(&doc->thread_ids, (int)i) : (int)i;
}

static int check_whole(struct reader *r)
{
    struct cube_doc *doc = r->doc;
    if (!doc->exp->metrics && !r->skipped.size) return fail(r, "there are no metrics");
    if (!doc->exp->threads) return fail(r, "there are no threads");
    if (!exp_map_unique(&doc->metric_ids)) return fail(r, "two metrics have one id");
    if (!exp_map_unique(&doc->node_ids)) return fail(r, "two cnodes have one id");
    return 0;
}

int exp_xml_read(struct cube_doc *doc, const uint8_t *bytes, size_t size, struct chil_error *err)
{
    struct reader r = {
        .doc = doc, .err = err, .parser = XML_ParserCreate(NULL), .matrix = -1, .row = -1, .coordinate_of = -1};
    if (!r.parser) return chil_error_set(err, CHIL_EIO, "%s: cannot start the XML parser", doc->name);
    arena_init(&r.arena);
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_start, on_end);
    XML_SetCharacterDataHandler(r.parser, on_text);
    XML_SetStartDoctypeDeclHandler(r.parser, on_doctype);
    int status = parse(&r, bytes, size);
    if (!status) status = check_whole(&r);
    if (!status) number_threads(doc);
    if (!status && r.skipped.size) {
        *exp_bytes_add(&r.skipped, 1) = 0;
        chil_exp_set_attribute(doc->exp, EXP_SKIPPED, (const char *)r.skipped.byte);
    }
    XML_ParserFree(r.parser);
    arena_fini(&r.arena);
    exp_map_fini(&r.region_ids);
    exp_map_fini(&r.process_ids);
    free(r.skipped.byte);
    free(r.topology.coordinates);
    free(r.text);
    free(r.frame);
    return status;
}

void cube_doc_fini(struct cube_doc *doc)
{
    exp_map_fini(&doc->metric_ids);
    exp_map_fini(&doc->node_ids);
    exp_map_fini(&doc->thread_ids);
    free(doc->metric);
    free(doc->thread_of);
}
