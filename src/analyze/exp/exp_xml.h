/* Internals of the CUBE XML reader: exp_xml_read.c handles the elements, exp_xml_rows.c builds
 * metrics, regions and places from the collected fields, exp_xml_values.c reads topologies and the
 * severities of CUBE 3.
 */
#ifndef EXP_XML_H
#define EXP_XML_H

#include <expat.h>

#include "analyze/exp/exp_cube.h"

enum xml_field {
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
    DERIVED,
    RUNS,
    LOW,
    HIGH, /* from attributes */
    FIELDS
};
enum xml_element {
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

struct xml_frame {
    enum xml_element element;
    enum xml_field field;
    int index; /* of what it made: metric, node, place; else -1 */
};

struct xml_reader {
    struct cube_doc *doc;
    XML_Parser parser;
    struct chil_error *err;
    int status;
    struct xml_frame *frame;
    size_t depth, frame_room;
    char *text; /* of the innermost element */
    size_t text_size, text_room;
    enum xml_element pending; /* of which fields are collected; OTHER: nothing */
    struct arena arena;       /* what is pending */
    const char *field[FIELDS];
    struct exp_map region_ids, process_ids;
    bool drop_call, drop_system; /* roots that only the file has, until they were met */
    struct chil_exp_topology topology;
    size_t topology_threads; /* that it has coordinates of */
    unsigned dims;
    int coordinate_of; /* a place, thread or process; -1: unknown id */
    int matrix, row;   /* CUBE 3: which cube_metric, which node */
    struct exp_bytes skipped;
};

/* Refuses the file, once. */
int xml_fail(struct xml_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *xml_field(const struct xml_reader *r, enum xml_field field); /* "" when there is none */
bool xml_int(const char *text, int *value);
const char *xml_attribute(const XML_Char **attributes, const char *name); /* NULL: none */
/* The index of the innermost open element of a kind; -1: none, or it was left out. */
int xml_enclosing(const struct xml_reader *r, enum xml_element element);

/* Start collecting the fields of a metric, region or place; set one; build the row from them. */
void xml_start_pending(struct xml_reader *r, enum xml_element element, const XML_Char **attributes);
void xml_set_field(struct xml_reader *r, enum xml_field field, const char *value);
void xml_end_pending(struct xml_reader *r);

void xml_start_topology(struct xml_reader *r, const XML_Char **attributes);
void xml_take_dimension(struct xml_reader *r, const XML_Char **attributes);
void xml_start_coordinates(struct xml_reader *r, const XML_Char **attributes);
void xml_end_coordinates(struct xml_reader *r);
void xml_end_row(struct xml_reader *r);

#endif
