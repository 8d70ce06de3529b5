/* Histograms by declaration: what is read, what is refused and where, and counts against a plain
 * tally. */
#include "rig_monitor.h"

#include <stdio.h>

/* --- Declarations ---------------------------------------------------------------------------- */

static struct chil_hist *declare(const char *text, const char *where,
                                 const struct chil_hist_names *names)
{
    struct chil_hist *hist = NULL;
    struct chil_error err = {0};
    if (chil_hist_new(&hist, text, where, names, &err)) fail_msg("'%s': %s", text, err.text);
    return hist;
}

static void a_declaration_says_widths_shifts_and_scales(void **state)
{
    const struct {
        const char *text;
        unsigned count;
        struct chil_dimension first, last;
    } good[] = {
        {"latency",
         1,
         {CHIL_VAR_LATENCY, CHIL_SCALE_LINEAR, 0, 0, 20, 0},
         {CHIL_VAR_LATENCY, CHIL_SCALE_LINEAR, 0, 0, 20, 0}},
        {"latency:12 x tag x category",
         3,
         {CHIL_VAR_LATENCY, CHIL_SCALE_LINEAR, 0, 0, 12, 8},
         {CHIL_VAR_CATEGORY, CHIL_SCALE_LINEAR, 0, 0, 4, 0}},
        {" latency >> 4 : 8,tag ",
         2,
         {CHIL_VAR_LATENCY, CHIL_SCALE_LINEAR, 4, 0, 8, 4},
         {CHIL_VAR_TAG, CHIL_SCALE_LINEAR, 0, 0, 4, 0}},
        {"latency:log",
         1,
         {CHIL_VAR_LATENCY, CHIL_SCALE_LOG, 0, 1, 6, 0},
         {CHIL_VAR_LATENCY, CHIL_SCALE_LOG, 0, 1, 6, 0}},
        {"latency:log8xsize:log",
         2,
         {CHIL_VAR_LATENCY, CHIL_SCALE_LOG, 0, 8, 9, 4},
         {CHIL_VAR_SIZE, CHIL_SCALE_LOG, 0, 1, 4, 0}},
        {"page * kind",
         2,
         {CHIL_VAR_PAGE, CHIL_SCALE_LINEAR, 0, 0, 20, 3},
         {CHIL_VAR_KIND, CHIL_SCALE_LINEAR, 0, 0, 3, 0}},
        {"address>>5 x pc",
         2,
         {CHIL_VAR_ADDRESS, CHIL_SCALE_LINEAR, 5, 0, 27, 32},
         {CHIL_VAR_PC, CHIL_SCALE_LINEAR, 0, 0, 32, 0}},
        {"address x pc",
         2,
         {CHIL_VAR_ADDRESS, CHIL_SCALE_LINEAR, 0, 0, 32, 32},
         {CHIL_VAR_PC, CHIL_SCALE_LINEAR, 0, 0, 32, 0}},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof good / sizeof *good; i++) {
        struct chil_hist *hist = declare(good[i].text, NULL, NULL);
        assert_int_equal(chil_hist_dimensions(hist), good[i].count);
        assert_memory_equal(chil_hist_dimension(hist, 0), &good[i].first, sizeof good[i].first);
        assert_memory_equal(chil_hist_dimension(hist, good[i].count - 1), &good[i].last,
                            sizeof good[i].last);
        chil_hist_free(hist);
    }
}

static void errors_name_the_column(void **state)
{
    const struct {
        const char *declaration, *where, *message;
    } bad[] = {
        {"", NULL, "declaration, column 1: a variable is wanted here"},
        {"latency x", NULL, "declaration, column 10: a variable is wanted here"},
        {"latency x latncy", NULL,
         "declaration, column 11: there is no variable 'latncy'; did you mean 'latency'?"},
        {"latency tag", NULL,
         "declaration, column 9: 'x' and another dimension, or the end, is wanted here"},
        {"latency:", NULL, "declaration, column 9: the width in bits is wanted here, a number"},
        {"latency:0", NULL, "declaration, column 9: the width in bits must be at least 1"},
        {"latency:45", NULL, "declaration, column 9: the width in bits must be at most 44"},
        {"latency:99999999999999999999", NULL,
         "declaration, column 9: the width in bits is too large"},
        {"latency>>44", NULL, "declaration, column 10: the shift must be at most 43"},
        {"tag x latency:log3", NULL, "declaration, column 18: log takes 1, 2, 4 or 8"},
        {"level:2", NULL, "declaration, column 6: values of 'level' have names"},
        {"address x pc x tag", NULL,
         "declaration, column 16: with this dimension an address has 68 bits; 64 is the most"},
        {"tag x tag x tag x tag x tag x tag x tag x tag x tag", NULL,
         "declaration, column 49: more than 8 dimensions"},
        {"function", NULL, "declaration, column 1: 'function' needs the names of a program"},
        {"tag", "", "predicate, column 1: a variable is wanted here"},
        {"tag", "tag=1 &", "predicate, column 8: a variable is wanted here"},
        {"tag", "tag 1", "predicate, column 5: a comparison is wanted here"},
        {"tag", "tag=x", "predicate, column 5: a value is wanted here, a number"},
        {"tag", "tag=1 core=2", "predicate, column 7: '&', '|' or the end is wanted here"},
        {"tag", "(tag=1", "predicate, column 7: ')' is wanted here"},
        {"tag", "kind=lod", "predicate, column 6: there is no kind 'lod'; did you mean 'load'?"},
        {"tag", "kind<load", "predicate, column 6: values of 'kind' are names: only = and !="},
        {"tag", "tag=1)", "predicate, column 6: '&', '|' or the end is wanted here"},
        {"tag", "!!!!!!!!!!!!!!!!!!!!!!!!!tag=1", "predicate, column 25: nested more than 24 deep"},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct chil_hist *hist = NULL;
        struct chil_error err = {0};
        assert_int_equal(chil_hist_new(&hist, bad[i].declaration, bad[i].where, NULL, &err),
                         CHIL_EPARSE);
        if (strncmp(err.text, bad[i].message, strlen(bad[i].message)) != 0)
            fail_msg("'%s' where '%s': '%s'", bad[i].declaration, bad[i].where ? bad[i].where : "",
                     err.text);
        assert_null(hist);
        assert_int_equal(chil_hist_new(&hist, bad[i].declaration, bad[i].where, NULL, NULL),
                         CHIL_EPARSE);
    }
}

/* --- Bins ------------------------------------------------------------------------------------ */

static void every_value_is_in_the_bin_that_says_so(void **state)
{
    const char *const declarations[] = {"latency:log",  "latency:log2",   "latency:log4",
                                        "latency:log8", "latency:12",     "latency>>3:10",
                                        "latency:44",   "latency>>5:log2"};
    (void)state;
    for (unsigned i = 0; i < sizeof declarations / sizeof *declarations; i++) {
        uint64_t before = 0, random = i;
        for (unsigned k = 0; k < 3000; k++) {
            uint64_t value =
                         k < 1000 ? k : (random_next(&random) >> 20) >> random_below(&random, 44),
                     first, last;
            struct chil_hist *hist = declare(declarations[i], NULL, NULL);
            size_t count;
            char text[CHIL_VALUE_TEXT], *end;
            chil_hist_notify(hist, &(struct chil_transaction){.start = 5, .end = 5 + value});
            const struct chil_bin *bins = chil_hist_bins(hist, &count);
            assert_int_equal(count, 1);
            assert_int_equal(bins[0].count, 1);
            chil_hist_value(hist, 0, chil_hist_index(hist, 0, bins[0].key), text);
            first = strtoull(text, &end, 10);
            last = *end == '-' ? strtoull(end + 1, &end, 10) : *end == '+' ? UINT64_MAX : first;
            if (value < first || value > last)
                fail_msg("%s: %llu is in '%s'", declarations[i], (unsigned long long)value, text);
            if (k < 1000)
                assert_true(bins[0].key >= before); /* bins are in the order of their values */
            if (k < 1000) before = bins[0].key;
            chil_hist_free(hist);
        }
    }
}

static void many_at_a_time_are_as_many_one_by_one(void **state)
{
    const char *const declarations[] = {"latency:12 x level",
                                        "latency:40 x core"}; /* dense and sparse */
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct chil_hist *one = declare(declarations[i], "core!=3", NULL),
                         *many = declare(declarations[i], "core!=3", NULL);
        uint64_t random = 7;
        size_t count, count_many;
        for (unsigned k = 0; k < 9000; k++) {
            struct chil_transaction t = {.end = random_below(&random, 5000),
                                         .core = (uint8_t)random_below(&random, 4),
                                         .level = (uint8_t)random_below(&random, 4)};
            uint64_t times = random_below(&random, 4);
            chil_hist_notify_uniform(many, &t, times);
            while (times--)
                chil_hist_notify(one, &t);
        }
        const struct chil_bin *bins = chil_hist_bins(one, &count),
                              *bins_many = chil_hist_bins(many, &count_many);
        assert_int_equal(chil_hist_total(one), chil_hist_total(many));
        assert_int_equal(count, count_many);
        assert_memory_equal(bins, bins_many, count * sizeof *bins);
        chil_hist_free(one);
        chil_hist_free(many);
    }
}

static void who_asks_for_a_place_is_known(void **state)
{
    struct chil_ranges *ranges = chil_ranges_new();
    const struct chil_hist_names by_pc = {.categories = ranges};
    const struct {
        const char *declaration, *where;
        const struct chil_hist_names *names;
        bool place;
    } rows[] = {
        {"latency:log x size:4 x sender x core x pid:8 x tid:8 x kind x level", NULL, NULL, false},
        {"category", "kind=load", NULL, false},
        {"category", NULL, &by_pc, true},
        {"latency", "address>0", NULL, true},
        {"latency", "level=l2 & pc=4", NULL, true},
        {"latency x tag", NULL, NULL, true},
        {"latency x page", NULL, NULL, true},
        {"cause", NULL, NULL, true},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chil_hist *hist = declare(rows[i].declaration, rows[i].where, rows[i].names);
        assert_int_equal(chil_hist_uses_place(hist), rows[i].place);
        chil_hist_free(hist);
    }
    chil_ranges_free(ranges);
}

/* Dense and sparse histograms against a tally of strings. */
static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Planted: one transaction in 97 is counted under another pc. */
static void SHR_04_joint_counts_are_those_of_a_plain_tally(void **state)
{
    const char *const declarations[] = {"kind x level", "latency:4 x core x sender:4",
                                        "address>>5 x pc", "page x latency:log"};
    (void)state;
    for (unsigned i = 0; i < sizeof declarations / sizeof *declarations; i++) {
        enum { TRANSACTIONS = 20000 };
        struct chil_hist *hist = declare(declarations[i], NULL, NULL);
        uint64_t random = 3;
        uint64_t *keys = calloc(TRANSACTIONS, sizeof *keys);
        size_t count;
        assert_non_null(keys);
        for (unsigned k = 0; k < TRANSACTIONS; k++) {
            struct chil_transaction t = {.end = random_below(&random, 40),
                                         .address = (uint32_t)random_below(&random, 50000) * 32,
                                         .pc = (uint32_t)random_below(&random, 20) * 4,
                                         .sender = (uint16_t)random_below(&random, 16),
                                         .core = (uint8_t)random_below(&random, 4),
                                         .kind = (uint8_t)random_below(&random, 3),
                                         .level = (uint8_t)random_below(&random, 4)};
            const uint64_t latency = t.end < 15 ? t.end : 15,
                           log = t.end ? 64 - (unsigned)__builtin_clzll(t.end) : 0;
            const uint64_t key[] = {t.kind * 4U + t.level, (latency * 256 + t.core) * 16 + t.sender,
                                    (uint64_t)(t.address / 32) << 32 | t.pc,
                                    t.address / 4096 * 64 + log};
            keys[k] = key[i];
            chil_hist_notify(hist, &t);
        }
        const struct chil_bin *bins = chil_hist_bins(hist, &count);
        uint64_t sum = 0;
        for (size_t b = 0; b < count; b++) {
            if (b) assert_true(bins[b - 1].key < bins[b].key);
            sum += bins[b].count;
        }
        assert_int_equal(sum, TRANSACTIONS);
        assert_int_equal(chil_hist_total(hist), TRANSACTIONS);
        qsort(keys, TRANSACTIONS, sizeof *keys, by_number);
        size_t bin = 0;
        for (unsigned k = 0, same = 1; k < TRANSACTIONS; k++, same++) {
            if (k + 1 < TRANSACTIONS && keys[k + 1] == keys[k]) continue;
            assert_true(bin < count);
            assert_true(bins[bin].key == keys[k]);
            assert_int_equal(bins[bin++].count, same);
            same = 0;
        }
        assert_int_equal(bin, count);
        free(keys);
        chil_hist_free(hist);
    }
}

static struct chil_hist *packets_of(const char *declaration, unsigned small_sender)
{
    /* Figure 4's shape: every sender has 100 packets, one of them 50 short ones. */
    struct chil_hist *hist = declare(declaration, NULL, NULL);
    for (unsigned sender = 0; sender < 16; sender++)
        for (unsigned i = 0; i < 100; i++) {
            struct chil_transaction t = {.size = sender == small_sender && i < 50 ? 8 : 224,
                                         .sender = (uint16_t)sender,
                                         .kind = CHIL_PACKET};
            chil_hist_notify(hist, &t);
        }
    return hist;
}

/* For any sender of the short packets, the histogram of the sizes and that of the senders are the
 * same; the joint one differs and names the sender. Planted: the joint histogram counts sender 0
 * for every sender. */
static void SHR_35_only_the_joint_distribution_names_the_sender(void **state)
{
    size_t count;
    (void)state;
    for (unsigned sender = 1; sender < 16; sender++) {
        static const char *const projections[] = {"size>>4:8", "sender"};
        for (unsigned i = 0; i < 2; i++)
            assert_true(
                are_equal(packets_of(projections[i], 0), packets_of(projections[i], sender)));
        struct chil_hist *joint = packets_of("sender x size>>4:8", sender);
        const struct chil_bin *bins = chil_hist_bins(joint, &count);
        assert_int_equal(count, 17);
        for (size_t i = 0; i < count; i++) {
            uint64_t from = chil_hist_index(joint, 0, bins[i].key),
                     size = chil_hist_index(joint, 1, bins[i].key);
            assert_true(size == 14 || (size == 0 && from == sender));
            assert_int_equal(bins[i].count, from == sender ? 50 : 100);
        }
        chil_hist_free(joint);
    }
}

/* --- Predicates ------------------------------------------------------------------------------ */

static void predicates_hold_as_C_says(void **state)
{
    const char *const texts[] = {"tag=3 & sender!=0", "tag=3 | sender!=0 & latency>10",
                                 "!(tag=3 | sender!=0) & latency<=10",
                                 "kind=store&&level==ddr||core>=2",
                                 "!tag=3 & !(core<1 | (kind!=load & address>=0x80000000))"};
    uint64_t random = 9;
    (void)state;
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct chil_where *where = NULL;
        struct chil_error err = {0};
        assert_int_equal(chil_where_new(&where, texts[i], NULL, &err), 0);
        unsigned held = 0;
        for (unsigned k = 0; k < 5000; k++) {
            struct chil_transaction t = {.end = random_below(&random, 20),
                                         .address = (uint32_t)random_next(&random),
                                         .sender = (uint16_t)random_below(&random, 3),
                                         .core = (uint8_t)random_below(&random, 4),
                                         .kind = (uint8_t)random_below(&random, 3),
                                         .level = (uint8_t)random_below(&random, 4),
                                         .tag = (uint8_t)random_below(&random, 5)};
            const bool right[] = {
                t.tag == 3 && t.sender != 0,
                t.tag == 3 || (t.sender != 0 && t.end > 10),
                !(t.tag == 3 || t.sender != 0) && t.end <= 10,
                (t.kind == CHIL_STORE_MISS && t.level == CHIL_LEVEL_DDR) || t.core >= 2,
                t.tag != 3 &&
                    !(t.core < 1 || (t.kind != CHIL_LOAD_MISS && t.address >= 0x80000000)),
            };
            assert_int_equal(chil_where_holds(where, &t), right[i]);
            held += right[i];
        }
        assert_true(held > 0 && held < 5000);
        chil_where_free(where);
    }
}

/* --- Names ----------------------------------------------------------------------------------- */

static void the_later_range_counts_to_the_byte(void **state)
{
    enum { SPACE = 40000, RANGES = 200 };
    struct chil_ranges *ranges = chil_ranges_new();
    uint8_t *plain = calloc(SPACE, 1);
    uint64_t random = 4;
    (void)state;
    assert_non_null(plain);
    for (unsigned i = 0; i < RANGES; i++) {
        char name[20];
        uint32_t first = (uint32_t)random_below(&random, SPACE);
        uint32_t last = first + (uint32_t)random_below(&random, i % 10 ? 50 : 9000);
        if (last >= SPACE) last = SPACE - 1;
        (void)snprintf(name, sizeof name, "n%u", i % 90);
        uint32_t number = chil_ranges_add(ranges, name, first, last);
        assert_string_equal(chil_ranges_get(ranges, number), name);
        memset(plain + first, (int)number, last - first + 1);
    }
    for (uint32_t at = 0; at < SPACE; at++)
        assert_int_equal(chil_ranges_look_up(ranges, at), plain[at]);
    assert_int_equal(chil_ranges_look_up(ranges, UINT32_MAX), 0);
    assert_int_equal(chil_ranges_count(ranges), 90);
    assert_int_equal(chil_ranges_find(ranges, "n89"), 90);
    assert_int_equal(chil_ranges_find(ranges, "n90"), 0);
    assert_null(chil_ranges_get(ranges, 0));
    assert_null(chil_ranges_get(ranges, 91));
    free(plain);
    chil_ranges_free(ranges);
}

static void names_are_values_in_bins_and_predicates(void **state)
{
    struct chil_ranges *tags = chil_ranges_new(), *functions = chil_ranges_new();
    struct chil_hist_names names = {.tags = tags, .functions = functions, .categories = functions};
    size_t count;
    char text[CHIL_VALUE_TEXT];
    (void)state;
    (void)chil_ranges_add(tags, "ro", 0x1000, 0x1FFF);
    (void)chil_ranges_add(functions, "main", 0x100, 0x1FF);
    struct chil_hist *hist = declare("tag x function", "tag=ro | category=main", &names);
    const struct chil_transaction given[] = {{.address = 0x1800, .pc = 0x100},
                                             {.address = 0x1800, .pc = 0x300},
                                             {.address = 0x2000, .pc = 0x1FC, .tag = 9},
                                             {.address = 0x2000, .pc = 0x300}};
    for (unsigned i = 0; i < 4; i++)
        chil_hist_notify(hist, &given[i]);
    const struct chil_bin *bins = chil_hist_bins(hist, &count);
    assert_int_equal(count, 3);
    chil_hist_value(hist, 0, chil_hist_index(hist, 0, bins[0].key), text);
    assert_string_equal(text, "other");
    chil_hist_value(hist, 0, chil_hist_index(hist, 0, bins[2].key), text);
    assert_string_equal(text, "ro");
    chil_hist_value(hist, 1, chil_hist_index(hist, 1, bins[2].key), text);
    assert_string_equal(text, "main");
    chil_hist_free(hist);
    chil_ranges_free(tags);
    chil_ranges_free(functions);
}

/* Kinds and levels are fixed: a new name is refused, whatever the caller says is carried. Found by
 * `tools/fuzz hist`: a null dereference; planted again, this crashes. */
static void only_names_of_the_caller_may_be_new(void **state)
{
    (void)state;
    struct chil_ranges *ranges = chil_ranges_new();
    const struct chil_hist_names names = {
        .tags = ranges, .carried = UINT32_MAX, .open = UINT32_MAX};
    static const char *const refused[] = {"kind=='\x1f'", "level=\"l4\"", "cause=warm",
                                          "!(level=ddr|kind=='\x1f''''''fetcolumn re>=0x2"};
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct chil_error err = {0};
        struct chil_hist *hist = NULL;
        assert_int_equal(chil_hist_new(&hist, "address x pc", refused[i], &names, &err),
                         CHIL_EPARSE);
        assert_non_null(strstr(err.text, "there is no "));
    }
    chil_hist_free(declare("address", "tag='new'", &names));
    assert_int_equal(chil_ranges_find(ranges, "new"), 1);
    chil_ranges_free(ranges);
}

/* Names that transactions bring: the table may grow, up to the last bin, which then has all the
 * rest. */
static void carried_names_are_the_transaction_s(void **state)
{
    (void)state;
    enum { NAMES = 70000, LAST = (1 << 16) - 1 };
    char text[CHIL_VALUE_TEXT], name[400];
    size_t count;
    struct chil_ranges *functions = chil_ranges_new(), *tags = chil_ranges_new(),
                       *callpaths = chil_ranges_new();
    (void)chil_ranges_add(functions, "main", 0x1000, 0x1fff);
    (void)chil_ranges_add(tags, "mine", 0x1000, 0x1fff);
    const struct chil_hist_names names = {.functions = functions,
                                          .tags = tags,
                                          .callpaths = callpaths,
                                          .carried = 1U << CHIL_VAR_FUNCTION | 1U << CHIL_VAR_TAG |
                                                     1U << CHIL_VAR_CALLPATH};
    struct chil_hist *hist = declare("function x tag", "function!=\"two words\"", &names);
    struct chil_hist *paths = declare("callpath", NULL, &names);
    uint32_t unwanted = chil_ranges_find(functions, "two words");
    assert_int_equal(unwanted, 2);
    while (chil_ranges_count(functions) < NAMES) {
        (void)snprintf(name, sizeof name, "f%u", chil_ranges_count(functions));
        (void)chil_ranges_name(functions, name);
    }
    assert_int_equal(chil_ranges_name(tags, "malloc in main"), 2);
    const struct chil_transaction given[] = {
        {.function = 1, .address = 0x1000, .site = 2}, /* the user's tag counts first */
        {.function = 1, .address = 0x2000, .site = 2}, {.function = unwanted, .address = 0x2000},
        {.function = LAST, .address = 0x2000},         {.function = NAMES, .address = 0x2000},
    };
    for (unsigned i = 0; i < sizeof given / sizeof *given; i++)
        chil_hist_notify(hist, &given[i]);
    const struct chil_bin *bins = chil_hist_bins(hist, &count);
    assert_int_equal(count, 3);
    assert_string_equal(chil_hist_name(hist, 0, chil_hist_index(hist, 0, bins[0].key)), "main");
    assert_string_equal(chil_hist_name(hist, 1, chil_hist_index(hist, 1, bins[0].key)), "mine");
    assert_string_equal(chil_hist_name(hist, 1, chil_hist_index(hist, 1, bins[1].key)),
                        "malloc in main");
    assert_string_equal(chil_hist_name(hist, 0, chil_hist_index(hist, 0, bins[2].key)), "[more]");
    assert_int_equal(bins[2].count, 2);
    /* A call path that is too long for a text loses its beginning, not its end. */
    memset(name, 'a', sizeof name);
    memcpy(name + sizeof name - 8, " > last", 8);
    chil_hist_notify(paths,
                     &(struct chil_transaction){.callpath = chil_ranges_name(callpaths, name)});
    bins = chil_hist_bins(paths, &count);
    chil_hist_value(paths, 0, bins[0].key, text);
    assert_int_equal(strlen(text), CHIL_VALUE_TEXT - 1);
    assert_memory_equal(text, "...a", 4);
    assert_string_equal(text + strlen(text) - 7, " > last");
    assert_string_equal(chil_hist_name(paths, 0, bins[0].key), name);
    chil_hist_free(hist);
    chil_hist_free(paths);
    chil_ranges_free(functions);
    chil_ranges_free(tags);
    chil_ranges_free(callpaths);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_declaration_says_widths_shifts_and_scales),
        cmocka_unit_test(errors_name_the_column),
        cmocka_unit_test(every_value_is_in_the_bin_that_says_so),
        cmocka_unit_test(many_at_a_time_are_as_many_one_by_one),
        cmocka_unit_test(who_asks_for_a_place_is_known),
        cmocka_unit_test(SHR_04_joint_counts_are_those_of_a_plain_tally),
        cmocka_unit_test(SHR_35_only_the_joint_distribution_names_the_sender),
        cmocka_unit_test(predicates_hold_as_C_says),
        cmocka_unit_test(the_later_range_counts_to_the_byte),
        cmocka_unit_test(names_are_values_in_bins_and_predicates),
        cmocka_unit_test(only_names_of_the_caller_may_be_new),
        cmocka_unit_test(carried_names_are_the_transaction_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
