/* Experiments in memory and in files that Chiliad wrote. Files of other tools:
 * test_exp_foreign.c. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>
#include <cmocka.h>

#include "cube_literal.h"
#include "exp_random.h"
#include "random.h"

enum { TRIALS = 40 };

static char folder[] = "/tmp/test_exp.XXXXXX";
static char path[64];

static int make_folder(void **unused)
{
    (void)unused;
    if (!mkdtemp(folder)) return -1;
    (void)snprintf(path, sizeof path, "%s/x.cubex", folder);
    return 0;
}

static int remove_folder(void **unused)
{
    (void)unused;
    (void)unlink(path);
    return rmdir(folder); /* fails when something was left behind */
}

/* --- In memory ------------------------------------------------------------------------------- */

/* `nodes` call paths in a chain, `threads` threads, one metric of counts. */
static struct chil_exp *chain(int nodes, int threads)
{
    struct chil_exp *exp = chil_exp_new();
    int region = chil_exp_add_region(exp, &(struct chil_exp_region){.name = "f", .module = "f.c"});
    for (int i = 0; i < nodes; i++)
        (void)chil_exp_add_node(exp, i - 1, region, i, "");
    int node = chil_exp_add_place(exp, -1, CHIL_EXP_NODE, "n", 0),
        process = chil_exp_add_place(exp, node, CHIL_EXP_PROCESS, "p", 0);
    for (int i = 0; i < threads; i++)
        (void)chil_exp_add_place(exp, process, CHIL_EXP_THREAD, "t", i);
    (void)chil_exp_add_metric(exp, &(struct chil_exp_metric){.name = "A", .parent = -1});
    return exp;
}

static void cells_come_in_any_order(void **unused)
{
    uint64_t state = 11;
    enum { NODES = 20, THREADS = 5, ADDS = 1000 };
    int64_t wanted[NODES][THREADS] = {0};
    struct chil_exp *exp = chain(NODES, THREADS);
    (void)unused;
    for (int i = 0; i < ADDS; i++) {
        int node = (int)random_below(&state, NODES), thread = (int)random_below(&state, THREADS);
        int64_t value = (int64_t)random_below(&state, 7) - 3;
        chil_exp_add_count(exp, 0, node, thread, value);
        wanted[node][thread] += value;
    }
    size_t count;
    const struct chil_exp_cell *cell = chil_exp_cells(exp, 0, &count);
    for (size_t i = 0; i < count; i++) {
        assert_true(cell[i].count != 0);
        assert_true(i == 0 || cell[i - 1].node < cell[i].node ||
                    (cell[i - 1].node == cell[i].node && cell[i - 1].thread < cell[i].thread));
    }
    double below[NODES];
    chil_exp_sum_nodes(exp, 0, true, -1, below);
    int64_t subtree = 0;
    for (int n = NODES - 1; n >= 0; n--) {
        int64_t own = 0;
        for (int t = 0; t < THREADS; t++) {
            assert_true(chil_exp_count(exp, 0, n, t) == wanted[n][t]);
            assert_true(chil_exp_sum_count(exp, 0, n, false, t) == wanted[n][t]);
            own += wanted[n][t];
        }
        subtree += own;
        assert_true(chil_exp_sum_count(exp, 0, n, false, -1) == own);
        assert_true(chil_exp_sum_count(exp, 0, n, true, -1) == subtree);
        assert_true(below[n] == (double)subtree);
    }
    assert_true(chil_exp_sum_count(exp, 0, -1, false, -1) == subtree);
    chil_exp_free(exp);
}

static void names_are_made_fit_and_stay_unique(void **unused)
{
    struct chil_exp *exp = chil_exp_new();
    (void)unused;
    assert_int_equal(
        chil_exp_add_metric(exp, &(struct chil_exp_metric){.name = "DATA_HIT_L1$", .parent = -1}),
        0);
    assert_string_equal(exp->metric[0].name, "DATA_HIT_L1_");
    assert_string_equal(exp->metric[0].title, "DATA_HIT_L1$");
    assert_int_equal(chil_exp_find_metric(exp, "DATA_HIT_L1$"), 0);
    assert_int_equal(chil_exp_find_metric(exp, "DATA_HIT_L1_"), 0);
    assert_int_equal(chil_exp_find_metric(exp, "nothing"), -1);
    assert_int_equal(
        chil_exp_add_metric(exp, &(struct chil_exp_metric){.name = "DATA_HIT_L1/", .parent = -1}),
        -1);
    assert_int_equal(chil_exp_add_metric(exp, &(struct chil_exp_metric){.name = "", .parent = -1}),
                     -1);
    assert_int_equal(chil_exp_add_metric(exp, &(struct chil_exp_metric){.name = "X", .parent = 5}),
                     -1);
    assert_int_equal(chil_exp_add_node(exp, -1, 0, 1, ""), -1);
    assert_int_equal(chil_exp_add_place(exp, -1, CHIL_EXP_THREAD, "t", 0), -1);
    chil_exp_free(exp);
}

static void counts_stop_at_the_ends(void **unused)
{
    struct chil_exp *exp = chain(1, 1);
    (void)unused;
    chil_exp_add_count(exp, 0, 0, 0, INT64_MAX);
    chil_exp_add_count(exp, 0, 0, 0, 1);
    assert_true(chil_exp_count(exp, 0, 0, 0) == INT64_MAX);
    chil_exp_add_real(exp, 0, 0, 0, 0.5);
    assert_int_equal(exp->metric[0].kind, CHIL_EXP_REAL);
    assert_true(chil_exp_count(exp, 0, 0, 0) == INT64_MAX);
    chil_exp_free(exp);
}

/* --- Files ----------------------------------------------------------------------------------- */

static struct chil_exp *through_file(const struct chil_exp *exp, const char *name)
{
    struct chil_error err = {0};
    struct chil_exp *result = NULL;
    if (chil_exp_write(exp, name, &err) != 0) fail_msg("%s", err.text);
    if (chil_exp_read(&result, name, &err) != 0) fail_msg("%s", err.text);
    return result;
}

static void assert_same(const struct chil_exp *a, const struct chil_exp *b)
{
    char *x = exp_dump(a), *y = exp_dump(b);
    assert_string_equal(x, y);
    free(x);
    free(y);
}

static void assert_same_metadata(const struct chil_exp *a, const struct chil_exp *b)
{
    assert_int_equal(a->metrics, b->metrics);
    assert_int_equal(a->nodes, b->nodes);
    assert_int_equal(a->regions, b->regions);
    assert_int_equal(a->places, b->places);
    assert_int_equal(a->attributes, b->attributes);
    for (size_t i = 0; i < a->metrics; i++) {
        const struct chil_exp_metric *x = &a->metric[i],
                                     *y = &b->metric[chil_exp_find_metric(b, a->metric[i].name)];
        assert_string_equal(x->title, y->title);
        assert_string_equal(x->unit, y->unit);
        assert_string_equal(x->text, y->text);
        assert_string_equal(x->formula, y->formula);
        assert_string_equal(x->exactness, y->exactness);
        assert_int_equal(x->kind, y->kind);
        assert_int_equal(x->origin, y->origin);
        assert_int_equal(x->partial, y->partial);
        assert_int_equal(x->derived, y->derived);
        assert_int_equal(x->runs, y->runs);
        assert_true(x->runs == 1 || (x->low == y->low && x->high == y->high));
        assert_int_equal(x->parent < 0, y->parent < 0);
        if (x->parent >= 0)
            assert_string_equal(a->metric[x->parent].name, b->metric[y->parent].name);
    }
    for (size_t i = 0; i < a->attributes; i++)
        assert_string_equal(chil_exp_attribute(b, a->attribute[i].key), a->attribute[i].value);
}

static void files_give_back_what_was_written(void **unused)
{
    uint64_t state = 12;
    (void)unused;
    for (uint64_t trial = 0; trial < random_trials(TRIALS); trial++) {
        struct chil_exp *a = exp_random(&state), *b = exp_random(&state), *mean = NULL;
        assert_int_equal(
            chil_exp_mean(&mean, (const struct chil_exp *const[]){a, b}, 2, NULL, NULL), 0);
        struct chil_exp *one = through_file(a, path), *two = through_file(mean, path);
        assert_same(one, a);
        assert_same_metadata(a, one);
        assert_same(two, mean);
        assert_same_metadata(mean, two);
        chil_exp_free(a);
        chil_exp_free(b);
        chil_exp_free(mean);
        chil_exp_free(one);
        chil_exp_free(two);
    }
}

static void cube3_files_keep_the_numbers(void **unused)
{
    uint64_t state = 13;
    char cube[80];
    (void)unused;
    (void)snprintf(cube, sizeof cube, "%s/x.cube", folder);
    for (uint64_t trial = 0; trial < random_trials(TRIALS); trial++) {
        struct chil_exp *one = exp_random(&state), *two = exp_random(&state), *a = NULL;
        assert_int_equal(chil_exp_mean(&a, (const struct chil_exp *const[]){one, two},
                                       1 + trial % 2, NULL, NULL),
                         0);
        chil_exp_free(one);
        chil_exp_free(two);
        struct chil_exp *b = through_file(a, cube);
        assert_same(a, b);
        for (size_t i = 0; i < a->metrics; i++) {
            const struct chil_exp_metric *x = &a->metric[i],
                                         *y = &b->metric[chil_exp_find_metric(b, x->name)];
            assert_int_equal(x->partial, y->partial);
            assert_int_equal(x->derived, y->derived);
            assert_int_equal(x->origin, y->origin);
            assert_int_equal(x->runs, y->runs);
            assert_true(x->runs <= 1 || (x->low == y->low && x->high == y->high));
            assert_string_equal(x->formula, y->formula);
            assert_string_equal(x->exactness, y->exactness);
        }
        assert_int_equal(a->attributes, b->attributes);
        chil_exp_free(a);
        chil_exp_free(b);
    }
    (void)unlink(cube);
}

/* A literal reader of cubelib's rules sees the same numbers. It refuses what pycubexr refuses: two
 * roots, an index without rows. Planted: a metric that is zero is written without rows. */
static void the_literal_reader_sees_the_same(void **unused)
{
    uint64_t state = 14;
    char why[400] = "";
    (void)unused;
    for (uint64_t trial = 0; trial < random_trials(TRIALS); trial++) {
        struct chil_exp *a = exp_random(&state), *b = exp_random(&state), *change = NULL;
        assert_int_equal(chil_exp_diff(&change, a, b, NULL, NULL), 0); /* negative ones too */
        const struct chil_exp *both[] = {a, change};
        for (int i = 0; i < 2; i++) {
            if (!both[i]->metrics) continue;
            assert_int_equal(chil_exp_write(both[i], path, NULL), 0);
            char *literal = cube_literal_dump(path, why, sizeof why), *ours = exp_dump(both[i]);
            if (!literal) fail_msg("%s", why);
            assert_string_equal(literal, ours);
            free(literal);
            free(ours);
        }
        chil_exp_free(a);
        chil_exp_free(b);
        chil_exp_free(change);
    }
}

/* An anchor.xml of every length modulo 512 is written; none is of whole blocks. */
static void no_member_is_of_whole_blocks(void **unused)
{
    char text[600] = "";
    (void)unused;
    for (size_t length = 0; length < 520; length += random_trials(10) < 10 ? 13 : 1) {
        struct chil_exp *exp = chain(2, 2);
        memset(text, 'x', length);
        text[length] = 0;
        chil_exp_set_attribute(exp, "long", text);
        chil_exp_add_count(exp, 0, 1, 1, 1);
        int ends[2];
        char pipe_path[40];
        assert_int_equal(pipe(ends), 0);
        (void)snprintf(pipe_path, sizeof pipe_path, "/proc/self/fd/%d", ends[1]);
        assert_int_equal(chil_exp_write(exp, pipe_path, NULL), 0);
        (void)close(ends[1]);
        static unsigned char bytes[1 << 16];
        size_t size = 0;
        for (ssize_t got; (got = read(ends[0], bytes + size, sizeof bytes - size)) > 0;
             size += (size_t)got)
            ;
        size_t anchor = 4 * 512; /* after one metric's two members */
        assert_string_equal((char *)bytes + anchor, "anchor.xml");
        assert_true(size > anchor && strtoul((char *)bytes + anchor + 124, NULL, 8) % 512 != 0);
        (void)close(ends[0]);
        chil_exp_free(exp);
    }
}

/* Wide sparse rows are packed; a standard archive reader finds every member; the literal reader
 * unpacks them. */
static void wide_rows_are_packed(void **unused)
{
    enum { NODES = 200, THREADS = 60 };
    char why[400] = "";
    struct chil_exp *exp = chain(NODES, THREADS);
    (void)unused;
    for (int n = 0; n < NODES; n++)
        chil_exp_add_count(exp, 0, n, n * 7 % THREADS, 1000000007LL * n);
    struct chil_exp *back = through_file(exp, path);
    assert_same(exp, back);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_true(info.st_size < NODES * THREADS * 8 / 2);
    char *literal = cube_literal_dump(path, why, sizeof why), *ours = exp_dump(exp);
    if (!literal) fail_msg("%s", why);
    assert_string_equal(literal, ours);
    struct archive *archive = archive_read_new();
    struct archive_entry *entry;
    int members = 0;
    assert_int_equal(archive_read_support_format_tar(archive), ARCHIVE_OK);
    assert_int_equal(archive_read_open_filename(archive, path, 10240), ARCHIVE_OK);
    while (archive_read_next_header(archive, &entry) == ARCHIVE_OK)
        members++;
    assert_int_equal(members, 3);
    (void)archive_read_free(archive);
    free(literal);
    free(ours);
    chil_exp_free(exp);
    chil_exp_free(back);
}

/* A small one of bench_exp's: a value here and there in wide rows, which must not cost what is
 * between. */
static void scattered_values_stay_small(void **unused)
{
    enum { NODES = 2000, THREADS = 256, METRICS = 20 };
    uint64_t state = 15;
    struct chil_exp *exp = chain(NODES, THREADS);
    struct stat info;
    (void)unused;
    for (int m = 1; m < METRICS; m++) {
        char name[16];
        (void)snprintf(name, sizeof name, "M%d", m);
        int metric = chil_exp_add_metric(
            exp, &(struct chil_exp_metric){
                     .name = name, .parent = 0, .kind = m & 1 ? CHIL_EXP_REAL : CHIL_EXP_COUNT});
        for (int n = 0; n < NODES; n++) {
            int thread = (int)random_below(&state, THREADS);
            if (m & 1)
                chil_exp_add_real(exp, metric, n, thread, (double)random_next(&state) / 3);
            else
                chil_exp_add_count(exp, metric, n, thread,
                                   (int64_t)(random_next(&state) >> random_below(&state, 64)));
        }
    }
    struct chil_exp *back = through_file(exp, path);
    assert_int_equal(stat(path, &info), 0);
    assert_true(info.st_size < METRICS * NODES * 70 + (1 << 20)); /* plain rows would be 80 MB */
    for (int m = 0; m < METRICS; m++) {
        size_t count, back_count;
        const struct chil_exp_cell *cell = chil_exp_cells(exp, m, &count);
        const struct chil_exp_cell *back_cell =
            chil_exp_cells(back, chil_exp_find_metric(back, exp->metric[m].name), &back_count);
        assert_int_equal(count, back_count);
        if (count)
            assert_memory_equal(cell, back_cell,
                                count * sizeof *cell); /* a chain is in document order */
    }
    chil_exp_free(exp);
    chil_exp_free(back);
}

static void several_roots_get_one_in_the_file_only(void **unused)
{
    struct chil_exp *exp = chain(2, 1);
    char why[400] = "";
    (void)unused;
    int second = chil_exp_add_node(exp, -1, 0, 5, "");
    int node = chil_exp_add_place(exp, -1, CHIL_EXP_NODE, "n2", 0),
        process = chil_exp_add_place(exp, node, CHIL_EXP_PROCESS, "p", 1);
    int thread = exp->place[chil_exp_add_place(exp, process, CHIL_EXP_THREAD, "t", 0)].thread;
    chil_exp_add_count(exp, 0, second, thread, 9);
    chil_exp_add_count(exp, 0, 0, 0, 3);
    struct chil_exp *back = through_file(exp, path);
    assert_same(exp, back);
    assert_same_metadata(exp, back);
    assert_int_equal(back->place[0].level, CHIL_EXP_NODE);
    char *literal = cube_literal_dump(path, why, sizeof why);
    if (!literal) fail_msg("%s", why);
    free(literal);
    chil_exp_free(exp);
    chil_exp_free(back);
}

static void topologies_survive(void **unused)
{
    struct chil_exp *exp = chain(1, 3);
    int coordinates[] = {0, 1, -1, -1, 1, 0};
    struct chil_exp_topology t = {"grid \"2 x 2\"", 2,          {"X", "Y"}, {2, 2},
                                  {true, false},    coordinates};
    (void)unused;
    assert_int_equal(chil_exp_add_topology(exp, &t), 0);
    chil_exp_add_count(exp, 0, 0, 2, 1);
    struct chil_exp *back = through_file(exp, path);
    assert_int_equal(back->topologies, 1);
    assert_string_equal(back->topology[0].name, t.name);
    assert_string_equal(back->topology[0].dimension_name[1], "Y");
    assert_true(back->topology[0].periodic[0] && !back->topology[0].periodic[1]);
    assert_memory_equal(back->topology[0].coordinates, coordinates, sizeof coordinates);
    chil_exp_free(exp);
    chil_exp_free(back);
}

static void any_text_becomes_xml(void **unused)
{
    struct chil_exp *exp = chain(1, 1), *back;
    (void)unused;
    exp->region[0].name =
        "operator<< \"a\" & 'b' > \xc3\xa9 \xff\x01 \xed\xa0\x80 \xf4\x90\x80\x80";
    chil_exp_add_count(exp, 0, 0, 0, 1);
    chil_exp_set_attribute(exp, "key<", "two\nlines");
    back = through_file(exp, path);
    assert_string_equal(back->region[0].name, "operator<< \"a\" & 'b' > \xc3\xa9 ?  ??? ????");
    assert_string_equal(chil_exp_attribute(back, "key<"), "two lines");
    chil_exp_free(exp);
    chil_exp_free(back);
}

/* --- Failures -------------------------------------------------------------------------------- */

static void writing_is_all_or_nothing(void **unused)
{
    struct chil_exp *exp = chain(1, 1), *empty = chil_exp_new(), *back = NULL;
    struct chil_error err = {0};
    char bad[80];
    (void)unused;
    chil_exp_add_count(exp, 0, 0, 0, 4);
    assert_int_equal(chil_exp_write(exp, path, &err), 0);
    assert_int_equal(chil_exp_write(empty, path, &err), CHIL_EINVAL); /* the old file stays */
    assert_int_equal(chil_exp_read(&back, path, &err), 0);
    assert_true(chil_exp_count(back, 0, 0, 0) == 4);
    assert_int_equal(chil_exp_write(exp, folder, &err), CHIL_EIO);
    (void)snprintf(bad, sizeof bad, "%s/none/x.cubex", folder);
    assert_int_equal(chil_exp_write(exp, bad, &err), CHIL_EIO);
    assert_non_null(strstr(err.text, "none/x.cubex"));
    assert_int_equal(chil_exp_write(exp, "/dev/full", &err), CHIL_EIO);
    assert_int_equal(chil_exp_read(&back, bad, &err), CHIL_EIO);
    int files = 0;
    DIR *d = opendir(folder);
    while (readdir(d))
        files++;
    (void)closedir(d);
    assert_int_equal(files, 3); /* ., .. and the file: no temporary one is left */
    chil_exp_free(exp);
    chil_exp_free(empty);
    chil_exp_free(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_come_in_any_order),
        cmocka_unit_test(names_are_made_fit_and_stay_unique),
        cmocka_unit_test(counts_stop_at_the_ends),
        cmocka_unit_test(files_give_back_what_was_written),
        cmocka_unit_test(cube3_files_keep_the_numbers),
        cmocka_unit_test(the_literal_reader_sees_the_same),
        cmocka_unit_test(no_member_is_of_whole_blocks),
        cmocka_unit_test(wide_rows_are_packed),
        cmocka_unit_test(scattered_values_stay_small),
        cmocka_unit_test(several_roots_get_one_in_the_file_only),
        cmocka_unit_test(topologies_survive),
        cmocka_unit_test(any_text_becomes_xml),
        cmocka_unit_test(writing_is_all_or_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
