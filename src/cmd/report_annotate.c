/* chiliad report --annotate: source and instructions of a function, with how often each was
 * executed, and with columns for events that instructions count.
 *
 *        executed         cycles  line  source
 *  *      256,000        512,000    21  sum += a[i][j] * b[j][k];
 *          64,000         64,000        | 100004d0  lfdu f12,8(r9)
 *
 * A line's number is the sum over its instructions. Where the compiler moved instructions, lines of
 * a file are in the file's order all the same; --sort shows the largest first. '*' marks lines with
 * a tenth of the function's first column, or of the one that they are sorted by.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chiliad/run.h"
#include "cmd/report.h"

enum { COLUMNS = 16, WIDTH_ALONE = 17, WIDTH = 15, HOT = 10, NAME = 100 };

/* A column: an event of the code, or one of these. */
enum { EXECUTED = -1, PERCENT = -2 };

struct annotation {
    const struct chil_report_code *code;
    const struct chil_report_function *function;
    int column[COLUMNS];
    int columns, width;
    int hot; /* which column decides what is hot */
    bool sorted;
    uint64_t whole; /* of the function, in that column */
};

/* A line of the source, as a file has it that instructions are of. */
struct source_line {
    const char *file;
    int line;
    uint64_t value; /* that it is sorted by */
};

/* --- Source ---------------------------------------------------------------------------------- */

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

/* --- Numbers --------------------------------------------------------------------------------- */

static uint64_t value_of(const struct chil_report_instruction *at, int column)
{
    if (column < 0) return at->count;
    return at->value ? at->value[column] : 0;
}

static bool is_of(const struct chil_report_instruction *at, const char *file, int line)
{
    return at->line == line && strcmp(at->file, file) == 0;
}

/* Of a line, or of one instruction of it. */
static uint64_t sum_of(const struct annotation *a, const char *file, int line,
                       const struct chil_report_instruction *only, int column)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < a->function->count; i++) {
        const struct chil_report_instruction *at = &a->function->instruction[i];
        if (only ? at == only : is_of(at, file, line)) sum += value_of(at, column);
    }
    return sum;
}

static void print_numbers(const struct annotation *a, const char *file, int line,
                          const struct chil_report_instruction *only)
{
    uint64_t hot = sum_of(a, file, line, only, a->hot);
    bool is_hot = !only && a->whole && hot >= a->whole / HOT && hot;
    for (int c = 0; c < a->columns; c++) {
        char number[VIEW_GROUPED_MAX];
        if (a->column[c] == PERCENT)
            (void)snprintf(number, sizeof number, "%.1f%%",
                           a->whole ? 100 * (double)hot / (double)a->whole : 0);
        else
            (void)view_grouped(sum_of(a, file, line, only, a->column[c]), number);
        (void)printf("%s%*s", c ? "" : is_hot ? "*" : " ", c ? a->width : a->width - 1, number);
    }
}

static const char *title_of(const struct annotation *a, int column)
{
    return column == EXECUTED ? "executed" : column == PERCENT ? "percent" : a->code->event[column];
}

/* --- Lines ----------------------------------------------------------------------------------- */

static void print_instructions(const struct annotation *a, const char *file, int line)
{
    for (size_t i = 0; i < a->function->count; i++) {
        const struct chil_report_instruction *at = &a->function->instruction[i];
        char text[CHIL_INSTRUCTION_TEXT];
        if (!is_of(at, file, line)) continue;
        chil_instruction_text(at->word, at->address, text, sizeof text);
        print_numbers(a, file, line, at);
        (void)printf("        | %08x  %s\n", at->address, text);
    }
}

/* A line and its instructions; a line without any only where the source is there. */
static void print_line(const struct annotation *a, const struct source *source, const char *file,
                       int line)
{
    bool any = false;
    for (size_t i = 0; i < a->function->count && !any; i++)
        any = is_of(&a->function->instruction[i], file, line);
    const char *text = line > 0 && (size_t)line <= source->lines ? source->line[line - 1] : NULL;
    if (!any && !text) return;
    if (any)
        print_numbers(a, file, line, NULL);
    else
        (void)printf("%*s", a->width * a->columns, "");
    if (line > 0)
        (void)printf(" %5d  %s\n", line, text ? text : "(no source)");
    else
        (void)printf("     -  (no line is known)\n");
    print_instructions(a, file, line);
}

/* The lines of one file. The function's own file, where it begins, is shown without gaps; others
 * are inlined there. */
static void print_file(const struct annotation *a, const char *file, bool own)
{
    enum { GAP = 20 }; /* lines without instructions that are shown in a row */
    const struct chil_report_function *f = a->function;
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
            used = is_of(&f->instruction[i], file, line);
        if (!used) continue;
        for (int k = last + 1; own && last && line - last <= GAP && k < line; k++)
            print_line(a, &source, file, k);
        print_line(a, &source, file, line);
        last = line;
    }
    source_close(&source);
}

static int compare_lines(const void *left, const void *right)
{
    const struct source_line *x = left, *y = right;
    if (x->value != y->value) return x->value < y->value ? 1 : -1;
    int order = strcmp(x->file, y->file);
    return order ? order : x->line - y->line;
}

static void print_sorted(const struct annotation *a)
{
    const struct chil_report_function *f = a->function;
    struct source_line *lines = calloc(f->count + 1, sizeof *lines);
    struct source source = {0};
    const char *file = f->count ? f->instruction[0].file : "";
    size_t count = 0;
    for (size_t i = 0; lines && i < f->count; i++) {
        const struct chil_report_instruction *at = &f->instruction[i];
        bool known = false;
        for (size_t k = 0; k < count && !known; k++)
            known = is_of(at, lines[k].file, lines[k].line);
        if (!known)
            lines[count++] = (struct source_line){at->file, at->line,
                                                  sum_of(a, at->file, at->line, NULL, a->hot)};
    }
    if (count) qsort(lines, count, sizeof *lines, compare_lines);
    source_open(&source, file);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(lines[i].file, file) != 0) {
            source_close(&source);
            source_open(&source, file = lines[i].file);
            (void)printf("%s\n", *file ? short_path(file) : f->object);
        }
        print_line(a, &source, file, lines[i].line);
    }
    source_close(&source);
    free(lines);
}

static void print_function(struct annotation *a)
{
    const struct chil_report_function *f = a->function;
    uint64_t sum = 0;
    char number[VIEW_GROUPED_MAX];
    const char *own = f->count ? f->instruction[0].file : "";
    a->whole = 0;
    for (size_t i = 0; i < f->count; i++) {
        sum += f->instruction[i].count;
        a->whole += value_of(&f->instruction[i], a->hot);
    }
    (void)printf("%s: %s instructions executed; %s\n", f->name, view_grouped(sum, number),
                 short_path(*own ? own : f->object));
    for (int c = 0; c < a->columns; c++)
        (void)printf("%*.*s", a->width, a->width - 1, title_of(a, a->column[c]));
    (void)printf("  line  source\n");
    if (a->sorted) {
        print_sorted(a);
        return;
    }
    for (size_t i = 0; i < f->count; i++) {
        bool before = false;
        for (size_t k = 0; k < i && !before; k++)
            before = strcmp(f->instruction[k].file, f->instruction[i].file) == 0;
        if (!before) print_file(a, f->instruction[i].file, i == 0);
    }
}

/* --- Columns --------------------------------------------------------------------------------- */

static int find_column(const struct annotation *a, const struct report *r, const char *name,
                       int *column)
{
    *column = EXECUTED;
    if (strcasecmp(name, "executed") == 0) return 0;
    *column = PERCENT;
    if (strcasecmp(name, "percent") == 0) return 0;
    for (size_t i = 0; i < a->code->events; i++)
        if (strcasecmp(a->code->event[i], name) == 0) {
            *column = (int)i;
            return 0;
        }
    return cmd_fail("report",
                    "%s has no '%.60s' for each instruction; '--columns help' lists what it has "
                    "('chiliad record --code-misses' counts misses, waits, L2 and L3, too)",
                    r->file, name);
}

static int take_columns(struct annotation *a, const struct report *r, const char *list)
{
    for (int status; *list;) {
        char name[NAME];
        size_t length = strcspn(list, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)length, list);
        if (a->columns == COLUMNS)
            return cmd_fail("report", "--columns has more than %d names", COLUMNS);
        if ((status = find_column(a, r, name, &a->column[a->columns]))) return status;
        a->columns++;
        list += length + (list[length] == ',');
    }
    return a->columns ? 0 : cmd_fail("report", "--columns names nothing");
}

static int list_columns(const struct annotation *a)
{
    (void)printf("executed\npercent\n");
    for (size_t i = 0; i < a->code->events; i++)
        (void)printf("%s\n", a->code->event[i]);
    return 0;
}

/* Without --columns: executions; and of a file with misses, the time and the misses of loads. */
static int choose_columns(struct annotation *a, const struct report *r)
{
    bool misses = false;
    for (size_t i = 0; i < a->code->events; i++)
        misses |= strcmp(a->code->event[i], "BGL_STALL_LOAD") == 0;
    const char *usual = misses ? "executed,cycles,BGL_D1_L_MISS,BGL_STALL_LOAD" : "executed";
    int status = take_columns(a, r, r->columns ? r->columns : usual);
    a->width = a->columns == 1 ? WIDTH_ALONE : WIDTH;
    for (int c = 0; c < a->columns; c++) {
        int length = (int)strlen(title_of(a, a->column[c]));
        if (length >= a->width) a->width = length + 1;
    }
    for (a->hot = 0; a->hot + 1 < a->columns && a->column[a->hot] == PERCENT;)
        a->hot++;
    a->hot = a->columns && a->column[a->hot] != PERCENT ? a->column[a->hot] : EXECUTED;
    a->sorted = r->sort != NULL;
    if (!status && r->sort) status = find_column(a, r, r->sort, &a->hot);
    if (a->hot == PERCENT) a->hot = EXECUTED;
    return status;
}

int report_annotate(const struct report *r)
{
    struct chil_report_code *code = NULL;
    struct chil_error err = {0};
    if (chil_report_code_new(&code, r->read, r->file, r->annotate, &err))
        return cmd_fail_error("report", &err);
    struct annotation a = {.code = code};
    bool list = r->columns && strcmp(r->columns, "help") == 0;
    int status = list ? list_columns(&a) : choose_columns(&a, r);
    for (size_t i = 0; i < code->count && !status && !list; i++) {
        if (i) (void)putchar('\n');
        a.function = &code->function[i];
        print_function(&a);
    }
    chil_report_code_free(code);
    return status;
}
