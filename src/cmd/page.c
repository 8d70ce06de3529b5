/* chiliad page: results as one web page that needs nothing but a browser.
 *
 *     $ chiliad record -o cg.cubex ./cg
 *     $ chiliad page cg.cubex -o cg.html
 *     cg.html: 1 result, 214 KB; open it in a browser
 *
 * Each file is one document of the page: an experiment, or what `stat -j`, `hist -j`, `sweep -j`
 * or `trace --format json` wrote. Several experiments can be compared on the page.
 */
#include "cmd/page.h"

#include <stdlib.h>

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
    .about =
        "Writes one web page that shows the files: experiments (.cubex, also of other "
        "tools), and what stat -j, hist -j, sweep -j and trace --format json wrote. The page is one file: "
        "it loads nothing, and opens from disk.",
    .groups = {OPTION_ROWS(option_rows)},
};

int cmd_page(int argc, char **argv)
{
    struct page_options o = {.output = "page.html"};
    struct page page;
    struct page_file file;
    int status = options_parse(&cmd_page_options, &o, argc, argv);
    if (status) return status < 0 ? 0 : status;
    if (optind == argc) return cmd_fail("page", "name a file: chiliad page [OPTIONS] FILE...");
    status = page_open(&file, "page", o.output);
    if (status) return status;
    page_init(&page, "page");
    for (int i = optind; i < argc && !status; i++)
        status = page_add_file(&page, argv[i], o.spec_name, &o.options, NULL);
    if (!status)
        status = page_write(&page, &file, stdout);
    else
        page_abandon(&file);
    page_fini(&page);
    return status;
}
