/* The public specification functions: open, list the statements, find undefined names. */
#include "analyze/metric/metric_impl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int finish(struct chil_spec **out, struct chil_spec *spec, int status,
                  struct chil_error *err)
{
    if (!status) status = spec_link(spec, err);
    *out = status ? NULL : spec;
    if (status) chil_spec_free(spec);
    return status;
}

static const char *listed_at(const void *table, size_t index)
{
    return ((char *const *)table)[index];
}

static int no_such(const char *kind, const char *what, const char *name, struct chil_error *err)
{
    char **names, hint[100];
    size_t count;
    if (metric_names(&names, &count, kind, NULL))
        return chil_error_set(err, CHIL_ENOENT, "there is no %s '%s'", what, name);
    int status = chil_error_set(
        err, CHIL_ENOENT, "there is no %s '%.80s'%s; 'chiliad list %s' shows them", what, name,
        text_hint(hint, sizeof hint, text_nearest(name, names, count, listed_at)), kind);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return status;
}

int metric_open(struct text_file *file, char path[METRIC_PATH_MAX], const char *kind,
                const char *what, const char *name, struct chil_error *err)
{
    if (!*name || *name == '.') {
        if (!strchr(name, '/')) return no_such(kind, what, name, err);
    }
    int status = metric_path(path, kind, name, err);
    if (status) return status;
    status = text_file_open(file, path, err);
    return status && !strchr(name, '/') ? no_such(kind, what, name, err) : status;
}

int chil_spec_open(struct chil_spec **spec, const char *name, struct chil_error *err)
{
    char path[METRIC_PATH_MAX];
    struct text_file file;
    *spec = NULL;
    int status = metric_open(&file, path, "metrics", "specification of metrics", name, err);
    if (status) return status;
    struct chil_spec *new = spec_new(name);
    status = spec_read(new, &file, path, 0, err);
    return finish(spec, new, status, err);
}

int chil_spec_parse(struct chil_spec **spec, const char *name, const void *bytes, size_t length,
                    struct chil_error *err)
{
    struct text_file file;
    *spec = NULL;
    int status = text_file_from_bytes(&file, name, bytes, length, err);
    if (status) return status;
    struct chil_spec *new = spec_new(name);
    status = spec_read(new, &file, NULL, 0, err);
    return finish(spec, new, status, err);
}

int chil_spec_open_for(struct chil_spec **spec, const struct chil_exp *exp, struct chil_error *err)
{
    static const char *const keys[] = {"platform", "machine"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *name = chil_exp_attribute(exp, keys[i]);
        char path[METRIC_PATH_MAX];
        struct chil_platform *platform;
        if (!name || !*name || strchr(name, '/')) continue;
        if (i == 0 && !metric_path(path, "sets", name, NULL) && access(path, F_OK) == 0) {
            int status = chil_platform_open(&platform, name, err);
            if (status) return status;
            status = chil_platform_spec(spec, platform, err);
            chil_platform_free(platform);
            return status;
        }
        if (metric_path(path, "metrics", name, NULL) || access(path, F_OK) != 0) continue;
        return chil_spec_open(spec, name, err);
    }
    return chil_spec_open(spec, "simulator", err);
}

const char *chil_spec_name(const struct chil_spec *spec)
{
    return spec->name;
}

const struct chil_spec_item *chil_spec_items(const struct chil_spec *spec, size_t *count)
{
    *count = spec->items;
    return spec->item;
}

int chil_spec_names(char ***names, size_t *count, struct chil_error *err)
{
    return metric_names(names, count, "metrics", err);
}

/* --- Names that nothing explains ------------------------------------------------------------- */

struct explained {
    const struct chil_spec *spec;
    const size_t *symbol;
};

static const char *explained_at(const void *table, size_t index)
{
    const struct explained *e = table;
    return e->spec->symbol[e->symbol[index]].name;
}

static bool is_explained(const struct chil_spec *spec, size_t i,
                         bool (*known)(void *, const char *), void *context)
{
    const struct symbol *s = &spec->symbol[i];
    return spec_defines(spec, i) || s->ratio >= 0 || (known && known(context, s->name));
}

void chil_spec_unknown(const struct chil_spec *spec, bool (*known)(void *context, const char *name),
                       void (*each)(void *context, const char *file, unsigned line,
                                    const char *name, const char *nearest),
                       void *context)
{
    size_t *symbol = base_calloc(spec->symbols + 1, sizeof *symbol), count = 0;
    bool *used = base_calloc(spec->symbols + 1, sizeof *used);
    for (size_t i = 0; i < spec->items; i++) { /* names of sets and findings are no metrics */
        const struct item *d = &spec->detail[i];
        for (size_t t = 0; t < d->terms.count; t++)
            used[d->terms.term[t].symbol] = true;
        for (size_t n = 0; n < d->expr.nodes; n++)
            if (d->expr.node[n].op == EXPR_NAME || d->expr.node[n].op == EXPR_SECONDS)
                used[d->expr.node[n].symbol] = true;
    }
    for (size_t i = 0; i < spec->symbols; i++)
        if (is_explained(spec, i, known, context)) symbol[count++] = i;
    const struct explained table = {.spec = spec, .symbol = symbol};
    for (size_t i = 0; i < spec->symbols; i++) {
        const struct symbol *s = &spec->symbol[i];
        if (!used[i] || is_explained(spec, i, known, context)) continue;
        each(context, s->file, s->line, s->name,
             text_nearest(s->name, &table, count, explained_at));
    }
    free(used);
    free(symbol);
}
