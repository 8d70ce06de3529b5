/* Internals of the CUBE file reader and writer. docs/formats/experiment.md describes the formats.
 *
 * Writing: exp_layout_init decides the order of the trees in the file, exp_xml_write writes the
 * trees, exp_rows_write the rows of a metric. Reading: exp_xml_read fills a cube_doc from the XML,
 * exp_rows_read adds the rows of a metric.
 */
#ifndef EXP_CUBE_H
#define EXP_CUBE_H

#include "analyze/exp/exp.h"

/* Names the metrics of a file that were not read, and why. */
#define EXP_SKIPPED "chiliad:left out"
#define EXP_CODE    "chiliad.code" /* a member that other readers ignore */
/* CUBE 3 metrics have no attributes: this prefix and the metric's name make a file attribute. */
#define EXP_PEDIGREE "chiliad:pedigree:"
#define EXP_SYNTHETIC                                                                              \
    "chiliad:synthetic" /* "call", "system" or both: roots that only the file has */

enum {
    EXP_XML_MAX = 256 << 20,   /* bytes of XML, unpacked */
    EXP_CELLS_MAX = 1 << 28,   /* of one file: 4 GB of memory */
    EXP_ATTRIBUTES_MAX = 10000 /* of one file */
};
#define EXP_FILE_MAX     ((size_t)4 << 30) /* bytes of a file */
#define EXP_UNPACKED_MAX ((size_t)1 << 30) /* bytes of a file that was packed as a whole */

/* --- Writing --------------------------------------------------------------------------------- */

/* Document order: `_at` by position, `_position` by index (-1: not in the file). Synthetic roots
 * are position 0 of call paths, so call paths are shifted by one then. */
struct exp_layout {
    struct exp_tree metric_tree, node_tree, place_tree;
    int *metric_position, *metric_at;
    uint32_t *node_position, *thread_position;
    bool *place_used; /* there is a thread below */
    int *process_position;
    bool synthetic_call, synthetic_system;
};
/* `one_root`: with synthetic roots where there are several. */
void exp_layout_init(struct exp_layout *layout, const struct chil_exp *exp, bool one_root);
void exp_layout_fini(struct exp_layout *layout);

/* The whole of anchor.xml; or of a .cube file but for severities, ending before them. */
void exp_xml_write(FILE *out, const struct chil_exp *exp, const struct exp_layout *layout,
                   bool cube3);
void exp_xml_write_severity(FILE *out, const struct chil_exp *exp, const struct exp_layout *layout);
bool exp_has_negative(const struct chil_exp *exp, int metric);

struct exp_bytes { /* a buffer that grows */
    uint8_t *byte;
    size_t size, capacity;
};
/* The index and the data of a metric; the buffers are emptied first. */
void exp_rows_write(const struct chil_exp *exp, const struct exp_layout *layout, int metric,
                    struct exp_bytes *index, struct exp_bytes *data);
/* Appends room for `size` bytes and returns it. */
uint8_t *exp_bytes_add(struct exp_bytes *bytes, size_t size);

/* --- Reading --------------------------------------------------------------------------------- */

struct exp_map { /* ids of a file to indices; sorted on the first lookup if needed */
    struct exp_map_entry {
        int id, index;
    } * entry;
    size_t count, capacity;
    bool unsorted;
};
void exp_map_add(struct exp_map *map, int id, int index);
int exp_map_find(struct exp_map *map, int id); /* -1: none */
bool exp_map_unique(struct exp_map *map);
void exp_map_fini(struct exp_map *map);

struct exp_dtype {
    const char *name;
    unsigned size;
    enum { EXP_UNSIGNED, EXP_SIGNED, EXP_FLOAT } number;
};
const struct exp_dtype *
exp_dtype_find(const char *name); /* NULL: not a single number that adds up */

struct cube_metric {
    int id, metric; /* in the file, and in the experiment */
    const struct exp_dtype *dtype;
    bool inclusive;
};

struct cube_doc {
    const char *name; /* of the file, for messages */
    struct chil_exp *exp;
    struct cube_metric *metric; /* the metrics that are read */
    size_t metrics, metric_room;
    struct exp_map metric_ids, node_ids, thread_ids;
    int *thread_of; /* by column of a row */
    bool shifted;   /* position 0 of call paths is a synthetic root */
    bool severity;  /* the file had some: CUBE 3 */
    size_t cells;
    size_t not_finite; /* NaN and infinity, read as zero */
};
int exp_xml_read(struct cube_doc *doc, const uint8_t *bytes, size_t size, struct chil_error *err);
void cube_doc_fini(struct cube_doc *doc);
/* Adds a value to a severity. */
int cube_doc_add(struct cube_doc *doc, const struct cube_metric *metric, int node, int thread,
                 double real, int64_t count, struct chil_error *err);

struct exp_span {
    const uint8_t *byte;
    size_t size;
};
int exp_rows_read(struct cube_doc *doc, const struct cube_metric *metric, const uint32_t *wide,
                  struct exp_span index, struct exp_span data, struct chil_error *err);
/* Positions of call paths in the order of INCLUSIVE metrics: node by row key. To be freed. */
uint32_t *exp_wide_order(const struct chil_exp *exp);

/* --- Tar ------------------------------------------------------------------------------------- */

struct exp_tar; /* the members of an archive */
bool exp_is_tar(const uint8_t *bytes, size_t size);
struct exp_tar *exp_tar_open(const uint8_t *bytes, size_t size);
bool exp_tar_whole(const struct exp_tar *tar); /* not cut off: the end block was found */
/* The bytes of a member; NULL: there is none, or it is cut off. */
struct exp_span exp_tar_find(const struct exp_tar *tar, const char *name);
void exp_tar_free(struct exp_tar *tar);

struct archive;
struct archive *exp_tar_create(int fd);
int exp_tar_add(struct archive *archive, const char *name, const void *bytes, size_t size,
                struct chil_error *err);
/* Errors say why only, without the file's name. */
int exp_tar_close(struct archive *archive, struct chil_error *err); /* frees it */

#endif
