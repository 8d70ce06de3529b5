/* chiliad report --annotate: source and instructions of a function with how often each was
 * executed.
 *
 *        executed  line  source
 *         256,000    21  sum += a[i][j] * b[j][k];
 *          64,000        | 100004d0  lfdu f12,8(r9)
 *
 * A line's number is the sum over its instructions. Where the compiler moved instructions, lines of
 * a file are in the file's order all the same.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chiliad/run.h"
#include "cmd/report.h"

/* A source file, line by line; empty when it cannot be read. */
struct source {
    char *text;
    char **line;
    size_t lines;
};

static void source_open(struct source *s, const char *path)
{
    size_t size = 0, room = 0;
    FILE *file = view_file_source(path);
    *s = (struct source){0};
    if (!file) return;
    ssize_t got = getdelim(&s->text, &size, 0, file);
    (void)fclose(file);
    char *rest = got > 0 ? s->text : NULL;
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (s->lines == room) {
            room = room ? 2 * room : 256;
            char **more = reallocarray(s->line, room, sizeof *more);
            if (!more) break;
            s->line = more;
        }
        s->line[s->lines++] = line;
    }
}

static void source_close(struct source *s)
{
    free(s->line); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    free(s->text);
}

/* The path without the working directory in front. */
static const char *short_path(const char *path)
{
    char *here = getcwd(NULL, 0);
    size_t length = here ? strlen(here) : 0;
    bool below = length && strncmp(path, here, length) == 0 && path[length] == '/';
    free(here);
    return below ? path + length + 1 : path;
}

static void print_instructions(const struct chil_report_function *f, const char *file, int line)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct chil_report_instruction *at = &f->instruction[i];
        char text[CHIL_INSTRUCTION_TEXT], count[VIEW_GROUPED_MAX];
        if (at->line != line || strcmp(at->file, file) != 0) continue;
        chil_instruction_text(at->word, at->address, text, sizeof text);
        (void)printf("%17s        | %08x  %s\n", view_grouped(at->count, count), at->address, text);
    }
}

/* A line and its instructions; a line without any only where the source is there. */
static void print_line(const struct chil_report_function *f, const struct source *source,
                       const char *file, int line)
{
    uint64_t count = 0;
    bool any = false;
    char number[VIEW_GROUPED_MAX] = "";
    for (size_t i = 0; i < f->count; i++)
        if (f->instruction[i].line == line && strcmp(f->instruction[i].file, file) == 0) {
            count += f->instruction[i].count;
            any = true;
        }
    const char *text = line > 0 && (size_t)line <= source->lines ? source->line[line - 1] : NULL;
    if (!any && !text) return;
    if (any) (void)view_grouped(count, number);
    if (line > 0)
        (void)printf("%17s %5d  %s\n", number, line, text ? text : "(no source)");
    else
        (void)printf("%17s     -  (no line is known)\n", number);
    print_instructions(f, file, line);
}

/* The lines of one file. The function's own file, where it begins, is shown without gaps; others
 * are inlined there. */
static void print_file(const struct chil_report_function *f, const char *file, bool own)
{
    enum { GAP = 20 }; /* lines without instructions that are shown in a row */
    struct source source;
    int least = 0, most = 0, last = 0;
    for (size_t i = 0; i < f->count; i++) {
        if (strcmp(f->instruction[i].file, file) != 0) continue;
        if (!least || f->instruction[i].line < least) least = f->instruction[i].line;
        if (f->instruction[i].line > most) most = f->instruction[i].line;
    }
    source_open(&source, file);
    if (*file && !own) (void)printf("%s\n", short_path(file));
    for (int line = least; line <= most; line++) {
        bool used = false;
        for (size_t i = 0; i < f->count && !used; i++)
            used = f->instruction[i].line == line && strcmp(f->instruction[i].file, file) == 0;
        if (!used) continue;
        for (int k = last + 1; own && last && line - last <= GAP && k < line; k++)
            print_line(f, &source, file, k);
        print_line(f, &source, file, line);
        last = line;
    }
    source_close(&source);
}

static void print_function(const struct chil_report_function *f)
{
    uint64_t sum = 0;
    char number[VIEW_GROUPED_MAX];
    const char *own = f->count ? f->instruction[0].file : "";
    for (size_t i = 0; i < f->count; i++)
        sum += f->instruction[i].count;
    (void)printf("%s: %s instructions executed; %s\n", f->name, view_grouped(sum, number),
                 short_path(*own ? own : f->object));
    (void)printf("%17s  line  source\n", "executed");
    for (size_t i = 0; i < f->count; i++) {
        bool before = false;
        for (size_t k = 0; k < i && !before; k++)
            before = strcmp(f->instruction[k].file, f->instruction[i].file) == 0;
        if (!before) print_file(f, f->instruction[i].file, i == 0);
    }
}

int report_annotate(const struct report *r)
{
    struct chil_report_code *code = NULL;
    struct chil_error err = {0};
    if (chil_report_code_new(&code, r->read, r->file, r->annotate, &err))
        return cmd_fail_error("report", &err);
    for (size_t i = 0; i < code->count; i++) {
        if (i) (void)putchar('\n');
        print_function(&code->function[i]);
    }
    chil_report_code_free(code);
    return 0;
}
