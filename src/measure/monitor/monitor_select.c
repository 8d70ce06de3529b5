/* Which five of the twelve chunks form an address, and where each goes.
 *
 * The paper has five multiplexers, one for each 4-bit field, of at most 8 inputs, two of them with
 * 7, that reach all 190 legal choices; it does not say which inputs. These were found by a search:
 * all choices fit, and in each the latency's chunks are neighbours in order and no variable's
 * chunks change their order. Where several layouts fit, the highest field takes the highest chunk
 * it can, so that figure 3's example comes out as drawn: category, page tag, latency.
 */
#include "measure/monitor/monitor_impl.h"

#define BIT(chunk) (1U << (chunk))

static const uint16_t inputs[CHIL_FIELDS] = {
    BIT(0) | BIT(5) | BIT(6) | BIT(7) | BIT(8) | BIT(10) | BIT(11),
    BIT(0) | BIT(1) | BIT(2) | BIT(5) | BIT(6) | BIT(8) | BIT(10) | BIT(11),
    BIT(0) | BIT(1) | BIT(2) | BIT(3) | BIT(4) | BIT(7) | BIT(8) | BIT(11),
    BIT(2) | BIT(3) | BIT(4) | BIT(5) | BIT(6) | BIT(7) | BIT(9) | BIT(10),
    BIT(4) | BIT(5) | BIT(6) | BIT(7) | BIT(9) | BIT(10) | BIT(11),
};

enum { LATENCY = 0x01F, SIZE = 0x0E0, SENDER = 0x300 };

uint32_t chil_monitor_inputs(unsigned field)
{
    return field < CHIL_FIELDS ? inputs[field] : 0;
}

static enum chil_rule rule_of(uint32_t chunks)
{
    uint32_t latency = chunks & LATENCY, sender = chunks & SENDER;
    if (chunks >> CHIL_CHUNKS || __builtin_popcount(chunks) != CHIL_FIELDS) return CHIL_RULE_FIVE;
    if (latency && (latency / (latency & -latency) & (latency / (latency & -latency) + 1)))
        return CHIL_RULE_CONTIGUOUS;
    if (sender && sender != SENDER) return CHIL_RULE_SENDER;
    return CHIL_RULE_NONE;
}

/* The variable that a chunk is of. */
static uint32_t family(unsigned chunk)
{
    const uint32_t families[] = {LATENCY, SIZE, SENDER};
    for (unsigned i = 0; i < 3; i++)
        if (families[i] >> chunk & 1) return families[i];
    return BIT(chunk);
}

/* Whether `chunk` may be next, going down, when `left` (with it) are still to be placed: nothing
 * above it of its variable is left, and a latency that has begun goes on. */
static bool may_be_next(unsigned chunk, uint32_t left, uint32_t all)
{
    uint32_t begun = (all & ~left) & LATENCY;
    if (left & family(chunk) & ~(BIT(chunk + 1) - 1)) return false;
    return !begun || !(left & LATENCY) || LATENCY >> chunk & 1;
}

static bool place(uint32_t left, uint32_t all, unsigned field, uint8_t *layout)
{
    for (unsigned chunk = CHIL_CHUNKS; chunk--;) {
        if (!(left & inputs[field] & BIT(chunk)) || !may_be_next(chunk, left, all)) continue;
        layout[field] = (uint8_t)chunk;
        if (field == 0 || place(left & ~BIT(chunk), all, field - 1, layout)) return true;
    }
    return false;
}

bool chil_monitor_layout(uint32_t chunks, uint8_t layout[CHIL_FIELDS], enum chil_rule *rule)
{
    enum chil_rule broken = rule_of(chunks);
    if (rule) *rule = broken;
    return broken == CHIL_RULE_NONE && place(chunks, chunks, CHIL_FIELDS - 1, layout);
}

const char *chil_rule_text(enum chil_rule rule)
{
    switch (rule) {
    case CHIL_RULE_FIVE: return "an address has exactly five chunks";
    case CHIL_RULE_CONTIGUOUS: return "the chunks of the latency must be neighbours";
    case CHIL_RULE_SENDER: return "the sender is used whole or not at all";
    default: return "none";
    }
}

const char *chil_chunk_name(unsigned chunk)
{
    static const char *const names[CHIL_CHUNKS] = {
        "latency 0", "latency 1", "latency 2", "latency 3", "latency 4", "size 0",
        "size 1",    "size 2",    "sender 0",  "sender 1",  "tag",       "category"};
    return chunk < CHIL_CHUNKS ? names[chunk] : "?";
}
