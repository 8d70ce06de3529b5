/* chiliad page: results as one web page that needs nothing but a browser.
 *
 *     $ chiliad record -o cg.cubex ./cg
 *     $ chiliad page cg.cubex -o cg.html
 *     cg.html: 1 result, 214 KB; open it in a browser
 *
 * Each file is one document of the page: an experiment, or what `stat -j`, `hist -j` or `sweep -j`
 * printed. Several experiments can be compared on the page.
 */
#include "cmd/page.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MEGABYTE = 1000000, PAGE_MAX = 100 * MEGABYTE };

struct page_options {
    const char *output, *spec_name;
    struct chil_metric_options options;
};

static const struct option_row option_rows[] = {
    {"output", 'o', "FILE", "the page is written to FILE (default: page.html)",
     OPTION_SET_FULL(struct page_options, output)},
    {"metrics", 0, "SPEC",
     "the hierarchies of experiments: a specification's name or file (default: that of the "
     "machine), or none",
     OPTION_SET_TEXT(struct page_options, spec_name), .values = "none @metrics"},
    {"seconds", 0, NULL, "hierarchies of cycles in seconds, by the clock of the recorded machine",
     OPTION_SET_FLAG(struct page_options, options.seconds)},
    {"time", 0, NULL, "add a hierarchy of time, as report --time",
     OPTION_SET_FLAG(struct page_options, options.time)},
};

const struct option_table cmd_page_options = {
    .forms = {"[OPTIONS] FILE..."},
    .about = "Writes one web page that shows the files: experiments (.cubex, also of other "
             "tools), and what stat -j, hist -j and sweep -j printed. The page is one file: "
             "it loads nothing, and opens from disk.",
    .groups = {OPTION_ROWS(option_rows)},
};

/* --- Documents ------------------------------------------------------------------------------- */

/* The kind of what a command printed with -j; NULL: none of those. */
static const char *kind_of(const json_t *document)
{
    static const struct {
        const char *key, *kind;
    } keys[] = {{"counters", "stat"}, {"dimensions", "hist"}};
    if (json_object_get(json_array_get(document, 0), "settings")) return "sweep";
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_object_get(document, keys[i].key)) return keys[i].kind;
    return NULL;
}

/* What a command printed with -j, as it is. */
static int add_result(json_t *documents, const char *file, FILE *in)
{
    json_error_t err;
    json_t *document = json_loadf(in, JSON_DECODE_ANY, &err);
    const char *kind = document ? kind_of(document) : NULL;
    int status = 0;
    if (!document)
        status = cmd_fail("page", "'%s', line %d: %s", file, err.line, err.text);
    else if (!kind)
        status = cmd_fail("page",
                          "'%s' is not from stat -j, hist -j or sweep -j; write it with one "
                          "of these, or name an experiment",
                          file);
    else
        (void)json_array_append_new(documents, json_pack("{s:s,s:o,s:O}", "kind", kind, "file",
                                                         view_json_text(file), "result", document));
    json_decref(document);
    return status;
}

static int add_experiment(struct view_page *page, json_t *documents, const char *file,
                          const struct page_options *o)
{
    struct report r = {
        .command = "page", .file = file, .spec_name = o->spec_name, .options = o->options};
    int status = report_open(&r);
    if (!status) (void)json_array_append_new(documents, page_experiment(page, &r));
    report_close(&r);
    return status;
}

static int add_file(struct view_page *page, json_t *documents, const char *file,
                    const struct page_options *o)
{
    FILE *in = fopen(file, "re");
    int first = in ? getc(in) : EOF;
    int status = 0;
    if (first == '{' || first == '[') {
        (void)ungetc(first, in);
        status = add_result(documents, file, in);
    } else {
        status = add_experiment(page, documents, file, o);
    }
    if (in) (void)fclose(in);
    return status;
}

/* --- The file -------------------------------------------------------------------------------- */

static int write_page(const struct view_page *page, json_t *documents, const char *text,
                      const char *path)
{
    struct chil_error err = {0};
    struct cmd_output output;
    size_t count = json_array_size(documents);
    json_t *header = json_pack("{s:s,s:i,s:s,s:O}", "format", "chiliad-page", "version", 1,
                               "program", "chiliad " CHILIAD_VERSION, "documents", documents);
    int status = cmd_output_open(&output, "page", path);
    if (status) {
        json_decref(header);
        return status;
    }
    status = view_page_write(page, header, text, output.file, &err);
    long size = ftell(output.file);
    if (status) {
        (void)cmd_output_close(&output, false);
        return cmd_fail_error("page", &err);
    }
    if (size > PAGE_MAX) {
        (void)cmd_output_close(&output, false);
        return cmd_fail("page",
                        "the page would have %ld MB, more than browsers open well (%d MB); keep a "
                        "part with 'chiliad cut'",
                        size / MEGABYTE, PAGE_MAX / MEGABYTE);
    }
    status = cmd_output_close(&output, true);
    if (!status && size >= 0)
        (void)printf("%s: %zu result%s, %ld KB; open it in a browser\n", path, count,
                     count == 1 ? "" : "s", (size + 999) / 1000);
    return status;
}

int cmd_page(int argc, char **argv)
{
    struct page_options o = {.output = "page.html"};
    struct chil_error err = {0};
    struct view_page page;
    char *text = NULL;
    int status = options_parse(&cmd_page_options, &o, argc, argv);
    if (status) return status < 0 ? 0 : status;
    if (optind == argc) return cmd_fail("page", "name a file: chiliad page [OPTIONS] FILE...");
    if (view_page_template(&text, &err)) return cmd_fail_error("page", &err);
    json_t *documents = json_array();
    view_page_init(&page);
    for (int i = optind; i < argc && !status; i++)
        status = add_file(&page, documents, argv[i], &o);
    if (!status) status = write_page(&page, documents, text, o.output);
    json_decref(documents);
    free(text);
    view_page_fini(&page);
    return status;
}
