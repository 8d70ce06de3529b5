/* The code of an experiment as a part of a page: functions, their instructions with counts, and the
 * source lines around them, where the files are still there. */
#include <stdlib.h>
#include <string.h>

#include "chiliad/run.h"
#include "cmd/page.h"

enum { AROUND = 4, FILES_MAX = 4096 }; /* source lines before and behind those with code */

struct file {
    const char *name;
    int least, most; /* lines with code */
};
struct files {
    struct file file[FILES_MAX];
    size_t count, last;
};

/* The file's number; instructions of one file mostly follow each other. */
static int find_file(struct files *files, const char *name)
{
    if (files->count && strcmp(files->file[files->last].name, name) == 0) return (int)files->last;
    for (files->last = 0; files->last < files->count; files->last++)
        if (strcmp(files->file[files->last].name, name) == 0) return (int)files->last;
    if (files->count == FILES_MAX) return -1;
    files->file[files->count] = (struct file){.name = name};
    files->last = files->count++;
    return (int)files->last;
}

/* What each event counted, by instruction; null where a function has none of it. */
static json_t *values_json(struct view_page *page, const struct chil_report_function *f,
                           size_t events)
{
    int64_t *number = calloc(f->count + 1, sizeof *number);
    json_t *list = json_array();
    for (size_t e = 0; e < events && number; e++) {
        bool any = false;
        for (size_t i = 0; i < f->count; i++) {
            uint64_t value = f->instruction[i].value ? f->instruction[i].value[e] : 0;
            number[i] = value > INT64_MAX ? INT64_MAX : (int64_t)value;
            any |= value != 0;
        }
        (void)json_array_append_new(list,
                                    any ? view_page_counts(page, number, f->count) : json_null());
    }
    free(number);
    return list;
}

static json_t *function_json(struct view_page *page, struct files *files,
                             const struct chil_report_function *f, size_t events)
{
    size_t n = f->count;
    int64_t *number = calloc(4 * (n + 1), sizeof *number);
    json_t *texts = json_array(), *result = json_object();
    if (!number) return result;
    int64_t *address = number, *count = address + n, *line = count + n, *file = line + n;
    for (size_t i = 0; i < n; i++) {
        const struct chil_report_instruction *at = &f->instruction[i];
        char text[CHIL_INSTRUCTION_TEXT];
        int which = find_file(files, at->file);
        chil_instruction_text(at->word, at->address, text, sizeof text);
        (void)json_array_append_new(texts, view_json_text(text));
        address[i] = at->address;
        count[i] = at->count > INT64_MAX ? INT64_MAX : (int64_t)at->count;
        line[i] = at->line;
        file[i] = which + 1; /* 0: none of those listed */
        if (which < 0 || at->line <= 0) continue;
        struct file *place = &files->file[which];
        if (!place->least || at->line < place->least) place->least = at->line;
        if (at->line > place->most) place->most = at->line;
    }
    (void)json_object_set_new(result, "name", view_json_text(f->name));
    (void)json_object_set_new(result, "object", view_json_text(f->object));
    (void)json_object_set_new(result, "address", view_page_counts(page, address, n));
    (void)json_object_set_new(result, "count", view_page_counts(page, count, n));
    (void)json_object_set_new(result, "line", view_page_counts(page, line, n));
    (void)json_object_set_new(result, "file", view_page_counts(page, file, n));
    (void)json_object_set_new(result, "values", values_json(page, f, events));
    (void)json_object_set_new(result, "text", texts);
    free(number);
    return result;
}

/* The lines of a file that are near code; the list is empty when it cannot be read. */
static json_t *file_json(const struct file *f)
{
    json_t *lines = json_array();
    int first = f->least > AROUND ? f->least - AROUND : 1;
    FILE *in = f->most ? view_file_source(f->name) : NULL;
    char *text = NULL;
    size_t size = 0;
    for (int line = 1; in && line <= f->most + AROUND; line++) {
        if (getline(&text, &size, in) < 0) break;
        text[strcspn(text, "\r\n")] = 0;
        if (line >= first) (void)json_array_append_new(lines, view_json_text(text));
    }
    free(text);
    if (in) (void)fclose(in);
    return json_pack("{s:o,s:i,s:o}", "name", view_json_text(f->name), "first", first, "lines",
                     lines);
}

json_t *page_code(struct view_page *page, const struct report *r)
{
    struct chil_report_code *code = NULL;
    struct chil_error err = {0};
    struct files *files = calloc(1, sizeof *files);
    if (!files || chil_report_code_new(&code, r->read, r->file, "*", &err)) {
        free(files);
        return NULL;
    }
    json_t *functions = json_array(), *list = json_array(), *names = json_array();
    for (size_t i = 0; i < code->count; i++)
        (void)json_array_append_new(functions,
                                    function_json(page, files, &code->function[i], code->events));
    for (size_t i = 0; i < files->count; i++)
        (void)json_array_append_new(list, file_json(&files->file[i]));
    for (size_t e = 0; e < code->events; e++)
        (void)json_array_append_new(names, view_json_text(code->event[e]));
    chil_report_code_free(code);
    free(files);
    return json_pack("{s:o,s:o,s:o}", "functions", functions, "files", list, "events", names);
}
