/* Views: one description gives a table, separated values and JSON; tables fit a terminal; files
 * appear whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "view/view.h"
#include "view/view_file.h"

enum { NAME, COUNT, SHARE, CORE_0, CORE_1, COLUMNS };
static const struct view_column columns[COLUMNS] = {
    [NAME] = {.title = "name", .left = true, .fit = VIEW_FIT_END},
    [COUNT] = {.title = "count", .none = "-", .null = true},
    [SHARE] = {.title = "share", .key = "part", .real = "%.1f%%", .raw = "%.3f"},
    [CORE_0] = {.title = "", .list = "cores", .forms = VIEW_IN_JSON},
    [CORE_1] = {.title = "", .list = "cores", .forms = VIEW_IN_JSON},
};

static void fill(struct view *view)
{
    view_init(view, columns, COLUMNS);
    struct view_cell *cell = view_row(view);
    cell[NAME] = view_copy(view, "a \"quoted\", long name of something");
    cell[COUNT] = view_count(UINT64_MAX);
    cell[SHARE] = view_real(12.3456);
    cell[CORE_0] = view_count(1);
    cell[CORE_1] = view_count(2);
    cell = view_row(view);
    cell[NAME] = view_text("b");
}

/* What a form prints, to be freed. */
static char *print(const struct view *view, const struct view_table_style *style,
                   const char *separator)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (style) {
        view_table(view, out, style);
    } else {
        view_lines_heading(view, out, separator);
        view_lines(view, out, separator);
    }
    (void)fclose(out);
    return text;
}

static void expect(char *text, const char *wanted)
{
    assert_string_equal(text, wanted);
    free(text);
}

static void one_description_gives_three_forms(void **state)
{
    (void)state;
    struct view view;
    fill(&view);
    expect(print(&view, &(struct view_table_style){.heading = true}, NULL),
           "name                                                     count  share\n"
           "a \"quoted\", long name of something  18,446,744,073,709,551,615  12.3%\n"
           "b                                                            -       \n");
    expect(print(&view, NULL, ","), "name,count,share\n"
                                    "\"a \"\"quoted\"\", long name of something\","
                                    "18446744073709551615,12.346\n"
                                    "b,-,\n");
    json_t *json = view_json(&view);
    char *text = json_dumps(json, JSON_REAL_PRECISION(6));
    expect(text, "[{\"name\": \"a \\\"quoted\\\", long name of something\", "
                 "\"count\": \"18446744073709551615\", \"part\": 12.3456, \"cores\": [1, 2]}, "
                 "{\"name\": \"b\", \"count\": null}]");
    json_decref(json);
    view_fini(&view);
}

static void rows_are_cut_to_the_terminal(void **state)
{
    (void)state;
    struct view view;
    fill(&view);
    expect(print(&view, &(struct view_table_style){.trim = true, .width = 57}, NULL),
           "a \"quoted\", long nam..  18,446,744,073,709,551,615  12.3%\n"
           "b                                                -\n");
    view_fini(&view);
}

static void the_widest_column_gives_way_in_its_middle(void **state)
{
    (void)state;
    static const struct view_column paths[] = {
        {.title = "path", .left = true, .fit = VIEW_FIT_MIDDLE},
        {.title = "tag", .left = true, .fit = VIEW_FIT_MIDDLE}};
    struct view view;
    view_init(&view, paths, 2);
    struct view_cell *cell = view_row(&view);
    cell[0] = view_text("main > solve > relax > smooth > kernel");
    cell[1] = view_text("grid");
    expect(print(&view, &(struct view_table_style){.heading = true, .width = 34}, NULL),
           "path                          tag\n"
           "main > .. > smooth > kernel   grid\n");
    view_fini(&view);
}

/* Planted: indents as in a wide table, so that the deepest names are "..". */
static void a_deep_tree_keeps_its_names(void **state)
{
    (void)state;
    static const struct view_column tree[] = {{.title = "tree", .left = true, .fit = VIEW_FIT_TREE},
                                              {.title = "n"}};
    struct view view;
    view_init(&view, tree, 2);
    for (unsigned depth = 0; depth <= 40; depth += 10) {
        char name[80];
        (void)snprintf(name, sizeof name, "%*sfunction_%u", (int)depth, "", depth);
        struct view_cell *cell = view_row(&view);
        cell[0] = view_copy(&view, name);
        cell[1] = view_count(depth);
    }
    expect(print(&view, &(struct view_table_style){.width = 32}, NULL),
           "function_0                     0\n"
           " function_10                  10\n"
           "  function_20                 20\n"
           "   function_30                30\n"
           "    function_40               40\n");
    expect(print(&view, &(struct view_table_style){.width = 56}, NULL),
           "function_0                                            0\n"
           "          function_10                                10\n"
           "                    function_20                      20\n"
           "                              function_30            30\n"
           "                                        function_40  40\n");
    view_fini(&view);
}

/* Planted: texts cut at their end, so that the table no longer says what is modelled. */
static void a_note_stays_when_its_text_is_cut(void **state)
{
    (void)state;
    static const struct view_column events[] = {
        {.title = "name", .left = true}, {.title = "text", .left = true, .fit = VIEW_FIT_NOTE}};
    static const char *const texts[] = {"lines (of 32 bytes) that were read (modelled)",
                                        "loads, stores (all of them) and everything"};
    struct view view;
    view_init(&view, events, 2);
    for (int i = 0; i < 2; i++) {
        struct view_cell *cell = view_row(&view);
        cell[0] = view_text("EVENT");
        cell[1] = view_text(texts[i]);
    }
    expect(print(&view, &(struct view_table_style){.width = 40}, NULL),
           "EVENT  lines (of 32 bytes) .. (modelled)\n"
           "EVENT  loads, stores (all of them) and..\n");
    expect(print(&view, &(struct view_table_style){.width = 18}, NULL), "EVENT  (modelled)\n"
                                                                        "EVENT  loads, st..\n");
    view_fini(&view);
}

static void numbers_are_grouped(void **state)
{
    (void)state;
    char text[VIEW_GROUPED_MAX];
    assert_string_equal(view_grouped(0, text), "0");
    assert_string_equal(view_grouped(999, text), "999");
    assert_string_equal(view_grouped(1000, text), "1,000");
    assert_string_equal(view_grouped_value(-1234567, true, text), "-1,234,567");
    assert_string_equal(view_grouped_value(0.125, false, text), "0.125");
}

static void a_file_appears_whole_or_not_at_all(void **state)
{
    (void)state;
    char folder[] = "/tmp/test_view.XXXXXX", path[64], text[16] = "";
    struct view_file file;
    struct chil_error err = {0};
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/out", folder);
    assert_int_equal(view_file_open(&file, path, &err), 0);
    (void)fputs("old", file.file);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(view_file_close(&file, true, &err), 0);
    assert_int_equal(view_file_open(&file, path, &err), 0);
    (void)fputs("half of the new", file.file);
    assert_int_equal(view_file_close(&file, false, &err), 0);
    FILE *in = fopen(path, "r");
    assert_int_equal(fread(text, 1, sizeof text - 1, in), 3);
    assert_string_equal(text, "old");
    (void)fclose(in);
    assert_int_equal(view_file_open(&file, folder, &err), CHIL_EIO);
    assert_non_null(strstr(err.text, "cannot write"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_description_gives_three_forms),
        cmocka_unit_test(rows_are_cut_to_the_terminal),
        cmocka_unit_test(the_widest_column_gives_way_in_its_middle),
        cmocka_unit_test(a_deep_tree_keeps_its_names),
        cmocka_unit_test(a_note_stays_when_its_text_is_cut),
        cmocka_unit_test(numbers_are_grouped),
        cmocka_unit_test(a_file_appears_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
