/* Binary traces: what is written reads back, whatever the records are; damaged files are refused
 * with the place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chiliad/trace.h"
#include "random.h"

enum { RECORDS = 20000 };

static const struct chil_trace_head head = {.kind = CHIL_TRACE_INSTRUCTION,
                                            .clock_mhz = 850,
                                            .machine = "bgp",
                                            .program = "./a program",
                                            .program_crc = 0xFFFFFFFF,
                                            .tags = {"-", "ro"},
                                            .tag_count = 2};

/* Few places and cores, so that much is known before; now and then anything. */
static struct chil_trace_record any_record(uint64_t *seed, uint64_t *cycle)
{
    uint64_t r = random_next(seed), wild = r % 50 == 0;
    *cycle += wild ? random_next(seed) >> (random_next(seed) % 64) : r >> 8 & 15;
    struct chil_trace_record record = {.cycle = *cycle,
                                       .core = r >> 16 & 255 ? r >> 24 & 3 : 255,
                                       .pid = wild ? (int)random_next(seed) : 1000,
                                       .tid = 1000 + (int)(r >> 28 & 1),
                                       .pc = wild ? (uint32_t)random_next(seed)
                                                  : 0x10000000 + 4 * (r >> 32 & 63),
                                       .word = wild ? (uint32_t)random_next(seed) : 0x7c290b78,
                                       .access = (enum chil_access)(r >> 40 & 3),
                                       .category = r >> 44 & 63 ? 0 : 15};
    if (!record.access) return record;
    record.address = wild ? (uint32_t)random_next(seed) : 0xbfff0000 + (r >> 50 & 255);
    record.size = wild ? (uint32_t)random_next(seed) : 4;
    record.tag = r >> 58 & 7 ? 0 : 1;
    return record;
}

static bool same(const struct chil_trace_record *a, const struct chil_trace_record *b)
{
    return a->cycle == b->cycle && a->core == b->core && a->pid == b->pid && a->tid == b->tid &&
           a->pc == b->pc && a->word == b->word && a->access == b->access &&
           a->address == b->address && a->size == b->size && a->category == b->category &&
           a->tag == b->tag;
}

static void instructions_read_back(void **state)
{
    (void)state;
    struct chil_trace_writer *writer = NULL;
    struct chil_trace_reader *reader = NULL;
    struct chil_trace_item item;
    char *bytes = NULL;
    size_t length = 0;
    uint64_t seed = 7, cycle = 0;
    FILE *file = open_memstream(&bytes, &length);
    assert_int_equal(chil_trace_writer_new(&writer, &head, file, NULL), 0);
    for (unsigned i = 0; i < RECORDS; i++) {
        struct chil_trace_record record = any_record(&seed, &cycle);
        if (i == 77) chil_trace_write_mark(writer);
        chil_trace_write(writer, &record);
    }
    assert_int_equal(chil_trace_written(writer), RECORDS);
    assert_true(chil_trace_writer_close(writer));
    (void)fclose(file);
    file = fmemopen(bytes, length, "rb");
    assert_int_equal(chil_trace_reader_new(&reader, file, "t", NULL), 0);
    const struct chil_trace_head *h = chil_trace_reader_head(reader);
    assert_string_equal(h->program, "./a program");
    assert_string_equal(h->tags[1], "ro");
    assert_int_equal(h->program_crc, 0xFFFFFFFF);
    seed = 7, cycle = 0;
    for (unsigned i = 0; i < RECORDS; i++) {
        struct chil_trace_record record = any_record(&seed, &cycle);
        assert_int_equal(chil_trace_read(reader, &item, NULL), 1);
        assert_true(same(&record, &item.record));
        assert_int_equal(item.trigger, i == 77);
    }
    assert_int_equal(chil_trace_read(reader, &item, NULL), 0);
    assert_int_equal(chil_trace_read(reader, &item, NULL), 0);
    chil_trace_reader_free(reader);
    (void)fclose(file);
    free(bytes);
}

static struct chil_transaction any_transaction(uint64_t *seed)
{
    struct chil_transaction t = {0}; /* all of it, so that it can be compared */
    uint64_t r = random_next(seed);
    t.start = random_next(seed) >> (r & 63);
    t.end = t.start + (r >> 6 & 127);
    t.address = (uint32_t)random_next(seed);
    t.pc = (uint32_t)random_next(seed);
    t.size = r >> 14 & 7 ? 32 : (uint32_t)random_next(seed);
    t.pid = r >> 20 & 15 ? 1000 : (int32_t)random_next(seed);
    t.tid = 1000;
    t.sender = r >> 26 & 15 ? 0 : (uint16_t)random_next(seed);
    t.core = (uint8_t)(r >> 30 & 3);
    t.kind = (uint8_t)(random_next(seed) % CHIL_TRANSACTION_KINDS);
    t.level = (uint8_t)(r >> 34 & 3);
    t.category = (uint8_t)(r >> 36 & 1);
    t.tag = (uint8_t)(r >> 40);
    t.node = r >> 48 & 3 ? 0 : (uint16_t)(random_next(seed) % 24);
    if (t.kind < CHIL_PACKET) return t;
    t.receiver = (uint16_t)random_next(seed);
    t.hops = (uint16_t)random_next(seed);
    t.link = (uint8_t)(random_next(seed) % CHIL_LINKS);
    t.wait = (uint32_t)random_next(seed);
    t.packet = (uint32_t)random_next(seed);
    return t;
}

static char *write_transactions(unsigned count, size_t *length)
{
    struct chil_trace_head other = head;
    struct chil_trace_writer *writer = NULL;
    char *bytes = NULL;
    uint64_t seed = 9;
    FILE *file = open_memstream(&bytes, length);
    other.kind = CHIL_TRACE_TRANSACTION;
    memcpy(other.torus, (uint32_t[3]){4, 3, 2}, sizeof other.torus);
    assert_int_equal(chil_trace_writer_new(&writer, &other, file, NULL), 0);
    for (unsigned i = 0; i < count; i++) {
        struct chil_transaction t = any_transaction(&seed);
        chil_trace_write_transaction(writer, &t);
    }
    assert_true(chil_trace_writer_close(writer));
    (void)fclose(file);
    return bytes;
}

static void transactions_read_back(void **state)
{
    (void)state;
    struct chil_trace_reader *reader = NULL;
    struct chil_trace_item item;
    size_t length = 0;
    char *bytes = write_transactions(RECORDS, &length);
    uint64_t seed = 9;
    FILE *file = fmemopen(bytes, length, "rb");
    assert_int_equal(chil_trace_reader_new(&reader, file, "t", NULL), 0);
    for (unsigned i = 0; i < RECORDS; i++) {
        struct chil_transaction t = any_transaction(&seed), *u = &item.transaction;
        assert_int_equal(chil_trace_read(reader, &item, NULL), 1);
        assert_true(t.start == u->start && t.end == u->end && t.address == u->address &&
                    t.pc == u->pc && t.size == u->size && t.pid == u->pid && t.tid == u->tid &&
                    t.sender == u->sender && t.core == u->core && t.kind == u->kind &&
                    t.level == u->level && t.category == u->category && t.tag == u->tag);
    }
    assert_int_equal(chil_trace_read(reader, &item, NULL), 0);
    chil_trace_reader_free(reader);
    (void)fclose(file);
    free(bytes);
}

/* Every beginning of a trace that is not all of it is refused, and so is what has something behind
 * it. */
static void a_part_of_a_trace_is_refused(void **state)
{
    (void)state;
    size_t length = 0;
    char *bytes = write_transactions(40, &length), *more = calloc(length + 1, 1);
    memcpy(more, bytes, length);
    for (size_t part = 1; part <= length + 1; part++) {
        struct chil_trace_reader *reader = NULL;
        struct chil_trace_item item;
        struct chil_error err = {0};
        FILE *file = fmemopen(more, part, "rb");
        int status = chil_trace_reader_new(&reader, file, "t", &err);
        while (status >= 0 && (status = chil_trace_read(reader, &item, &err)) > 0)
            continue;
        assert_int_equal(status < 0, part != length);
        if (status < 0) assert_ptr_equal(strstr(err.text, "t: byte "), err.text);
        chil_trace_reader_free(reader);
        (void)fclose(file);
    }
    free(bytes);
    free(more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_read_back),
        cmocka_unit_test(transactions_read_back),
        cmocka_unit_test(a_part_of_a_trace_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
