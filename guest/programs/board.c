/* The monitor's board used by the program itself, through its registers: an experiment as the paper has it, on two
 * arrays with page tags, in the order of section 3.5; then a forbidden bin, which the status reports; then trace mode,
 * limits of the latency, and more overflows than their queue has room for. The exit status counts what is wrong. With
 * an argument it writes a page tag without leave, which must kill it. */
#include <chiliad/monitor.h>
#include <stdio.h>

enum { PAGES = 16, TAG_A = 5, TAG_B = 6, RUN = 1, TRACE = 2, INTERRUPT = 1, LOST = 2, QUEUE = 16 };
static const uint32_t category_tag_latency = 0xC07;

static volatile char a[PAGES << 12] __attribute__((aligned(4096)));
static volatile char b[PAGES << 12] __attribute__((aligned(4096)));
static int wrong;

static void expect(const char *what, uint64_t value, uint64_t wanted)
{
    if (value == wanted) return;
    printf("%s is %llu, not %llu\n", what, (unsigned long long)value, (unsigned long long)wanted);
    wrong++;
}

/* All transactions with a tag under a category, whatever their latency. */
static uint64_t sum(uint32_t category, uint32_t tag)
{
    uint64_t all = 0;
    chiliad_monitor_set(CHILIAD_MONITOR_ADDRESS, category << 16 | tag << 12);
    for (unsigned i = 0; i < 4096; i++)
        all += chiliad_monitor_get(CHILIAD_MONITOR_DATA);
    return all;
}

__attribute__((noinline)) static void walk(volatile char *bytes, unsigned stride)
{
    for (unsigned i = 0; i < PAGES << 12; i += stride)
        (void)bytes[i];
}

/* The other mode: a record for each miss of 20 lines, at the next address each time, fields below and time above. */
static void trace_some(void)
{
    enum { MISSES = 20, FIELDS = (1 << 20) - 1 };
    uint32_t last = 0, later = 0, of_b = 0;
    chiliad_category(7);
    chiliad_monitor_set(CHILIAD_MONITOR_RECORDS, 0x100);
    chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, RUN | TRACE);
    for (unsigned i = 0; i < MISSES; i++)
        (void)b[96 + 256 * i];
    chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, 0);
    uint32_t records = (uint32_t)chiliad_monitor_get(CHILIAD_MONITOR_RECORDS) - 0x100;
    chiliad_monitor_set(CHILIAD_MONITOR_ADDRESS, 0x100);
    for (uint32_t i = 0; i < records; i++) {
        uint64_t word = chiliad_monitor_get(CHILIAD_MONITOR_DATA);
        uint32_t time = (uint32_t)(word >> 20), fields = (uint32_t)word & FIELDS;
        if (fields >> 12 == (7 << 4 | TAG_B) && (fields & 0xFFF) > 0) of_b++;
        if (i && ((time - last) & FIELDS) < 10000) later++;
        last = time;
    }
    expect("records of b", of_b, MISSES);
    expect("records later than the one before", later, records - 1);
}

/* Latencies shifted, above the maximum, below the minimum; then a threshold of 0 and more overflows than are queued. */
static void limit_some(void)
{
    static const struct {
        uint32_t shift, minimum, maximum;
    } settings[] = {{0, 0, 0xFFFFF}, {2, 0, 0xFFFFF}, {0, 0, 3}, {0, 5000, 6000}};
    uint32_t bin[4];
    for (unsigned k = 0; k < 4; k++) {
        chiliad_monitor_set(CHILIAD_MONITOR_SHIFT, settings[k].shift);
        chiliad_monitor_set(CHILIAD_MONITOR_MINIMUM, settings[k].minimum);
        chiliad_monitor_set(CHILIAD_MONITOR_MAXIMUM, settings[k].maximum);
        chiliad_monitor_set(CHILIAD_MONITOR_ADDRESS, 0);
        chiliad_monitor_set(CHILIAD_MONITOR_COUNT, 1 << 20);
        chiliad_monitor_set(CHILIAD_MONITOR_FILL, 0);
        chiliad_category(11);
        walk(a, 32); /* L1 and L2 have none of b now */
        chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, RUN);
        (void)b[(k + 1) << 13];
        chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, 0);
        chiliad_monitor_set(CHILIAD_MONITOR_ADDRESS, 11 << 16 | TAG_B << 12);
        for (bin[k] = 0; bin[k] < 4096 && !chiliad_monitor_get(CHILIAD_MONITOR_DATA);)
            bin[k]++;
    }
    expect("a latency", bin[0] > 0 && bin[0] < 4095, 1);
    expect("shifted by 2", bin[1], bin[0] >> 2);
    expect("above the maximum", bin[2], 0xFFF);
    expect("below the minimum", bin[3], 0);
    chiliad_monitor_set(CHILIAD_MONITOR_MINIMUM, 0);
    chiliad_monitor_set(CHILIAD_MONITOR_MAXIMUM, 0xFFFFF);
    chiliad_monitor_set64(CHILIAD_MONITOR_THRESHOLD, 0);
    chiliad_monitor_set(CHILIAD_MONITOR_STATUS, 15);
    while (chiliad_monitor_get(CHILIAD_MONITOR_QUEUED))
        (void)chiliad_monitor_get(CHILIAD_MONITOR_OVERFLOW);
    chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, RUN);
    for (unsigned i = 0; i < QUEUE; i++)
        (void)b[128 + 256 * i];
    uint64_t first = chiliad_monitor_get(CHILIAD_MONITOR_STATUS);
    for (unsigned i = 0; i < QUEUE; i++)
        (void)b[192 + 256 * i];
    chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, 0);
    expect("interrupt", first & INTERRUPT, INTERRUPT);
    expect("lost", chiliad_monitor_get(CHILIAD_MONITOR_STATUS) & LOST, LOST);
    expect("queued", chiliad_monitor_get(CHILIAD_MONITOR_QUEUED), QUEUE);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) *(volatile uint32_t *)(CHILIAD_MONITOR + 0x80C) = 1; /* TAG */
    expect("tag a", (uint64_t)chiliad_tag(a, sizeof a, TAG_A), 0);
    expect("tag b", (uint64_t)chiliad_tag(b, sizeof b, TAG_B), 0);
    expect("tag 16", (uint64_t)-chiliad_tag(b, sizeof b, 16), 22);

    chiliad_monitor_set(CHILIAD_MONITOR_ADDRESS, 0);
    chiliad_monitor_set(CHILIAD_MONITOR_COUNT, 1 << 20);
    chiliad_monitor_set(CHILIAD_MONITOR_FILL, 0);
    chiliad_monitor_set(CHILIAD_MONITOR_CHUNKS, category_tag_latency);
    expect("layout", chiliad_monitor_get(CHILIAD_MONITOR_LAYOUT), 0xBA210);
    chiliad_category(2);
    chiliad_monitor_set64(CHILIAD_MONITOR_THRESHOLD, (UINT64_C(1) << 40) - 1);
    chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, RUN);
    walk(a, 32);
    walk(b, 256);
    chiliad_category(3);
    walk(a, 64);
    chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, 0);
    walk(b, 32);
    expect("a in 2", sum(2, TAG_A), PAGES * 128);
    expect("b in 2", sum(2, TAG_B), PAGES * 16);
    expect("a in 3", sum(3, TAG_A), PAGES * 64);
    expect("b in 3", sum(3, TAG_B), 0);
    expect("status", chiliad_monitor_get(CHILIAD_MONITOR_STATUS), 0);

    /* A selection that is none, and a bin that must stay empty: b under category 9. */
    chiliad_monitor_set(CHILIAD_MONITOR_CHUNKS, 0xC11);
    expect("refused", chiliad_monitor_get(CHILIAD_MONITOR_STATUS), 8 | 1 << 8);
    chiliad_monitor_set(CHILIAD_MONITOR_STATUS, 15);
    chiliad_monitor_set(CHILIAD_MONITOR_ADDRESS, 9 << 16 | TAG_B << 12);
    chiliad_monitor_set(CHILIAD_MONITOR_COUNT, 4096);
    chiliad_monitor_set64(CHILIAD_MONITOR_FILL, (UINT64_C(1) << 40) - 1);
    chiliad_category(9);
    chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, RUN);
    walk(a, 32);
    expect("quiet", chiliad_monitor_get(CHILIAD_MONITOR_STATUS) & 3, 0);
    (void)b[77];
    expect("forbidden", chiliad_monitor_get(CHILIAD_MONITOR_STATUS) & 3, INTERRUPT);
    chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, 0);
    expect("its bin", chiliad_monitor_get(CHILIAD_MONITOR_OVERFLOW) >> 12, 9 << 4 | TAG_B);
    trace_some();
    limit_some();
    return wrong;
}
