/* Reads the XML of any CUBE file: anchor.xml of CUBE 4, and CUBE 3 with its severities.
 *
 * expat calls on_start and on_end for each element. The fields of a metric, region or place are
 * small elements inside it. They are collected (`pending`) until a child of the same kind starts or
 * the element ends; then the row is built. The table `elements` lists the names that are handled;
 * others are skipped.
 */
#include "analyze/exp/exp_xml.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"

static const struct {
    const char *name;
    enum xml_element element;
    enum xml_field field; /* of a leaf */
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

int xml_fail(struct xml_reader *r, const char *format, ...)
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

const char *xml_field(const struct xml_reader *r, enum xml_field field)
{
    return r->field[field] ? r->field[field] : "";
}

bool xml_int(const char *text, int *value)
{
    char *end;
    long number = strtol(text, &end, 10);
    *value = (int)number;
    return end != text && !*end && number >= INT32_MIN && number <= INT32_MAX;
}

const char *xml_attribute(const XML_Char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0) return attributes[1];
    return NULL;
}

int xml_enclosing(const struct xml_reader *r, enum xml_element element)
{
    for (size_t i = r->depth; i-- > 0;)
        if (r->frame[i].element == element && r->frame[i].index != -1) return r->frame[i].index;
    return -1;
}

/* --- Elements that are whole at their start -------------------------------------------------- */

static void take_attribute(struct xml_reader *r, const XML_Char **attributes)
{
    static const struct {
        const char *key;
        enum xml_field field;
    } keys[] = {{"chiliad:formula", FORMULA}, {"chiliad:exactness", EXACTNESS},
                {"chiliad:partial", PARTIAL}, {"chiliad:derived", DERIVED},
                {"chiliad:runs", RUNS},       {"chiliad:low", LOW},
                {"chiliad:high", HIGH}};
    const char *key = xml_attribute(attributes, "key"), *value = xml_attribute(attributes, "value");
    if (!key || !value) return;
    if (r->depth && r->frame[r->depth - 1].element == METRIC && r->pending == METRIC)
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (strcmp(key, keys[i].key) == 0) xml_set_field(r, keys[i].field, value);
    if (r->depth != 1) return;
    if (strcmp(key, EXP_SYNTHETIC) == 0) {
        r->drop_call = r->doc->shifted = strstr(value, "call") != NULL;
        r->drop_system = strstr(value, "system") != NULL;
    } else if (strcmp(key, "Creator") != 0 || strncmp(value, "Chiliad", 7) != 0) {
        chil_exp_set_attribute(r->doc->exp, name_printable(arena_strdup(&r->arena, key)),
                               name_printable(arena_strdup(&r->arena, value)));
        if (r->doc->exp->attributes > EXP_ATTRIBUTES_MAX)
            (void)xml_fail(r, "more than %d attributes", EXP_ATTRIBUTES_MAX);
    }
}

/* A synthetic root goes, and its region, which is the last. */
static void drop_root(struct xml_reader *r, int region)
{
    struct chil_exp *exp = r->doc->exp;
    r->drop_call = false;
    if (!exp->nodes && region >= 0 && (size_t)region == exp->regions - 1) exp->regions--;
}

static void start_node(struct xml_reader *r, struct xml_frame *frame, const XML_Char **attributes)
{
    const char *id_text = xml_attribute(attributes, "id"),
               *callee_text = xml_attribute(attributes, "calleeId");
    const char *line_text = xml_attribute(attributes, "line");
    int id, callee, line = -1;
    if (!id_text || !xml_int(id_text, &id) || !callee_text || !xml_int(callee_text, &callee)) {
        (void)xml_fail(r, "a cnode wants an id and a calleeId");
        return;
    }
    if (line_text && !xml_int(line_text, &line)) line = -1;
    int region = exp_map_find(&r->region_ids, callee);
    if (r->drop_call) {
        drop_root(r, region);
        return;
    }
    frame->index = chil_exp_add_node(r->doc->exp, xml_enclosing(r, CNODE), region,
                                     line < 0 ? -1 : line, xml_attribute(attributes, "mod"));
    if (frame->index < 0)
        (void)xml_fail(r, "there is no region %d", callee);
    else
        exp_map_add(&r->doc->node_ids, id, frame->index);
}

static void start_values(struct xml_reader *r, enum xml_element element,
                         const XML_Char **attributes)
{
    const char *text = xml_attribute(attributes, element == MATRIX ? "metricId" : "cnodeId");
    int id;
    if (!text || !xml_int(text, &id)) {
        (void)xml_fail(r, "a %s wants an id", element == MATRIX ? "matrix" : "row");
        return;
    }
    if (element == MATRIX) {
        r->matrix = exp_map_find(&r->doc->metric_ids, id);
        return;
    }
    r->row = exp_map_find(&r->doc->node_ids, id);
    if (r->row < 0 && !r->doc->shifted) (void)xml_fail(r, "there is no cnode %d", id);
}

static void end_leaf(struct xml_reader *r, enum xml_field field)
{
    if (r->pending == OTHER || r->field[field] || !r->text) return;
    char *start = r->text + strspn(r->text, " \t\r\n"), *end = start + strlen(start);
    while (end > start && strchr(" \t\r\n", end[-1]))
        end--;
    char *value = arena_strndup(&r->arena, start, (size_t)(end - start));
    for (char *at = value; field == DESCR && *(at += strcspn(at, "\t\r\n"));)
        *at = ' ';
    r->field[field] = name_printable(value);
}

/* --- expat ----------------------------------------------------------------------------------- */

static void XMLCALL on_start(void *context, const XML_Char *name, const XML_Char **attributes)
{
    struct xml_reader *r = context;
    struct xml_frame frame = {OTHER, 0, -1};
    for (size_t i = 0; i < sizeof elements / sizeof *elements && frame.element == OTHER; i++)
        if (strcmp(elements[i].name, name) == 0)
            frame = (struct xml_frame){elements[i].element, elements[i].field, -1};
    if (r->depth == 0 && frame.element != CUBE) {
        (void)xml_fail(r, "this is not a CUBE file: it starts with <%.40s>", name);
        return;
    }
    if (r->depth == DEPTH_MAX) {
        (void)xml_fail(r, "elements are nested more than %d deep", DEPTH_MAX);
        return;
    }
    r->text_size = 0;
    if (r->text) r->text[0] = 0;
    if (frame.element == METRIC || frame.element == REGION || frame.element == SYSTEM_NODE ||
        frame.element == GROUP || frame.element == LOCATION) {
        xml_end_pending(r);
        xml_start_pending(r, frame.element, attributes);
    }
    if (frame.element == ATTR) take_attribute(r, attributes);
    if (frame.element == CNODE) start_node(r, &frame, attributes);
    if (frame.element == CART) xml_start_topology(r, attributes);
    if (frame.element == DIM) xml_take_dimension(r, attributes);
    if (frame.element == COORD) xml_start_coordinates(r, attributes);
    if (frame.element == MATRIX || frame.element == ROW) start_values(r, frame.element, attributes);
    r->doc->severity |= frame.element == MATRIX;
    r->frame = base_grow(r->frame, &r->frame_room, r->depth + 1, sizeof *r->frame);
    r->frame[r->depth++] = frame;
}

static void XMLCALL on_end(void *context, const XML_Char *name)
{
    struct xml_reader *r = context;
    (void)name;
    if (r->status || !r->depth) return;
    struct xml_frame *frame = &r->frame[r->depth - 1];
    if (frame->element == LEAF) end_leaf(r, frame->field);
    if (frame->element == r->pending) xml_end_pending(r);
    if (frame->element == COORD) xml_end_coordinates(r);
    if (frame->element == ROW) xml_end_row(r);
    if (frame->element == CART && r->topology.dimensions && r->dims == r->topology.dimensions &&
        r->topology_threads == r->doc->exp->threads)
        (void)chil_exp_add_topology(r->doc->exp, &r->topology);
    r->depth--;
}

static void XMLCALL on_text(void *context, const XML_Char *text, int length)
{
    struct xml_reader *r = context;
    if (!r->depth ||
        (r->frame[r->depth - 1].element != LEAF && r->frame[r->depth - 1].element != ROW &&
         r->frame[r->depth - 1].element != COORD))
        return;
    r->text = base_grow(r->text, &r->text_room, r->text_size + (size_t)length + 1, 1);
    memcpy(r->text + r->text_size, text, (size_t)length);
    r->text_size += (size_t)length;
    r->text[r->text_size] = 0;
}

static void XMLCALL on_doctype(void *context, const XML_Char *name, const XML_Char *system,
                               const XML_Char *public, int internal)
{
    (void)name, (void)system, (void)public, (void)internal;
    (void)xml_fail(context, "a CUBE file has no document type");
}

/* Whether `at` starts a reference that XML knows: a named escape or a character number. */
static bool is_reference(const char *at, const char *end)
{
    static const char *const names[] = {"amp;", "lt;", "gt;", "quot;", "apos;"};
    size_t left = (size_t)(end - ++at);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (left >= strlen(names[i]) && memcmp(at, names[i], strlen(names[i])) == 0) return true;
    if (left < 2 || *at++ != '#') return false;
    const char *digits = *at == 'x' ? "0123456789abcdefABCDEF" : "0123456789", *start;
    if (*at == 'x') at++;
    for (start = at; at < end && *at && strchr(digits, *at); at++)
        ;
    return at > start && at < end && *at == ';';
}

/* Copies [at, at + length) with "&amp;" for each '&' that starts no reference: cubelib's lexer
 * takes such a '&' as it is, expat refuses it. `end` is that of the whole text. */
static void escape_bare(struct exp_bytes *to, const char *at, size_t length, const char *end)
{
    const char *stop = at + length, *bare;
    for (to->size = 0; at < stop; at = bare) {
        bare = at;
        do {
            bare = memchr(bare, '&', (size_t)(stop - bare));
        } while (bare && is_reference(bare, end) && ++bare < stop);
        if (!bare) bare = stop;
        memcpy(exp_bytes_add(to, (size_t)(bare - at)), at, (size_t)(bare - at));
        if (bare == stop) continue;
        memcpy(exp_bytes_add(to, 5), "&amp;", 5);
        bare++;
    }
}

static int parse(struct xml_reader *r, const uint8_t *bytes, size_t size)
{
    enum { STEP = 1 << 20 };
    const char *text = (const char *)bytes, *end = text + size;
    bool escaped = memmem(bytes, size, "<![CDATA[", 9) == NULL; /* where '&' is text already */
    struct exp_bytes step = {0};
    for (size_t at = 0; !r->status; at += STEP) {
        size_t length = size - at < STEP ? size - at : STEP;
        bool last = at + length == size;
        if (escaped) escape_bare(&step, text + at, length, end);
        if (XML_Parse(r->parser, escaped ? (const char *)step.byte : text + at,
                      escaped ? (int)step.size : (int)length, last) != XML_STATUS_OK &&
            !r->status)
            (void)xml_fail(r, "%s", XML_ErrorString(XML_GetErrorCode(r->parser)));
        if (last) break;
    }
    free(step.byte);
    return r->status;
}

/* Columns are ids where these are 0 to n - 1, else document order. */
static void number_threads(struct cube_doc *doc)
{
    bool numbered = exp_map_unique(&doc->thread_ids);
    size_t threads = doc->exp->threads;
    doc->thread_of = base_calloc(threads, sizeof *doc->thread_of);
    numbered = numbered && threads && exp_map_find(&doc->thread_ids, 0) >= 0 &&
               exp_map_find(&doc->thread_ids, (int)threads - 1) >= 0 &&
               doc->thread_ids.entry[0].id == 0 &&
               doc->thread_ids.entry[threads - 1].id == (int)threads - 1;
    for (size_t i = 0; i < threads; i++)
        doc->thread_of[i] = numbered ? exp_map_find(&doc->thread_ids, (int)i) : (int)i;
}

static int check_whole(struct xml_reader *r)
{
    struct cube_doc *doc = r->doc;
    if (!doc->exp->metrics && !r->skipped.size) return xml_fail(r, "there are no metrics");
    if (!doc->exp->threads) return xml_fail(r, "there are no threads");
    if (!exp_map_unique(&doc->metric_ids)) return xml_fail(r, "two metrics have one id");
    if (!exp_map_unique(&doc->node_ids)) return xml_fail(r, "two cnodes have one id");
    return 0;
}

/* Their values are in the metrics. */
static void drop_pedigrees(struct chil_exp *exp)
{
    size_t kept = 0;
    for (size_t i = 0; i < exp->attributes; i++)
        if (strncmp(exp->attribute[i].key, EXP_PEDIGREE, strlen(EXP_PEDIGREE)) != 0)
            exp->attribute[kept++] = exp->attribute[i];
    exp->attributes = kept;
}

int exp_xml_read(struct cube_doc *doc, const uint8_t *bytes, size_t size, struct chil_error *err)
{
    struct xml_reader r = {.doc = doc,
                           .err = err,
                           .parser = XML_ParserCreate(NULL),
                           .matrix = -1,
                           .row = -1,
                           .coordinate_of = -1};
    if (!r.parser)
        return chil_error_set(err, CHIL_EIO, "%s: cannot start the XML parser", doc->name);
    arena_init(&r.arena);
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_start, on_end);
    XML_SetCharacterDataHandler(r.parser, on_text);
    XML_SetStartDoctypeDeclHandler(r.parser, on_doctype);
    int status = parse(&r, bytes, size);
    if (!status) status = check_whole(&r);
    if (!status) number_threads(doc);
    drop_pedigrees(doc->exp);
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
