/* The call tree of another rank's nodes, as bytes, and made part of rank 0's.
 *
 * A region is described by what distinguishes it and by how the experiment shows it, a node by its
 * parent and region, a call site by its place and line. Rank 0 adds a node when the first machine
 * node that has it is added, so that its tree is in the order of a run on one rank. */
#include <stdlib.h>

#include "base/mem.h"
#include "run/run_bytes.h"
#include "run/run_calls_impl.h"

struct run_calls_part {
    struct part_region {
        struct run_region key;
        struct chil_exp_region shown;
    } * regions;
    struct part_node {
        int parent, region, line, here; /* here: in rank 0's tree; -1: not yet */
        uint32_t at;
        const char *module;
    } * nodes;
    size_t node_count;
    const uint8_t *sites; /* their bytes */
};

/* ---- making bytes ---- */

static void pack_region(struct ranks_message *message, const struct run_region *r,
                        const struct chil_exp_region *shown)
{
    run_put_text(message, r->name);
    run_put_text(message, r->object);
    run_put(message, r->address);
    run_put(message, r->kind);
    run_put_text(message, r->construct);
    run_put_text(message, r->file);
    run_put_signed(message, r->line);
    run_put_text(message, shown->name);
    run_put_text(message, shown->mangled);
    run_put_text(message, shown->module);
    run_put_signed(message, shown->begin);
    run_put_signed(message, shown->end);
    run_put_text(message, shown->paradigm);
    run_put_text(message, shown->role);
}

static void pack_site(struct ranks_message *message, const struct run_call *site)
{
    int line = -1;
    const char *file = run_call_line(site, &line);
    run_put(message, (uint64_t)site->node);
    run_put_text(message, site->object);
    run_put(message, site->address);
    run_put(message, site->calls);
    run_put_text(message, file);
    run_put_signed(message, line);
}

void run_calls_pack(struct run_calls *c, struct ranks_message *message)
{
    run_put(message, c->region_count);
    for (size_t i = 0; i < c->region_count; i++)
        pack_region(message, &c->regions[i], &c->exp->region[i]);
    run_put(message, c->exp->nodes);
    for (size_t i = 0; i < c->exp->nodes; i++) {
        const struct chil_exp_node *node = &c->exp->node[i];
        run_put_signed(message, node->parent);
        run_put(message, (uint64_t)node->region);
        run_put_signed(message, node->line);
        run_put(message, c->families[i + 1].at);
        run_put_text(message, node->module);
    }
    run_calls_sort_sites(c);
    run_put(message, c->site_count);
    for (size_t i = 0; i < c->site_count; i++)
        pack_site(message, &c->sites[i]);
}

/* ---- taking them ---- */

static struct part_region take_region(const uint8_t **at)
{
    struct part_region r = {0};
    r.key.name = run_take_text(at);
    r.key.object = run_take_text(at);
    r.key.address = (uint32_t)run_take(at);
    r.key.kind = (enum record_kind)run_take(at);
    r.key.construct = run_take_text(at);
    r.key.file = run_take_text(at);
    r.key.line = (int)run_take_signed(at);
    r.shown.name = (char *)run_take_text(at);
    r.shown.mangled = (char *)run_take_text(at);
    r.shown.module = (char *)run_take_text(at);
    r.shown.begin = (int)run_take_signed(at);
    r.shown.end = (int)run_take_signed(at);
    r.shown.paradigm = (char *)run_take_text(at);
    r.shown.role = (char *)run_take_text(at);
    return r;
}

static void skip_sites(const uint8_t **at)
{
    for (uint64_t count = run_take(at); count; count--) {
        (void)run_take(at);
        (void)run_take_text(at);
        (void)run_take(at);
        (void)run_take(at);
        (void)run_take_text(at);
        (void)run_take_signed(at);
    }
}

struct run_calls_part *run_calls_part_new(const uint8_t **at)
{
    struct run_calls_part *part = base_calloc(1, sizeof *part);
    size_t regions = (size_t)run_take(at);
    part->regions = base_calloc(regions + 1, sizeof *part->regions);
    for (size_t i = 0; i < regions; i++)
        part->regions[i] = take_region(at);
    part->node_count = (size_t)run_take(at);
    part->nodes = base_calloc(part->node_count + 1, sizeof *part->nodes);
    for (size_t i = 0; i < part->node_count; i++) {
        struct part_node *node = &part->nodes[i];
        node->parent = (int)run_take_signed(at);
        node->region = (int)run_take(at);
        node->line = (int)run_take_signed(at);
        node->at = (uint32_t)run_take(at);
        node->module = run_take_text(at);
        node->here = -1;
    }
    part->sites = *at;
    skip_sites(at);
    return part;
}

void run_calls_part_free(struct run_calls_part *part)
{
    if (!part) return;
    free(part->regions);
    free(part->nodes);
    free(part);
}

int run_calls_part_node(struct run_calls *c, struct run_calls_part *part, size_t number)
{
    struct part_node *node = &part->nodes[number];
    if (node->here >= 0) return node->here;
    int above =
        node->parent < 0 ? CHIL_EXP_NONE : run_calls_part_node(c, part, (size_t)node->parent);
    const struct part_region *r = &part->regions[node->region];
    int region = run_region_find(c, &r->key);
    if (region < 0) region = run_region_add(c, &r->key, &r->shown);
    node->here = run_calls_node(c, above, region, node->at);
    if (node->line > 0) chil_exp_set_call(c->exp, node->here, node->line, node->module);
    return node->here;
}

void run_calls_part_sites(struct run_calls *c, struct run_calls_part *part)
{
    const uint8_t *at = part->sites;
    for (uint64_t count = run_take(&at); count; count--) {
        struct run_call site = {.node = run_calls_part_node(c, part, (size_t)run_take(&at))};
        site.object = run_take_text(&at);
        site.address = (uint32_t)run_take(&at);
        site.calls = run_take(&at);
        site.file = run_take_text(&at);
        site.line = (int)run_take_signed(&at);
        run_calls_add_site(c, &site);
    }
}
