/* Pages in the making: documents from files, texts and experiments, and writing the file.
 *
 * A text is what stat -j, hist -j, sweep -j or trace --format json printed; a key that only one of
 * them has says which.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/page.h"

enum { MEGABYTE = 1000000, PAGE_MAX = 100 * MEGABYTE };

void page_init(struct page *page, const char *command)
{
    page->command = command;
    page->documents = json_array();
    view_page_init(&page->blocks);
}

void page_fini(struct page *page)
{
    json_decref(page->documents);
    view_page_fini(&page->blocks);
}

/* --- Documents ------------------------------------------------------------------------------- */

/* The kind of what a command printed with -j; NULL: none of those. */
static const char *kind_of(const json_t *document)
{
    static const struct {
        const char *key, *kind;
    } keys[] = {{"counters", "stat"}, {"dimensions", "hist"}, {"traceEvents", "trace"}};
    if (json_object_get(json_array_get(document, 0), "settings")) return "sweep";
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_object_get(document, keys[i].key)) return keys[i].kind;
    return NULL;
}

/* `document` is NULL after an error, and freed. */
static int add_result(struct page *page, const char *name, json_t *document,
                      const json_error_t *err)
{
    const char *kind = document ? kind_of(document) : NULL;
    int status = 0;
    if (!document)
        status = cmd_fail(page->command, "'%s', line %d: %s", name, err->line, err->text);
    else if (!kind)
        status =
            cmd_fail(page->command,
                     "'%s' is not from stat -j, hist -j, sweep -j or trace --format json; write "
                     "it with one of these, or name an experiment",
                     name);
    else
        (void)json_array_append_new(page->documents,
                                    json_pack("{s:s,s:o,s:O}", "kind", kind, "file",
                                              view_json_text(name), "result", document));
    json_decref(document);
    return status;
}

int page_add_text(struct page *page, const char *name, const char *text, size_t size)
{
    json_error_t err;
    return add_result(page, name, json_loadb(text, size, JSON_DECODE_ANY, &err), &err);
}

/* The values of an experiment, in all metrics. */
static size_t values_of(const struct report *r)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    size_t sum = 0, count;
    for (size_t i = 0; i < exp->metrics; i++) {
        (void)chil_exp_cells(exp, (int)i, &count);
        sum += count;
    }
    return sum;
}

/* Closes the report, or leaves it to `kept`. */
static int add_report(struct page *page, struct report *r, struct page_kept *kept)
{
    int status = report_open(r);
    bool asks = !status && kept && values_of(r) > kept->most;
    if (!status)
        (void)json_array_append_new(page->documents, page_experiment(&page->blocks, r, !asks));
    if (asks) {
        kept->report = *r;
        kept->report.file = NULL; /* the caller's */
        kept->is_open = true;
    } else {
        report_close(r);
    }
    return status;
}

int page_add_experiment(struct page *page, const char *name, struct chil_exp *exp)
{
    struct report r = {.command = page->command, .file = name, .read = exp, .is_borrowed = true};
    return add_report(page, &r, NULL);
}

int page_add_file(struct page *page, const char *file, const char *spec_name,
                  const struct chil_metric_options *options, struct page_kept *kept)
{
    FILE *in = fopen(file, "re");
    int first = in ? getc(in) : EOF, status;
    if (first == '{' || first == '[') {
        json_error_t err;
        (void)ungetc(first, in);
        status = add_result(page, file, json_loadf(in, JSON_DECODE_ANY, &err), &err);
    } else {
        struct report r = {
            .command = page->command, .file = file, .spec_name = spec_name, .options = *options};
        status = add_report(page, &r, kept);
    }
    if (in) (void)fclose(in);
    return status;
}

json_t *page_header(const struct page *page)
{
    return json_pack("{s:s,s:i,s:s,s:O}", "format", "chiliad-page", "version", 1, "program",
                     "chiliad " CHILIAD_VERSION, "documents", page->documents);
}

/* --- The file -------------------------------------------------------------------------------- */

int page_open(struct page_file *file, const char *command, const char *path)
{
    struct chil_error err = {0};
    *file = (struct page_file){.path = path};
    if (!path) return 0;
    if (view_page_template(&file->text, &err)) return cmd_fail_error(command, &err);
    int status = cmd_output_open(&file->output, command, path);
    file->json = status ? NULL : open_memstream(&file->printed, &file->size);
    if (file->json) return 0;
    if (!status) (void)cmd_output_close(&file->output, false);
    free(file->text);
    file->text = NULL;
    return status ? status : cmd_fail(command, "out of memory");
}

static void forget(struct page_file *file)
{
    if (file->json) (void)fclose(file->json);
    free(file->printed);
    free(file->text);
    *file = (struct page_file){0};
}

void page_abandon(struct page_file *file)
{
    if (file->text) (void)cmd_output_close(&file->output, false);
    forget(file);
}

int page_write(struct page *page, struct page_file *file, FILE *say)
{
    struct chil_error err = {0};
    size_t count = json_array_size(page->documents);
    int status =
        view_page_write(&page->blocks, page_header(page), file->text, file->output.file, &err);
    long size = ftell(file->output.file);
    if (status) {
        page_abandon(file);
        return cmd_fail_error(page->command, &err);
    }
    if (size > PAGE_MAX) {
        page_abandon(file);
        return cmd_fail(page->command,
                        "the page would have %ld MB, more than browsers open well (%d MB); keep a "
                        "part with 'chiliad cut', or look at it with 'chiliad serve'",
                        size / MEGABYTE, PAGE_MAX / MEGABYTE);
    }
    status = cmd_output_close(&file->output, true);
    if (!status && size >= 0)
        (void)fprintf(say, "%s: %zu result%s, %ld KB; open it in a browser\n", file->path, count,
                      count == 1 ? "" : "s", (size + 999) / 1000);
    forget(file);
    return status;
}

int page_write_printed(struct page_file *file, const char *command, const char *name)
{
    struct page page;
    page_init(&page, command);
    int status = fflush(file->json) ? cmd_fail(command, "out of memory")
                                    : page_add_text(&page, name, file->printed, file->size);
    if (!status)
        status = page_write(&page, file, stderr);
    else
        page_abandon(file);
    page_fini(&page);
    return status;
}
