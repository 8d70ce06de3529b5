/* Guest memory: rights page by page, zeroed and given back, code marks, copies and sharing, and the
 * edges at 4 GiB. Page frames: order, sharing, first touches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machine/mem/mem_frames.h"
#include "random.h"

enum { RW = MEM_READ | MEM_WRITE, RX = MEM_READ | MEM_EXEC };

struct notified {
    unsigned count;
    uint32_t last;
};

static void notify(void *context, uint32_t page)
{
    struct notified *notified = context;
    notified->count++;
    notified->last = page;
}

static struct mem *make(struct notified *notified)
{
    struct mem *mem;
    assert_int_equal(mem_new(&mem), 0);
    if (notified) {
        *notified = (struct notified){0};
        mem->code_changed = notify;
        mem->context = notified;
    }
    return mem;
}

/* How many pages of the range the host keeps in memory. */
static size_t resident(const struct mem *mem, uint32_t address, size_t length)
{
    static unsigned char pages[4096];
    size_t count = 0;
    assert_true(length / MEM_PAGE <= sizeof pages);
    assert_int_equal(mincore(mem->base + address, length, pages), 0);
    for (size_t i = 0; i < length / MEM_PAGE; i++)
        count += pages[i] & 1;
    return count;
}

static void a_page_exists_with_its_rights_and_zeroed(void **state)
{
    (void)state;
    struct mem *mem = make(NULL);
    assert_null(mem_readable(mem, 0x10000, 1));
    mem_map(mem, 0x10000, 0x2000, RW);
    assert_true(mem_is_mapped(mem, 0x10000, 0x2000));
    assert_false(mem_is_mapped(mem, 0x10000, 0x2001));
    assert_false(mem_is_free(mem, 0xf000, 0x2000));
    assert_true(mem_is_free(mem, 0xf000, 0x1000));
    uint32_t value = 1;
    assert_true(mem_get32(mem, 0x11ffc, &value));
    assert_int_equal(value, 0);
    assert_true(mem_put32(mem, 0x11ffc, 0x12345678));
    assert_int_equal(mem->base[0x11ffc], 0x12); /* big-endian */
    assert_false(mem_put32(mem, 0x11ffd, 1));   /* one byte over the end */
    assert_true(mem_put64(mem, 0x10000, UINT64_C(0x0102030405060708)));
    uint64_t wide;
    assert_true(mem_get64(mem, 0x10000, &wide));
    assert_true(wide == UINT64_C(0x0102030405060708));
    mem_protect(mem, 0x10000, 0x1000, MEM_READ);
    assert_null(mem_writable(mem, 0x10000, 4));
    assert_null(mem_writable(mem, 0x10ffe, 4));
    assert_non_null(mem_readable(mem, 0x10ffe, 4));
    mem_protect(mem, 0x10000, 0x1000, 0);
    assert_null(mem_readable(mem, 0x10000, 1));
    assert_true(mem_is_mapped(mem, 0x10000, 0x1000)); /* PROT_NONE exists */
    mem_map(mem, 0x10000, 0x1000, RW);
    assert_true(mem_get64(mem, 0x10000, &wide));
    assert_true(wide == 0); /* mapped anew: zero again */
    mem_free(mem);
}

static void what_is_unmapped_goes_back_to_the_host(void **state)
{
    (void)state;
    enum { SIZE = 8 << 20 };
    struct mem *mem = make(NULL);
    mem_map(mem, 0x40000000, SIZE, RW);
    assert_int_equal(resident(mem, 0x40000000, SIZE), 0); /* mapping costs nothing */
    memset(mem->base + 0x40000000, 1, SIZE);
    assert_int_equal(resident(mem, 0x40000000, SIZE), SIZE / MEM_PAGE);
    mem_unmap(mem, 0x40000000, SIZE);
    assert_int_equal(resident(mem, 0x40000000, SIZE), 0);
    assert_true(mem_is_free(mem, 0x40000000, SIZE));
    mem_free(mem);
}

static void ranges_never_wrap(void **state)
{
    (void)state;
    struct mem *mem = make(NULL);
    mem_map(mem, 0, MEM_PAGE, RW);
    mem_map(mem, 0xfffff000, MEM_PAGE, RW);
    assert_non_null(mem_readable(mem, 0xfffff000, MEM_PAGE));
    assert_null(mem_readable(mem, 0xfffff000, MEM_PAGE + 1));
    assert_null(mem_writable(mem, 0xffffffff, 2));
    assert_null(mem_readable(mem, 0xffffffff, UINT64_MAX / 2));
    assert_false(mem_is_mapped(mem, 0xfffff000, 2 * MEM_PAGE));
    memset(mem->base + 0xfffff000, 'x', MEM_PAGE);
    assert_int_equal(mem_strlen(mem, 0xfffffff0, 100), -1);
    assert_int_equal(mem_strlen(mem, 0xfffffff0, 16), 16);
    mem_free(mem);
}

static void strings_end_at_their_end_or_at_the_memorys(void **state)
{
    (void)state;
    struct mem *mem = make(NULL);
    mem_map(mem, 0x10000, 2 * MEM_PAGE, RW);
    memset(mem->base + 0x10000, 'a', 2 * MEM_PAGE);
    mem->base[0x11010] = 0;
    assert_int_equal(mem_strlen(mem, 0x10ff0, 4096), 0x20);
    assert_int_equal(mem_strlen(mem, 0x10ff0, 0x20), 0x20);
    assert_int_equal(mem_strlen(mem, 0x11011, 8192), -1);
    assert_int_equal(mem_strlen(mem, 0x12000, 1), -1);
    mem_free(mem);
}

static void the_highest_free_range_is_found(void **state)
{
    (void)state;
    struct mem *mem = make(NULL);
    assert_int_equal(mem_find(mem, 0x3000, 0x10000, 0x20000), 0x1d000);
    mem_map(mem, 0x1e000, 0x1000, RW);
    assert_int_equal(mem_find(mem, 0x1000, 0x10000, 0x20000), 0x1f000);
    assert_int_equal(mem_find(mem, 0x1001, 0x10000, 0x20000), 0x1c000);
    assert_int_equal(mem_find(mem, 0xe000, 0x10000, 0x20000), 0x10000);
    assert_int_equal(mem_find(mem, 0xf000, 0x10000, 0x20000), 0);
    assert_int_equal(mem_find(mem, 0, 0x10000, 0x20000), 0);
    assert_int_equal(mem_find(mem, UINT64_C(1) << 32, 0, UINT32_MAX), 0);
    mem_free(mem);
}

static void a_store_to_code_is_told_once(void **state)
{
    (void)state;
    struct notified notified;
    struct mem *mem = make(&notified);
    mem_map(mem, 0x10000, 0x3000, RW | MEM_EXEC);
    mem_mark_code(mem, 0x11004);
    assert_int_equal(mem->rights[0x11], MEM_READ | MEM_EXEC | MEM_MAPPED | MEM_CODE | MEM_SHADOW);
    mem_wrote_code(mem, 0x10ffc, 4);
    assert_int_equal(notified.count, 0);
    mem_wrote_code(mem, 0x10ffc, 5); /* reaches into the page */
    assert_int_equal(notified.count, 1);
    assert_int_equal(notified.last, 0x11000);
    assert_int_equal(mem->rights[0x11], RW | MEM_EXEC | MEM_MAPPED);
    mem_wrote_code(mem, 0x11000, 4);
    assert_int_equal(notified.count, 1);
    mem_mark_code(mem, 0x11004);
    assert_non_null(mem_writable(mem, 0x10000, 0x3000)); /* a system call writes there */
    assert_int_equal(notified.count, 2);
    mem_mark_code(mem, 0x12000);
    mem_protect(mem, 0x12000, 0x1000, RX);
    assert_int_equal(notified.count, 3);
    mem_mark_code(mem, 0x12000); /* not writable: no shadow */
    assert_int_equal(mem->rights[0x12], RX | MEM_MAPPED | MEM_CODE);
    assert_null(mem_writable(mem, 0x12000, 4));
    assert_int_equal(notified.count, 3);
    mem_map(mem, 0x12000, 0x1000, RX);
    assert_int_equal(notified.count, 4);
    mem_mark_code(mem, 0x12000);
    mem_unmap(mem, 0x12000, 0x1000);
    assert_int_equal(notified.count, 5);
    mem_free(mem);
}

static void a_copy_is_the_same_and_apart(void **state)
{
    (void)state;
    struct notified notified;
    struct mem *mem = make(&notified), *copy;
    mem_map(mem, 0x10000, 0x2000, RW);
    mem_map(mem, 0x50000000, 1 << 20, MEM_READ);
    mem_map(mem, 0xfffff000, MEM_PAGE, MEM_READ);
    assert_true(mem_put32(mem, 0x11000, 42));
    mem_mark_code(mem, 0x11000);
    assert_int_equal(mem_clone(&copy, mem), 0);
    assert_null(copy->code_changed);
    assert_int_equal(copy->rights[0x11], RW | MEM_MAPPED);
    assert_int_equal(copy->rights[0x50000], MEM_READ | MEM_MAPPED);
    assert_int_equal(copy->rights[0x4ffff], 0);
    assert_int_equal(copy->rights[0xfffff], MEM_READ | MEM_MAPPED);
    uint32_t value;
    assert_true(mem_get32(copy, 0x11000, &value));
    assert_int_equal(value, 42);
    assert_int_equal(resident(copy, 0x50000000, 1 << 20), 0); /* zero pages are not copied */
    assert_true(mem_put32(copy, 0x11000, 43));
    assert_true(mem_get32(mem, 0x11000, &value));
    assert_int_equal(value, 42);
    assert_int_equal(notified.count, 0);
    mem_free(copy);
    mem_free(mem);
}

static void shared_pages_are_the_same_memory_until_unmapped(void **state)
{
    (void)state;
    struct mem *one = make(NULL), *two = make(NULL);
    int fd = memfd_create("test", MFD_CLOEXEC);
    assert_int_equal(ftruncate(fd, 2 * MEM_PAGE), 0);
    assert_int_equal(mem_map_shared(one, 0x10000, 2 * MEM_PAGE, RW, fd, 0), 0);
    assert_int_equal(mem_map_shared(two, 0x70000, MEM_PAGE, RW, fd, MEM_PAGE), 0);
    uint32_t value;
    assert_true(mem_put32(one, 0x11000, 7));
    assert_true(mem_get32(two, 0x70000, &value));
    assert_int_equal(value, 7);
    mem_protect(two, 0x70000, MEM_PAGE, MEM_READ);
    assert_true(two->rights[0x70] & MEM_SHARED);
    mem_unmap(one, 0x10000, 2 * MEM_PAGE); /* must not wipe what the other still has */
    assert_true(mem_get32(two, 0x70000, &value));
    assert_int_equal(value, 7);
    mem_map(one, 0x10000, 2 * MEM_PAGE, RW);
    assert_true(mem_get32(one, 0x11000, &value));
    assert_int_equal(value, 0);
    close(fd);
    mem_free(one);
    mem_free(two);
}

/* Random changes, with a plain array of rights beside them. */
static void random_changes_agree_with_a_model(void **state)
{
    (void)state;
    enum { PAGES = 256 };
    static const uint32_t base = 0x30000000;
    struct notified notified;
    struct mem *mem = make(&notified);
    unsigned model[PAGES] = {0};
    uint64_t seed = 3;
    for (uint64_t trial = random_trials(20000); trial--;) {
        unsigned first = (unsigned)random_below(&seed, PAGES),
                 kind = (unsigned)random_below(&seed, 5);
        unsigned count = (unsigned)random_below(&seed, PAGES - first) / 4 + 1,
                 rights = (unsigned)random_below(&seed, 8);
        uint32_t at = base + first * MEM_PAGE;
        uint64_t length = (uint64_t)count * MEM_PAGE;
        if (kind == 0) mem_map(mem, at, length, rights);
        if (kind == 1) mem_unmap(mem, at, length);
        if (kind == 2) mem_protect(mem, at, length, rights);
        if (kind == 3 && model[first] & MEM_READ) mem_mark_code(mem, at);
        if (kind == 4) mem_wrote_code(mem, at, length);
        for (unsigned i = first; kind < 3 && i < first + count; i++)
            if (kind == 1)
                model[i] = 0;
            else if (kind == 0 || model[i])
                model[i] = rights | MEM_MAPPED;
        for (unsigned i = 0; i < PAGES; i++) {
            bool writable = mem->rights[(base >> MEM_PAGE_BITS) + i] & (MEM_WRITE | MEM_SHADOW);
            assert_int_equal(writable, (model[i] & MEM_WRITE) != 0);
            assert_int_equal(mem_is_mapped(mem, base + i * MEM_PAGE, MEM_PAGE), model[i] != 0);
            assert_int_equal(mem_readable(mem, base + i * MEM_PAGE, 1) != NULL,
                             (model[i] & MEM_READ) != 0);
        }
    }
    mem_free(mem);
}

static void the_fast_path_allows_no_more_than_the_rights(void **state)
{
    (void)state;
    struct mem *mem = make(NULL);
    mem_map(mem, 0x10000, MEM_PAGE, RW);
    mem_map(mem, 0x11000, MEM_PAGE, RX);
    assert_true(mem_allows(mem, 0x10ffc, 4, MEM_WRITE));
    assert_false(mem_allows(mem, 0x10ffd, 4, MEM_READ)); /* two pages: mem_readable decides */
    assert_non_null(mem_readable(mem, 0x10ffd, 4));
    assert_false(mem_allows(mem, 0x11000, 1, MEM_WRITE));
    assert_true(mem_allows(mem, 0x11fff, 1, MEM_READ));
    assert_false(mem_allows(mem, 0x12000, 1, MEM_READ | MEM_WRITE | MEM_EXEC));
    assert_ptr_equal(mem_host(mem, 0x10ffd), mem_readable(mem, 0x10ffd, 4));
    assert_ptr_equal(mem_window_host(mem_window(mem), 0xffffffff), mem_host(mem, 0xffffffff));
    mem_mark_code(mem, 0x10000); /* the right is kept, the fast path is not */
    assert_false(mem_allows(mem, 0x10000, 4, MEM_WRITE));
    assert_int_equal(mem_granted(mem, 0x10000), RW);
    assert_int_equal(mem_granted(mem, 0x11004), RX);
    assert_int_equal(mem_granted(mem, 0x12000), 0);
    assert_int_equal(mem_first_touches(mem), 0);
    struct mem_frames frames = {0};
    mem_attach(mem, &frames, mem_space_new(&frames));
    (void)mem_translate(&frames, mem->space, 0x10000);
    (void)mem_translate(&frames, mem->space, 0x10ffc);
    assert_int_equal(mem_first_touches(mem), 1);
    mem_attach(mem, NULL, 0);
    mem_frames_fini(&frames);
    mem_free(mem);
}

/* ---- frames ---- */

static uint64_t frame_at(struct mem_frames *frames, unsigned space, uint32_t page)
{
    return mem_translate(frames, space, page * MEM_PAGE).address / MEM_PAGE;
}

static void frames_come_in_the_order_of_first_touch(void **state)
{
    (void)state;
    struct mem_frames frames = {0};
    unsigned a = mem_space_new(&frames), b = mem_space_new(&frames);
    assert_int_equal(a, 0);
    assert_int_equal(b, 1);
    assert_int_equal(mem_translate(&frames, a, 0xfffff123).address, 0x123);
    assert_int_equal(mem_translate(&frames, b, 0xfffff123).address, 0x1123);
    assert_int_equal(mem_translate(&frames, a, 7).address, 0x2007);
    assert_int_equal(mem_translate(&frames, a, 0xfffff000).address, 0);
    assert_true(mem_translate(&frames, a, 0).alone);
    assert_true(mem_is_touched(&frames, b, 0xffffffff));
    assert_false(mem_is_touched(&frames, b, 0));
    assert_int_equal(frames.first_touches, 3);
    assert_int_equal(frames.tables[a].first_touches, 2);
    /* The frame freed last is the first to be given out again, and no longer its page's alone. */
    mem_frames_unmap(&frames, a, 0);
    mem_frames_unmap(&frames, a, MEM_PAGES - 1);
    assert_int_equal(frame_at(&frames, b, 5), 0);
    assert_false(mem_translate(&frames, b, 5 * MEM_PAGE).alone);
    assert_int_equal(frame_at(&frames, b, 6), 2);
    assert_int_equal(frame_at(&frames, b, 7), 3);
    assert_int_equal(frames.first_touches, 6);
    mem_space_free(&frames, a);
    assert_int_equal(mem_space_new(&frames), a);
    assert_int_equal(frames.tables[a].first_touches, 0);
    mem_frames_fini(&frames);
}

static void a_frame_knows_its_pages(void **state)
{
    (void)state;
    struct mem_frames frames = {0};
    unsigned a = mem_space_new(&frames), b = mem_space_new(&frames);
    uint32_t frame = (uint32_t)frame_at(&frames, a, 10);
    mem_frames_map(&frames, b, 20, frame);
    mem_frames_map(&frames, b, 30, frame);
    assert_int_equal(frames.first_touches, 1); /* a mapping is no touch */
    assert_false(mem_translate(&frames, a, 10 * MEM_PAGE).alone);
    assert_int_equal(frame_at(&frames, b, 20), frame);
    const struct mem_mapping *mapping = mem_frames_first(&frames, frame);
    static const struct {
        unsigned space;
        uint32_t page;
    } expected[] = {{1, 30}, {1, 20}, {0, 10}}; /* the newest first */
    for (unsigned i = 0; i < 3; i++, mapping = mem_frames_after(&frames, mapping)) {
        assert_int_equal(mapping->space, expected[i].space);
        assert_int_equal(mapping->page, expected[i].page);
    }
    assert_null(mapping);
    mem_frames_unmap(&frames, b, 20); /* from the middle of the list */
    mem_frames_unmap(&frames, a, 10);
    assert_int_equal(frame_at(&frames, b, 30), frame);
    assert_int_equal(frame_at(&frames, a, 11), frame + 1); /* the first is not free yet */
    mem_frames_unmap(&frames, b, 30);
    assert_int_equal(frame_at(&frames, a, 12), frame);
    mem_frames_fini(&frames);
}

static void pages_with_a_frame_are_found(void **state)
{
    (void)state;
    struct mem_frames frames = {0};
    unsigned space = mem_space_new(&frames);
    static const uint32_t pages[] = {3, 1023, 1024, 500000, MEM_PAGES - 1};
    for (unsigned i = 0; i < 5; i++)
        (void)frame_at(&frames, space, pages[i]);
    uint32_t page = 0;
    for (unsigned i = 0; i < 5; i++, page++) {
        page = mem_frames_next(&frames, space, page, MEM_PAGES - 1);
        assert_int_equal(page, pages[i]);
    }
    assert_int_equal(mem_frames_next(&frames, space, page, MEM_PAGES - 1), MEM_PAGES);
    assert_int_equal(mem_frames_next(&frames, space, 4, 1022), 1023); /* none in the range */
    assert_int_equal(mem_frames_next(&frames, space, 1025, 499999), 500000);
    mem_frames_fini(&frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_exists_with_its_rights_and_zeroed),
        cmocka_unit_test(what_is_unmapped_goes_back_to_the_host),
        cmocka_unit_test(ranges_never_wrap),
        cmocka_unit_test(strings_end_at_their_end_or_at_the_memorys),
        cmocka_unit_test(the_highest_free_range_is_found),
        cmocka_unit_test(a_store_to_code_is_told_once),
        cmocka_unit_test(a_copy_is_the_same_and_apart),
        cmocka_unit_test(shared_pages_are_the_same_memory_until_unmapped),
        cmocka_unit_test(random_changes_agree_with_a_model),
        cmocka_unit_test(the_fast_path_allows_no_more_than_the_rights),
        cmocka_unit_test(frames_come_in_the_order_of_first_touch),
        cmocka_unit_test(a_frame_knows_its_pages),
        cmocka_unit_test(pages_with_a_frame_are_found),
    };
    return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
