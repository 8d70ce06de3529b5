/* Writes experiments: .cube if the name ends so, else .cubex. */
#include "analyze/exp/exp_cube.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"

/* A CUBE file has at least one of everything. */
static const char *what_lacks(const struct chil_exp *exp)
{
    if (!exp->metrics) return "metrics";
    if (!exp->nodes) return "call paths";
    return exp->threads ? NULL : "threads";
}

static int add_anchor(struct archive *archive, const struct chil_exp *exp,
                      const struct exp_layout *layout, struct chil_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return chil_error_set(err, CHIL_EIO, "cannot make anchor.xml: %s", strerror(errno));
    exp_xml_write(out, exp, layout, false);
    bool good = fflush(out) == 0;
    if (size % 512 == 0) (void)fputc('\n', out); /* cubelib misreads members of n * 512 bytes */
    int status = fclose(out) == 0 && good
                     ? exp_tar_add(archive, "anchor.xml", text, size, err)
                     : chil_error_set(err, CHIL_EIO, "cannot make anchor.xml: %s", strerror(errno));
    free(text);
    return status;
}

static int add_metric(struct archive *archive, const struct chil_exp *exp,
                      const struct exp_layout *layout, int metric, struct exp_bytes *index,
                      struct exp_bytes *data, struct chil_error *err)
{
    static const size_t most = (size_t)1 << 33; /* what a ustar header can say */
    char name[32];
    exp_rows_write(exp, layout, metric, index, data);
    if (index->size >= most || data->size >= most)
        return chil_error_set(err, CHIL_ERANGE,
                              "metric '%s' needs more than 8 GB; cut the experiment",
                              exp->metric[metric].name);
    (void)snprintf(name, sizeof name, "%d.data", layout->metric_position[metric]);
    int status = exp_tar_add(archive, name, data->byte, data->size, err);
    (void)snprintf(name, sizeof name, "%d.index", layout->metric_position[metric]);
    return status ? status : exp_tar_add(archive, name, index->byte, index->size, err);
}

/* The code as a text; one more line end if its size is a multiple of 512. */
static int add_code(struct archive *archive, const struct chil_exp *exp, struct chil_error *err)
{
    size_t size;
    const char *code = chil_exp_code(exp, &size);
    if (!code || !size) return 0;
    if (size % 512) return exp_tar_add(archive, EXP_CODE, code, size, err);
    char *longer = base_calloc(size + 1, 1);
    memcpy(longer, code, size);
    longer[size] = '\n';
    int status = exp_tar_add(archive, EXP_CODE, longer, size + 1, err);
    free(longer);
    return status;
}

static int write_cubex(const struct chil_exp *exp, const struct exp_layout *layout, int fd,
                       struct chil_error *err)
{
    struct exp_bytes index = {0}, data = {0};
    struct archive *archive = exp_tar_create(fd);
    if (!archive) return chil_error_set(err, CHIL_EIO, "out of memory");
    int status = 0;
    for (size_t i = 0; i < exp->metrics && !status; i++)
        status = add_metric(archive, exp, layout, layout->metric_at[i], &index, &data, err);
    if (!status) status = add_code(archive, exp, err);
    if (!status)
        status =
            add_anchor(archive, exp, layout, err); /* last: what is cut off cannot be read at all */
    free(index.byte);
    free(data.byte);
    int closed = exp_tar_close(archive, status ? NULL : err);
    return status ? status : closed;
}

static int write_cube(const struct chil_exp *exp, const struct exp_layout *layout, int fd,
                      struct chil_error *err)
{
    int copy = dup(fd);
    FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
    if (!out) return chil_error_set(err, CHIL_EIO, "%s", strerror(errno));
    exp_xml_write(out, exp, layout, true);
    exp_xml_write_severity(out, exp, layout);
    bool bad = ferror(out) != 0;
    if (fclose(out) != 0 || bad) return chil_error_set(err, CHIL_EIO, "%s", strerror(errno));
    return 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

struct chil_exp_output {
    struct output output;
};

int chil_exp_output_open(struct chil_exp_output **output, const char *path, struct chil_error *err)
{
    struct chil_exp_output *new = base_calloc(1, sizeof *new);
    int status = output_open(&new->output, path, err);
    if (status)
        free(new);
    else
        *output = new;
    return status;
}

static int write_to(const struct output *file, const struct chil_exp *exp, struct chil_error *err)
{
    struct exp_layout layout;
    const char *lacks = what_lacks(exp);
    if (lacks)
        return chil_error_set(err, CHIL_EINVAL, "cannot write '%s': the experiment has no %s",
                              file->path, lacks);
    bool cube3 = ends_with(file->path, ".cube");
    struct chil_error why = {0};
    exp_layout_init(&layout, exp, !cube3);
    int status = cube3 ? write_cube(exp, &layout, file->fd, &why)
                       : write_cubex(exp, &layout, file->fd, &why);
    exp_layout_fini(&layout);
    return status ? chil_error_set(err, status, "cannot write '%s': %s", file->path, why.text) : 0;
}

int chil_exp_output_close(struct chil_exp_output *output, const struct chil_exp *exp,
                          struct chil_error *err)
{
    struct chil_error why = {0};
    if (!output) return 0;
    int status = exp ? write_to(&output->output, exp, &why) : 0;
    int closed = output_close(&output->output, exp && !status, status ? NULL : &why);
    free(output);
    if (!status) status = closed;
    return status ? chil_error_set(err, status, "%s", why.text) : 0;
}

int chil_exp_write(const struct chil_exp *exp, const char *path, struct chil_error *err)
{
    struct chil_exp_output *output;
    int status = chil_exp_output_open(&output, path, err);
    return status ? status : chil_exp_output_close(output, exp, err);
}
