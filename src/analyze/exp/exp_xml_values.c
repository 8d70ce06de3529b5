/* Reads topologies, and the severities of CUBE 3. */
#include <stdlib.h>
#include <string.h>

#include "analyze/exp/exp_xml.h"

void xml_start_topology(struct xml_reader *r, const XML_Char **attributes)
{
    int dimensions = 0;
    const char *text = xml_attribute(attributes, "ndims"),
               *name = xml_attribute(attributes, "name");
    free(r->topology.coordinates);
    r->topology = (struct chil_exp_topology){0};
    r->dims = 0;
    if (!text || !xml_int(text, &dimensions) || dimensions < 1 || dimensions > 8)
        return; /* left out */
    r->topology.dimensions = (unsigned)dimensions;
    r->topology.name = exp_text(r->doc->exp, name);
    r->topology_threads = r->doc->exp->threads;
    size_t count = r->topology_threads * (size_t)dimensions;
    r->topology.coordinates = base_calloc(count, sizeof(int));
    for (size_t i = 0; i < count; i++)
        r->topology.coordinates[i] = -1;
}

void xml_take_dimension(struct xml_reader *r, const XML_Char **attributes)
{
    const char *size = xml_attribute(attributes, "size"),
               *periodic = xml_attribute(attributes, "periodic");
    if (r->dims >= r->topology.dimensions) return;
    if (!size || !xml_int(size, &r->topology.size[r->dims])) r->topology.size[r->dims] = 0;
    r->topology.periodic[r->dims] = periodic && strcmp(periodic, "true") == 0;
    r->topology.dimension_name[r->dims++] =
        exp_text(r->doc->exp, xml_attribute(attributes, "name"));
}

void xml_start_coordinates(struct xml_reader *r, const XML_Char **attributes)
{
    static const struct {
        const char *name;
        bool process;
    } owners[] = {{"locId", false}, {"thrdId", false}, {"lgId", true}, {"procId", true}};
    r->coordinate_of = -1;
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        const char *text = xml_attribute(attributes, owners[i].name);
        int id;
        if (!text || !xml_int(text, &id)) continue;
        int found = exp_map_find(owners[i].process ? &r->process_ids : &r->doc->thread_ids, id);
        if (found >= 0) r->coordinate_of = owners[i].process ? found : r->doc->exp->thread[found];
    }
}

void xml_end_coordinates(struct xml_reader *r)
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
    /* The place itself, or the threads of a process, which come right after it. */
    for (size_t p = (size_t)r->coordinate_of; p < exp->places; p++) {
        const struct chil_exp_place *place = &exp->place[p];
        if ((int)p != r->coordinate_of && place->parent != r->coordinate_of) break;
        if (place->thread >= 0 && (size_t)place->thread < r->topology_threads)
            memcpy(&r->topology.coordinates[(size_t)place->thread * dimensions], value,
                   dimensions * sizeof(int));
    }
}

/* A number for each thread, in the order of their ids. */
void xml_end_row(struct xml_reader *r)
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
        if (metric->dtype->number == EXP_FLOAT ||
            !strchr(" \t\r\n", *end)) { /* also 12.0 and 1e6 for counts */
            real = strtod(at, &end);
            count = real >= -0x1p63 && real < 0x1p63 ? (int64_t)real : 0;
        }
        if (end == at || !strchr(" \t\r\n", *end)) {
            (void)xml_fail(r, "a row has something that is no number: '%.*s'",
                           (int)strcspn(at, " \t\r\n"), at);
            return;
        }
        if (column == doc->exp->threads) {
            (void)xml_fail(r, "a row has more numbers than there are threads");
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
