/* The board's commands as registers; docs/formats/monitor-registers.md is the reference.
 *
 * Registers are 64 bits, big-endian; a 32-bit access at offset + 0 is the high half, at + 4 the low
 * half. A read of a high half keeps the low half of that moment for the next read of it; a write to
 * a high half waits for the low half, and a low half without one has a high half of 0. So the
 * category is one store of a word.
 */
#include "base/mem.h"
#include "measure/monitor/monitor_impl.h"

enum {
    EXPORT_CATEGORY = 1,
    EXPORT_ALL = 2,
    CONTROL_BITS = 63,
    RULE_SHIFT = 8,
    STATUS_CLEARED = 15
};

static uint64_t load_layout(const struct chil_monitor *m)
{
    uint64_t value = 0;
    for (unsigned f = CHIL_FIELDS; f--;)
        value = value << 4 | m->layout[f];
    return value;
}

static uint64_t load_jumpers(const struct chil_monitor *m)
{
    uint64_t value = 0;
    for (unsigned j = MONITOR_JUMPERS; j--;)
        value = value << 8 | m->jumpers[j];
    return value;
}

static uint64_t next_word(struct chil_monitor *m)
{
    uint64_t value = m->address >> m->address_bits ? 0 : m->words[m->address];
    m->address++;
    return value;
}

static uint64_t next_overflow(struct chil_monitor *m)
{
    if (!m->queued) return UINT64_MAX;
    uint32_t address = m->queue[m->queue_first];
    m->queue_first = (m->queue_first + 1) % CHIL_MONITOR_QUEUE;
    m->queued--;
    return address;
}

static uint64_t load64(struct chil_monitor *m, uint64_t offset)
{
    switch (offset) {
    case CHIL_MONITOR_CONTROL: return m->control;
    case CHIL_MONITOR_CATEGORY: return m->category;
    case CHIL_MONITOR_THRESHOLD: return m->threshold;
    case CHIL_MONITOR_CHUNKS: return m->chunks;
    case CHIL_MONITOR_SHIFT: return m->shift;
    case CHIL_MONITOR_MINIMUM: return m->minimum;
    case CHIL_MONITOR_MAXIMUM: return m->maximum;
    case CHIL_MONITOR_JUMPERS: return load_jumpers(m);
    case CHIL_MONITOR_ADDRESS: return m->address;
    case CHIL_MONITOR_COUNT: return m->count;
    case CHIL_MONITOR_DATA: return next_word(m);
    case CHIL_MONITOR_STATUS: return m->status;
    case CHIL_MONITOR_OVERFLOW: return next_overflow(m);
    case CHIL_MONITOR_QUEUED: return m->queued;
    case CHIL_MONITOR_RECORDS: return m->records;
    case CHIL_MONITOR_LAYOUT: return load_layout(m);
    case CHIL_MONITOR_EXPORT: return m->export;
    case CHIL_MONITOR_PAGE: return m->page;
    case CHIL_MONITOR_TAG: return m->tags && m->page < MONITOR_PAGES ? m->tags[m->page] : 0;
    default: return 0; /* FILL */
    }
}

/* A selection that breaks a rule changes nothing but the status. */
static void select_chunks(struct chil_monitor *m, uint64_t value)
{
    uint32_t chunks = value >> CHIL_CHUNKS ? UINT32_MAX : (uint32_t)value;
    enum chil_rule rule;
    m->status &= ~(uint32_t)(CHIL_MONITOR_REFUSED | 15 << RULE_SHIFT);
    if (chil_monitor_layout(chunks, m->layout, &rule))
        m->chunks = chunks;
    else
        m->status |= CHIL_MONITOR_REFUSED | (uint32_t)rule << RULE_SHIFT;
}

static void set_jumpers(struct chil_monitor *m, uint64_t value)
{
    for (unsigned j = 0; j < MONITOR_JUMPERS; j++) {
        uint8_t from = (uint8_t)(value >> 8 * j);
        m->jumpers[j] = from > 4 * CHIL_CHUNKS ? 0 : from;
    }
}

static void fill(struct chil_monitor *m, uint64_t value)
{
    uint32_t size = 1U << m->address_bits;
    if (m->address == 0 && m->count >= size) m->most = 0;
    for (uint32_t left = m->count; left && m->address < size; left--)
        monitor_set_word(m, m->address++, value);
}

static void set_tag(struct chil_monitor *m, uint64_t value)
{
    if (!m->tags) m->tags = base_calloc(MONITOR_PAGES, sizeof *m->tags);
    if (m->page < MONITOR_PAGES) m->tags[m->page++] = value & 15;
}

static void store64(struct chil_monitor *m, uint64_t offset, uint64_t value)
{
    switch (offset) {
    case CHIL_MONITOR_CONTROL: m->control = value & CONTROL_BITS; break;
    case CHIL_MONITOR_CATEGORY: m->category = value & 15; break;
    case CHIL_MONITOR_THRESHOLD: m->threshold = value & bits_mask64(CHIL_MONITOR_WORD_BITS); break;
    case CHIL_MONITOR_CHUNKS: select_chunks(m, value); break;
    case CHIL_MONITOR_SHIFT:
        m->shift = value < CHIL_MONITOR_CLOCK_BITS ? (uint8_t)value : CHIL_MONITOR_CLOCK_BITS;
        break;
    case CHIL_MONITOR_MINIMUM: m->minimum = value & bits_mask64(CHIL_MONITOR_CLOCK_BITS); break;
    case CHIL_MONITOR_MAXIMUM: m->maximum = value & bits_mask64(CHIL_MONITOR_CLOCK_BITS); break;
    case CHIL_MONITOR_JUMPERS: set_jumpers(m, value); break;
    case CHIL_MONITOR_ADDRESS: m->address = (uint32_t)value; break;
    case CHIL_MONITOR_COUNT: m->count = (uint32_t)value; break;
    case CHIL_MONITOR_DATA: monitor_set_word(m, m->address++, value); break;
    case CHIL_MONITOR_FILL: fill(m, value); break;
    case CHIL_MONITOR_STATUS: m->status &= ~(uint32_t)(value & STATUS_CLEARED); break;
    case CHIL_MONITOR_RECORDS: m->records = (uint32_t)(value & bits_mask64(m->address_bits)); break;
    case CHIL_MONITOR_EXPORT: m->export = value & (EXPORT_CATEGORY | EXPORT_ALL); break;
    case CHIL_MONITOR_PAGE: m->page = (uint32_t)value; break;
    case CHIL_MONITOR_TAG: set_tag(m, value); break;
    default: break; /* read only */
    }
}

static bool is_exported(const struct chil_monitor *m, uint64_t offset)
{
    if (offset == CHIL_MONITOR_EXPORT) return false;
    return m->export & EXPORT_ALL ||
           (m->export & EXPORT_CATEGORY && offset == CHIL_MONITOR_CATEGORY);
}

static int check(const struct chil_monitor *m, enum chil_monitor_who who, uint64_t offset,
                 unsigned width)
{
    if ((width != 4 && width != 8) || offset % width) return CHIL_EINVAL;
    offset &= ~UINT64_C(7);
    bool is_protected = offset >= CHIL_MONITOR_PAGE;
    if (offset >= CHIL_MONITOR_END || (offset >= CHIL_MONITOR_USER_END && !is_protected))
        return CHIL_ENOENT;
    if (is_protected && who != CHIL_MONITOR_SUPERVISOR) return CHIL_EPERM;
    if (who == CHIL_MONITOR_REMOTE && !is_exported(m, offset)) return CHIL_EPERM;
    return 0;
}

int chil_monitor_load(struct chil_monitor *m, enum chil_monitor_who who, uint64_t offset,
                      unsigned width, uint64_t *value)
{
    uint64_t start = offset & ~UINT64_C(7);
    int status = check(m, who, offset, width);
    if (status) return status;
    if (width == 8) {
        *value = load64(m, offset);
        return 0;
    }
    if (offset != start && m->read_offset == start) {
        m->read_offset = MONITOR_NEVER;
        *value = m->read_low;
        return 0;
    }
    uint64_t whole = load64(m, start);
    m->read_offset = offset == start ? start : MONITOR_NEVER;
    m->read_low = (uint32_t)whole;
    *value = offset == start ? whole >> 32 : whole & UINT32_MAX;
    return 0;
}

int chil_monitor_store(struct chil_monitor *m, enum chil_monitor_who who, uint64_t offset,
                       unsigned width, uint64_t value)
{
    uint64_t start = offset & ~UINT64_C(7), high = 0;
    int status = check(m, who, offset, width);
    if (status) return status;
    m->read_offset = MONITOR_NEVER;
    if (width == 4 && offset == start) {
        m->write_offset = start;
        m->write_high = (uint32_t)value;
        return 0;
    }
    if (width == 4 && m->write_offset == start) high = (uint64_t)m->write_high << 32;
    m->write_offset = MONITOR_NEVER;
    store64(m, start, width == 4 ? high | (value & UINT32_MAX) : value);
    return 0;
}
