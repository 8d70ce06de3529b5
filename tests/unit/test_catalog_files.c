/* The catalogue's files: where they are found, what is refused and how, and that nothing a file
 * holds can crash it.
 *
 * Wrong files are made in a temporary folder from a right one by replacing one string, so that each
 * row of the tables below is one slip of the pen. Tests run in the root of the repository.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "random.h"

#include "catalog/catalog.h"

/* ---- fixtures ---- */

static char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 20);
    assert_non_null(bytes);
    *length = fread(bytes, 1, (1 << 20) - 1, file);
    bytes[*length] = 0;
    (void)fclose(file);
    return bytes;
}

static void write_file(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* A data directory of our own, with one machine. */
struct place {
    char folder[64], machine[128], events[128];
};

static void place_make(struct place *place, const char *name)
{
    char path[128];
    (void)snprintf(place->folder, sizeof place->folder, "/tmp/chiliad-catalog-XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    (void)snprintf(path, sizeof path, "%s/machines", place->folder);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof path, "%s/events", place->folder);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(place->machine, sizeof place->machine, "%s/machines/%s.machine", place->folder,
                   name);
    (void)snprintf(place->events, sizeof place->events, "%s/events/%s.events", place->folder, name);
    assert_int_equal(setenv("CHILIAD_DATA", place->folder, 1), 0);
}

static void place_remove(const struct place *place)
{
    char path[128];
    (void)unlink(place->machine);
    (void)unlink(place->events);
    (void)snprintf(path, sizeof path, "%s/machines", place->folder);
    assert_int_equal(rmdir(path), 0);
    (void)snprintf(path, sizeof path, "%s/events", place->folder);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(place->folder), 0);
}

/* ---- where files are found ---- */

/* A machine given by path takes the events beside it, then those in its own folder, then the
 * shipped ones. */
static void a_path_finds_its_events_beside_it(void **state)
{
    (void)state;
    struct place place;
    struct chil_machine *machine;
    struct chil_error err = {0};
    size_t machine_length, events_length;
    char *text = read_file("data/machines/bgl.machine", &machine_length);
    char *rows = read_file("data/events/bgl.events", &events_length);
    char own[128];
    place_make(&place, "bgl");
    write_file(place.machine, text, machine_length);
    (void)snprintf(own, sizeof own, "%s/machines/bgl.events", place.folder);

    assert_int_equal(setenv("CHILIAD_DATA", "data", 1), 0);
    assert_int_equal(chil_machine_open(&machine, place.machine, &err), 0); /* the shipped ones */
    chil_machine_free(machine);

    write_file(own, "own\n", 4);
    assert_int_equal(chil_machine_open(&machine, place.machine, &err), CHIL_EPARSE);
    assert_non_null(strstr(err.text, "/machines/bgl.events:1: 'own' where 'columns"));

    write_file(place.events, rows, events_length);
    assert_int_equal(chil_machine_open(&machine, place.machine, &err), 0);
    chil_machine_free(machine);

    assert_int_equal(unlink(own), 0);
    place_remove(&place);
    free(text);
    free(rows);
}

/* ---- the format's reference ---- */

static void the_reference_names_every_key(void **state)
{
    (void)state;
    size_t length;
    char *page = read_file("docs/formats/machine.md", &length);
    for (size_t i = 0; i < catalog_key_count; i++) {
        char row[64];
        (void)snprintf(row, sizeof row, "| `%s` |", catalog_keys[i].name);
        if (!strstr(page, row))
            fail_msg("docs/formats/machine.md has no row for %s", catalog_keys[i].name);
    }
    free(page);
}

/* ---- wrong files ---- */

static const char right_machine[] = "[machine]\n"
                                    "name = t # the file's\n"
                                    "text = a small one\n"
                                    "cores = 1\n"
                                    "clock_mhz = 100\n"
                                    "nodes_max = 1\n"
                                    "[events]\n"
                                    "file = t.events\n"
                                    "[upc]\n"
                                    "kind = hybrid\n"
                                    "counters = 2\n"
                                    "inputs = 2\n"
                                    "low_bits = 4\n"
                                    "slot_cycles = 4\n"
                                    "base = 0x1000\n"
                                    "[l1i]\nsize = 1K\nline = 32\nways = 2\npolicy = lru\n"
                                    "[l1d]\nsize = 1K\nline = 32\nways = 2\npolicy = round-robin\n"
                                    "[tlb]\nentries = 8\npage = 4K\n"
                                    "[memory]\ncontrollers = 1\nsize_min = 1M\nsize_max = 2M\n"
                                    "; the end\n";

static const char right_events[] =
    "# a comment\n"
    "columns id name unit clock signals count exactness at text\n"
    "0 A_LOAD PU0 x1 core0.load high none - loads\n"
    "1 A_MISS PU0 x1 core0.l1d.miss rise modelled - misses, many of them\n"
    "\n"
    "2 T_RESERVED - x1 - high none - no event\n"
    "3 T_RESERVED - x2 - high none - no event\n";

#define LONG_LINE                                                                                        \
    "text = 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890" \
    "12345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901"

/* One slip: the string to replace, what stands there instead, and the message after the file's
 * name. */
struct slip {
    const char *find, *replace, *message;
};

/* clang-format off */
static const struct slip wrong_machines[] = {
    {"cores = 1", "core = 1", ":4: unknown key 'core' in [machine]; did you mean 'machine.cores'?"},
    {"[upc]", "[ucp]", ":10: unknown section [ucp]; did you mean 'upc.kind'?"},
    {"[machine]", "", ":2: 'name' stands before any [section]; put it under one"},
    {"cores = 1", "cores = 1\ncores = 2", ":5: machine.cores is given again; line 4 has it"},
    {"cores = 1", "cores = one",
     ":4: 'one' of machine.cores is not a number; write digits, 0x… or a suffix K, M or G"},
    {"cores = 1", "cores = 0", ":4: '0' of machine.cores is out of range; give 1 to 1024"},
    {"cores = 1", "cores =", ":4: machine.cores has no value; give one: processor cores of a node"},
    {"cores = 1", "cores = 1 2", ":4: '1 2' of machine.cores is not a number"},
    {"cores = 1", "cores = 99999999999999999999", ":4: '99999999999999999999' of machine.cores is too large; give 1 to 1024"},
    {"cores = 1", "cores", ":4: neither [section] nor key = value"},
    {"cores = 1", "", ":6: machine.cores is missing; give processor cores of a node"},
    {"kind = hybrid", "kind = hybird",
     ":10: 'hybird' of upc.kind is none of hybrid, grouped; did you mean 'hybrid'?"},
    {"kind = hybrid", "", ":15: upc.kind is missing; give how the counter unit is built"},
    {"inputs = 2", "", ":15: upc.inputs is missing; give inputs of each counter"},
    {"inputs = 2", "inputs = 2\ngroups = 1", ":13: upc.groups is not for a counter unit of kind 'hybrid'; remove it"},
    {"[memory]\ncontrollers = 1\nsize_min = 1M\nsize_max = 2M\n", "", ":29: memory.controllers is missing"},
    {"line = 32", "line = 33", ":18: '33' of l1i.line is not a power of two; give one"},
    {"size = 1K", "size = 1000", ":17: l1i.size is not a whole number of sets; give a multiple of 64"},
    {"size_min = 1M", "size_min = 4M", ":31: memory.size_min is above memory.size_max; swap them"},
    {"[tlb]", "[l3]\nsize=1M\n[tlb]", ":27: [l3] is given in part; give all of its keys or none"},
    {"[tlb]", "[l2]\nline=32\n[tlb]", ":27: [l2] is given in part; give all of its keys or none"},
    {"[tlb]", "[network]\nnames = a b/c\n[tlb]", ":27: 'a b/c' of network.names is not a list of names"},
    {"file = t.events", "file = ../t.events", ":8: '../t.events' of events.file is not a name"},
    {"name = t #", "name = u #", ":2: name 'u' is not the file's; 'u' has to be in u.machine"},
    {"[upc]", "[upc] kind = hybrid", ":9: ' kind = hybrid' after a section's ']'; put it on a line of its own"},
    {"[upc]", "[upc", ":9: neither [section] nor key = value"},
    {"text = a small one", LONG_LINE, ":3: line of 199 bytes is too long; the most is 198"},
    {"a small", "a\033small", ":3: byte 0x1b is no printable UTF-8 text; remove it"},
    {"a small", "a\xc0\x80small", ":3: byte 0xc0 is no printable UTF-8 text; remove it"},
    {"a small", "a\xed\xa0\x80small", ":3: byte 0xed is no printable UTF-8 text; remove it"},
};
/* clang-format on */

/* clang-format off */
static const struct slip wrong_events[] = {
    {"columns id", "id", ":2: 'id' where 'columns NAME NAME ...' has to be"},
    {"unit clock", "units clock", ":2: unknown column 'units'; did you mean 'unit'?"},
    {"unit clock", "unit unit clock", ":2: column 'unit' is named twice"},
    {"unit clock", "clock", ":2: column 'unit' is missing"},
    {"at text", "text at", ":2: column 'text' has to be the last; it takes the rest of a line"},
    {"0 A_LOAD PU0", "0 A_LOAD", ":3: clock 'core0.load' is none of x1, x2"},
    {"- loads", "-", ":3: row ends before column 'text'; it needs all 9"},
    {"none - loads", "", ":3: row ends before column 'exactness'; it needs all 9"},
    {"0 A_LOAD", "zero A_LOAD", ":3: id 'zero' is not a decimal number"},
    {"0 A_LOAD", "0x0 A_LOAD", ":3: id '0x0' is not a decimal number"},
    {"0 A_LOAD", "4 A_LOAD", ":3: id 4 is out of range; give 0 to 3"},
    {"0 A_LOAD", "1 A_LOAD", ":4: id 1 is used again; line 3 has it"},
    {"0 A_LOAD PU0 x1 core0.load high none - loads\n", "", ":3: id 0 is missing; 4 counters x inputs need 0 to 3"},
    {"3 T_RESERVED - x2 - high none - no event\n", "", ":6: id 3 is missing; 4 counters x inputs need 0 to 3"},
    {"A_MISS", "A_LOAD", ":4: name 'A_LOAD' is used again; line 3 has it"},
    {"A_MISS", "a_miss", ":4: name 'a_miss' has other characters than A-Z, 0-9 and _"},
    {"A_MISS", "17", ":4: name '17' would be taken for an id; use a letter"},
    {"x1 core0.load", "x4 core0.load", ":3: clock 'x4' is none of x1, x2; did you mean 'x1'?"},
    {"core0.load", "Core0.load", ":3: signal 'Core0.load' is not parts of a-z, 0-9 and _ with dots between"},
    {"core0.load", "core0..load", ":3: signal 'core0..load' is not parts of"},
    {"core0.load", "core0.load.", ":3: signal 'core0.load.' is not parts of"},
    {"core0.load", "core0.load+", ":3: signal '' is not parts of"},
    {"core0.load", "core0.load+b+core0.load", ":3: signal 'core0.load' is added up twice; name each signal once"},
    {"core0.load", "a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q+r+s+t+u+v+w+x+y+z+aa+ab+ac+ad+ae+af+ag+ah+ai+aj+ak+al+a"
     "m+an+ao+ap+aq+ar+as+at+au+av+aw+ax+ay+az+ba+bb+bc+bd+be+bf+bg+bh+bi+bj+bk+bl+bm",
     ":3: 65 signals are added up; the most is 64"},
    {"core0.load high", "core0.load hihg", ":3: count 'hihg' is none of high, rise, fall, low; did you mean 'high'?"},
    {"rise modelled", "rise modeled", ":4: exactness 'modeled' is none of none, modelled, exact; did you mean 'mod"},
    {"rise modelled", "rise modelled:misses.kind", ":4: 'misses.kind' is no parameter that is off or on; see docs/for"},
    {"rise modelled", "rise modelled:l1d.write", ":4: 'l1d.write' is no parameter that is off or on; see docs/formats"},
    {"rise modelled", "rise modelled:", ":4: '' is no parameter that is off or on; see docs/formats/machine.md"},
    {"x1 core0.load high none", "x1 - high exact", ":3: exactness 'exact' without a signal; write 'none' or name"},
    {"- x1 - high", "- x1 core0.load high", ":6: reserved id 2 has signals; write '-' or give it a name"},
    {"none - loads", "none 0:A:0 loads", ":3: placement '0:A:0' on a counter unit that is not of kind 'grouped'"},
    {"misses,", "misses\a,", ":4: byte 0x07 is no printable UTF-8 text; remove it"},
};
/* clang-format on */

/* The same with a grouped unit. */
static const char grouped_upc[] =
    "kind = grouped\ncounters = 6\ngroups = 2\nwidth = 32\nfpu_counters = 4\n";

/* clang-format off */
static const struct slip wrong_placements[] = {
    {"none - loads", "none 2:A:0 loads", ":3: group 2 has no counter A; its groups are 0 to 1"},
    {"none - loads", "none 1:ARITH:0 loads", ":3: group 1 has no counter ARITH; its groups are 2 to 3"},
    {"none - loads", "none 4:LDST:0 loads", ":3: group 4 has no counter LDST; its groups are 2 to 3"},
    {"none - loads", "none 0:B:16 loads", ":3: code 16 is out of range; counter B has 0 to 15"},
    {"none - loads", "none 3:LDST:4 loads", ":3: code 4 is out of range; counter LDST has 0 to 3"},
    {"none - loads", "none 0:ARIHT:0 loads",
     ":3: counter 'ARIHT' is none of A, B, C, ARITH, LDST; did you mean 'ARITH"},
    {"none - loads", "none 0:A loads", ":3: placement '0' is not GROUP:COUNTER:CODE"},
    {"none - loads", "none 0:A:1,0:A:1 loads", ":3: placement 0:A:1 is used again; line 3 has it"},
    {"none - loads", "none 0:A:1, loads", ":3: placement '' is not GROUP:COUNTER:CODE"},
};
/* clang-format on */

/* `text` with the first `find` replaced; the caller frees it. */
static char *replaced(const char *text, const char *find, const char *replace)
{
    const char *at = strstr(text, find);
    if (!at) fail_msg("'%s' is not in the right file", find);
    size_t size = strlen(text) + strlen(replace) + 1;
    char *result = malloc(size);
    assert_non_null(result);
    (void)snprintf(result, size, "%.*s%s%s", (int)(at - text), text, replace, at + strlen(find));
    return result;
}

static void expect(const struct place *place, const char *path, const char *message)
{
    struct chil_machine *machine;
    struct chil_error err = {0};
    int status = chil_machine_open(&machine, "t", &err);
    if (!message) {
        if (status) fail_msg("%s", err.text);
        chil_machine_free(machine);
        return;
    }
    char wanted[400];
    (void)snprintf(wanted, sizeof wanted, "%s%s", path, message);
    assert_int_equal(status, CHIL_EPARSE);
    assert_null(machine);
    assert_non_null(strstr(path, place->folder));
    if (strncmp(err.text, wanted, strlen(wanted)) != 0)
        fail_msg("\n'%s' where\n'%s' was expected", err.text, wanted);
    assert_null(strchr(err.text, '\n'));
    assert_int_equal(chil_machine_open(&machine, "t", NULL), CHIL_EPARSE);
}

static void slips(const char *right, const struct slip *rows, size_t count, bool in_machine,
                  const char *machine)
{
    struct place place;
    place_make(&place, "t");
    write_file(place.machine, machine, strlen(machine));
    write_file(place.events, right_events, strlen(right_events));
    expect(&place, NULL, NULL);
    const char *path = in_machine ? place.machine : place.events;
    for (size_t i = 0; i < count; i++) {
        char *text = replaced(right, rows[i].find, rows[i].replace);
        write_file(path, text, strlen(text));
        expect(&place, path, rows[i].message);
        free(text);
    }
    place_remove(&place);
}

static void mistakes_in_a_machine_file_are_reported(void **state)
{
    (void)state;
    slips(right_machine, wrong_machines, sizeof wrong_machines / sizeof *wrong_machines, true,
          right_machine);
}

static void mistakes_in_an_event_file_are_reported(void **state)
{
    (void)state;
    slips(right_events, wrong_events, sizeof wrong_events / sizeof *wrong_events, false,
          right_machine);
}

static void mistakes_in_placements_are_reported(void **state)
{
    (void)state;
    const char *upc = strstr(right_machine, "kind ="), *end = strstr(right_machine, "[l1i]");
    char old[200];
    (void)snprintf(old, sizeof old, "%.*s", (int)(end - upc), upc);
    char *machine = replaced(right_machine, old, grouped_upc);
    slips(right_events, wrong_placements, sizeof wrong_placements / sizeof *wrong_placements, false,
          machine);
    static const struct slip three = {"groups = 2", "groups = 3",
                                      ":11: upc.counters is not 3 x upc.groups"};
    slips(machine, &three, 1, true, machine);
    free(machine);
}

static void empty_and_binary_files_are_reported(void **state)
{
    (void)state;
    struct place place;
    struct chil_machine *machine;
    struct chil_error err = {0};
    place_make(&place, "t");
    write_file(place.machine, "", 0);
    assert_int_equal(chil_machine_open(&machine, "t", &err), CHIL_EPARSE);
    assert_non_null(strstr(err.text, "machine.name is missing"));
    write_file(place.machine, "[machine]\0\n", 11);
    assert_int_equal(chil_machine_open(&machine, "t", &err), CHIL_EPARSE);
    assert_non_null(strstr(err.text, "NUL byte"));
    write_file(place.machine, right_machine, strlen(right_machine));
    assert_int_equal(chil_machine_open(&machine, "t", &err), CHIL_EIO);
    assert_non_null(strstr(err.text, "/events/t.events': No such file"));
    write_file(place.events, "# nothing\n", 10);
    assert_int_equal(chil_machine_open(&machine, "t", &err), CHIL_EPARSE);
    assert_non_null(
        strstr(err.text, "t.events:1: no rows; the first line has to be 'columns NAME NAME ...'"));
    static const char only[] = "columns id name unit clock signals count exactness text\n";
    write_file(place.events, only, strlen(only));
    assert_int_equal(chil_machine_open(&machine, "t", &err), CHIL_EPARSE);
    assert_non_null(strstr(err.text, "t.events:1: no rows after the columns"));
    place_remove(&place);
}

/* Indented keys, both kinds of comment, CRLF and a byte-order mark are all harmless. */
static void odd_but_right_files_are_read(void **state)
{
    (void)state;
    static const struct slip rows[] = {
        {"cores = 1\n", "   cores = 1\n", NULL},
        {"cores = 1\n", "cores:1\r\n", NULL},
        {"cores = 1\n", "; note\ncores = 1 ; one\n", NULL},
        {"[machine]\n", "\xef\xbb\xbf[machine]\n", NULL},
        {"a small", "a sm\xc3\xa5ll", NULL},
        {"cores = 1\n", "cores = 0x1\n", NULL},
    };
    slips(right_machine, rows, sizeof rows / sizeof *rows, true, right_machine);
}

/* ---- mutations ---- */

/* Replaces a short piece at a random place by one of these, by a piece from elsewhere, or by a
 * random byte. */
static size_t mutate(uint64_t *seed, char *bytes, size_t length, size_t room)
{
    static const char *const words[] = {"",
                                        "-",
                                        "+",
                                        ",",
                                        ":",
                                        "\n",
                                        "\n\n",
                                        "[",
                                        "]",
                                        "=",
                                        "#",
                                        " # ",
                                        ";",
                                        "\r",
                                        "\t",
                                        "0",
                                        "4294967296",
                                        "0x",
                                        "1G",
                                        "\xff",
                                        ".",
                                        "_",
                                        "99999999999999999999",
                                        "columns ",
                                        "[upc]\n",
                                        "-1",
                                        "%s",
                                        "RESERVED",
                                        "A",
                                        "LDST:",
                                        "\xc3"};
    size_t at = random_below(seed, length),
           cut = random_below(seed, 4) ? random_below(seed, 6) : random_below(seed, 2000);
    char piece[2048];
    size_t size;
    if (cut > length - at) cut = length - at;
    switch (random_below(seed, 3)) {
    case 0:
        size = (size_t)snprintf(piece, sizeof piece, "%s",
                                words[random_below(seed, sizeof words / sizeof *words)]);
        break;
    case 1: {
        size_t from = random_below(seed, length);
        size = random_below(seed, 400);
        if (size > length - from) size = length - from;
        memcpy(piece, bytes + from, size);
        break;
    }
    default: piece[0] = (char)random_below(seed, 256); size = 1;
    }
    if (length - cut + size >= room) return length;
    memmove(bytes + at + size, bytes + at + cut, length - at - cut);
    memcpy(bytes + at, piece, size);
    return length - cut + size;
}

static void mutated_files_are_read_or_refused_in_one_line(void **state)
{
    (void)state;
    enum { ROOM = 1 << 20 };
    uint64_t seed = 1, rounds = random_trials(4000);
    struct place place;
    size_t length[2], good = 0, bad = 0;
    char *right[2] = {read_file("data/machines/bgl.machine", &length[0]),
                      read_file("data/events/bgl.events", &length[1])};
    char *bytes = malloc(ROOM);
    assert_non_null(bytes);
    place_make(&place, "bgl");
    const char *path[2] = {place.machine, place.events};
    write_file(path[0], right[0], length[0]);
    write_file(path[1], right[1], length[1]);
    char own[sizeof place.folder + 32];
    size_t own_length;
    char *own_rows = read_file("data/events/simulator.events", &own_length);
    (void)snprintf(own, sizeof own, "%s/events/simulator.events", place.folder);
    write_file(own, own_rows, own_length);
    free(own_rows);
    for (uint64_t round = 0; round < rounds; round++) {
        unsigned which = (unsigned)random_below(&seed, 2);
        struct chil_machine *machine;
        struct chil_error err = {0};
        memcpy(bytes, right[which], length[which]);
        size_t size = length[which];
        for (uint64_t times = 1 + random_below(&seed, 4); times; times--)
            size = mutate(&seed, bytes, size, ROOM);
        write_file(path[which], bytes, size);
        int status = chil_machine_open(&machine, "bgl", &err);
        if (status && (!*err.text || strchr(err.text, '\n') || err.status != status))
            fail_msg("round %u: status %d, '%s'", (unsigned)round, status, err.text);
        good += status == 0;
        bad += status != 0;
        chil_machine_free(machine);
        write_file(path[which], right[which], length[which]);
    }
    assert_true(good > 0 && bad > good / 8);
    (void)unlink(own);
    place_remove(&place);
    free(right[0]);
    free(right[1]);
    free(bytes);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_finds_its_events_beside_it),
        cmocka_unit_test(the_reference_names_every_key),
        cmocka_unit_test(mistakes_in_a_machine_file_are_reported),
        cmocka_unit_test(mistakes_in_an_event_file_are_reported),
        cmocka_unit_test(mistakes_in_placements_are_reported),
        cmocka_unit_test(empty_and_binary_files_are_reported),
        cmocka_unit_test(odd_but_right_files_are_read),
        cmocka_unit_test(mutated_files_are_read_or_refused_in_one_line),
    };
    return cmocka_run_group_tests_name("catalog files", tests, NULL, NULL);
}
