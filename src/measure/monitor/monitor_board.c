/* The board of the paper: a transaction comes, an address goes out, the word there is counted, or a
 * record is written.
 *
 * Decisions where the paper is silent (docs/monitor.md): latency limits are compared on the 44-bit
 * difference before the shift, strictly (ERR-19); the threshold is compared with the 41-bit sum
 * before the word wraps, strictly (ERR-18), at every update unless ONCE is set (ERR-21); a trace
 * stops at the end of memory unless WRAP is set (ERR-20). The transaction that reaches the
 * threshold is counted, and the first record is the one after it. A word is address fields below,
 * time above.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/monitor/monitor_impl.h"

#define WORD_MASK   ((UINT64_C(1) << CHIL_MONITOR_WORD_BITS) - 1)
#define CLOCK_MASK  ((UINT64_C(1) << CHIL_MONITOR_CLOCK_BITS) - 1)
#define FIELDS_MASK ((UINT64_C(1) << CHIL_MONITOR_ADDRESS_BITS) - 1)

unsigned chil_monitor_page_tag(const struct chil_monitor *m, uint32_t address)
{
    return m->tags ? m->tags[address >> MONITOR_PAGE_BITS] : 0;
}

/* --- Variables to address -------------------------------------------------------------------- */

static uint64_t scale_latency(const struct chil_monitor *m, uint64_t latency)
{
    if (latency > m->maximum) return FIELDS_MASK;
    if (latency < m->minimum) return 0;
    return latency >> m->shift & FIELDS_MASK;
}

/* The 48 bits that the multiplexers see: chunk k is bits 4k to 4k + 3. */
static uint64_t variables(const struct chil_monitor *m, const struct chil_transaction *t)
{
    uint64_t tag = chil_monitor_page_tag(m, t->address);
    return scale_latency(m, (t->end - t->start) & CLOCK_MASK) |
           (uint64_t)(t->size & 0xFFF) << 4 * CHIL_CHUNK_SIZE |
           (uint64_t)(t->sender & 0xFF) << 4 * CHIL_CHUNK_SENDER | tag << 4 * CHIL_CHUNK_TAG |
           (uint64_t)m->category << 4 * CHIL_CHUNK_CATEGORY;
}

static uint32_t fields(const struct chil_monitor *m, uint64_t bits)
{
    uint32_t address = 0;
    for (unsigned f = 0; f < CHIL_FIELDS; f++)
        address |= (uint32_t)(bits >> 4 * m->layout[f] & 15) << 4 * f;
    return address;
}

static uint32_t extra_bits(const struct chil_monitor *m, uint64_t bits)
{
    uint32_t address = 0;
    for (unsigned j = 0; j < m->address_bits - CHIL_MONITOR_ADDRESS_BITS; j++)
        if (m->jumpers[j])
            address |= (uint32_t)(bits >> (m->jumpers[j] - 1) & 1)
                       << (CHIL_MONITOR_ADDRESS_BITS + j);
    return address;
}

/* --- Counting and tracing -------------------------------------------------------------------- */

static bool has_fired(struct chil_monitor *m, uint32_t address)
{
    uint64_t bit = UINT64_C(1) << address % 64;
    if (!m->fired) m->fired = base_calloc((size_t)1 << (m->address_bits - 6), sizeof *m->fired);
    bool before = m->fired[address / 64] & bit;
    m->fired[address / 64] |= bit;
    return before;
}

static void overflow(struct chil_monitor *m, uint32_t address)
{
    if (has_fired(m, address) && m->control & CHIL_MONITOR_ONCE) return;
    m->status |= CHIL_MONITOR_INTERRUPT;
    if (m->queued == CHIL_MONITOR_QUEUE)
        m->status |= CHIL_MONITOR_LOST;
    else
        m->queue[(m->queue_first + m->queued++) % CHIL_MONITOR_QUEUE] = address;
    if (m->control & CHIL_MONITOR_TOGGLE) m->control |= CHIL_MONITOR_TRACE;
    if (m->interrupt) m->interrupt(m->context, address);
}

static void count(struct chil_monitor *m, uint32_t address)
{
    uint64_t sum = m->words[address] + 1;
    m->words[address] = sum & WORD_MASK;
    if (sum > m->most) m->most = sum;
    if (sum > m->threshold) overflow(m, address);
}

static void record(struct chil_monitor *m, uint32_t data, uint64_t time)
{
    if (m->records >> m->address_bits) {
        if (!(m->control & CHIL_MONITOR_WRAP)) {
            m->status |= CHIL_MONITOR_FULL;
            return;
        }
        m->records = 0;
    }
    m->words[m->records++] = (time & FIELDS_MASK) << CHIL_MONITOR_ADDRESS_BITS | data;
}

void chil_monitor_notify(struct chil_monitor *m, const struct chil_transaction *t)
{
    if (!(m->control & CHIL_MONITOR_RUN)) return;
    uint64_t bits = variables(m, t);
    uint32_t address = fields(m, bits);
    if (m->control & CHIL_MONITOR_TRACE)
        record(m, address, t->end);
    else
        count(m, address | extra_bits(m, bits));
}

bool chil_monitor_running(const struct chil_monitor *m)
{
    return m->control & CHIL_MONITOR_RUN;
}

uint64_t chil_monitor_left(const struct chil_monitor *m)
{
    return m->most < m->threshold ? m->threshold - m->most + 1 : 1;
}

/* --- Words ----------------------------------------------------------------------------------- */

void monitor_set_word(struct chil_monitor *m, uint32_t address, uint64_t value)
{
    if (address >> m->address_bits) return;
    m->words[address] = value & WORD_MASK;
    if (m->words[address] > m->most) m->most = m->words[address];
    if (m->presets) m->presets[address] = 0;
    if (m->fired) m->fired[address / 64] &= ~(UINT64_C(1) << address % 64);
}

int chil_monitor_preload(struct chil_monitor *m, uint32_t address, uint64_t events)
{
    if (address >> m->address_bits || events > WORD_MASK) return CHIL_ERANGE;
    if (!m->presets) m->presets = base_calloc((size_t)1 << m->address_bits, sizeof *m->presets);
    m->threshold = WORD_MASK;
    monitor_set_word(m, address, WORD_MASK - events);
    m->presets[address] = WORD_MASK - events;
    return 0;
}

uint64_t chil_monitor_count(const struct chil_monitor *m, uint32_t address)
{
    if (address >> m->address_bits) return 0;
    return (m->words[address] - (m->presets ? m->presets[address] : 0)) & WORD_MASK;
}

/* --- Life ------------------------------------------------------------------------------------ */

int chil_monitor_new(struct chil_monitor **monitor, unsigned address_bits,
                     chil_monitor_interrupt interrupt, void *context, struct chil_error *err)
{
    if (address_bits < CHIL_MONITOR_ADDRESS_BITS || address_bits > CHIL_MONITOR_ADDRESS_BITS_MAX)
        return chil_error_set(err, CHIL_ERANGE,
                              "a monitor with %u address bits: it has from %d to %d", address_bits,
                              CHIL_MONITOR_ADDRESS_BITS, CHIL_MONITOR_ADDRESS_BITS_MAX);
    struct chil_monitor *m = base_calloc(1, sizeof *m);
    m->words = base_calloc((size_t)1 << address_bits, sizeof *m->words);
    m->address_bits = address_bits;
    m->chunks = 0x1F;
    (void)chil_monitor_layout(m->chunks, m->layout, NULL);
    m->threshold = WORD_MASK;
    m->maximum = CLOCK_MASK;
    m->interrupt = interrupt;
    m->context = context;
    m->read_offset = m->write_offset = MONITOR_NEVER;
    *monitor = m;
    return 0;
}

void chil_monitor_free(struct chil_monitor *m)
{
    if (!m) return;
    free(m->words);
    free(m->presets);
    free(m->fired);
    free(m->tags);
    free(m);
}
