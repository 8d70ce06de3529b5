/* Inside the monitor: the board's state, and how variables are found.
 *
 * Terms: docs/glossary.md
 */
#ifndef MONITOR_IMPL_H
#define MONITOR_IMPL_H

#include <stddef.h>
#include <string.h>

#include "base/bits.h"
#include "chiliad/monitor.h"

/* --- The board (monitor_board.c, monitor_map.c, monitor_select.c) ---------------------------- */

enum { MONITOR_PAGE_BITS = 12, MONITOR_PAGES = 1 << (32 - MONITOR_PAGE_BITS), MONITOR_JUMPERS = 4 };
#define MONITOR_NEVER UINT64_MAX

struct chil_monitor {
    uint64_t *words;   /* histogram and trace memory */
    uint64_t *presets; /* what was preloaded, by word; NULL: nothing */
    uint64_t *fired;   /* a bit for each bin that has interrupted; NULL until one does */
    uint8_t *tags;     /* by page; NULL: all 0 */
    unsigned address_bits;
    uint32_t control, status, chunks;
    uint8_t layout[CHIL_FIELDS];
    uint8_t jumpers[MONITOR_JUMPERS]; /* for address bits 20 and up: 0 none, else 1 + a bit of the
                                         variables */
    uint8_t category, export, shift;
    uint64_t threshold, minimum, maximum;
    uint64_t most;                 /* no word is larger */
    uint32_t address, count, page; /* of the commands on ranges */
    uint32_t records;              /* where the next trace record goes */
    uint32_t queue[CHIL_MONITOR_QUEUE];
    unsigned queued, queue_first;
    chil_monitor_interrupt interrupt;
    void *context;
    /* Halves of registers: a low half kept for its read, a high half that waits for its write. */
    uint64_t read_offset, write_offset;
    uint32_t read_low, write_high;
};

void monitor_set_word(struct chil_monitor *monitor, uint32_t address, uint64_t value);

/* --- Variables ------------------------------------------------------------------------------- */

/* Where a variable is in a transaction: its bytes, 0 for the latency, and what is dropped of it. */
struct monitor_field {
    uint8_t offset, width, shift;
};

#define FIELD(member, shift)                                                                       \
    {                                                                                              \
        offsetof(struct chil_transaction, member), sizeof(((struct chil_transaction *)0)->member), \
            shift                                                                                  \
    }
static const struct monitor_field monitor_fields[CHIL_VARIABLES] = {
    [CHIL_VAR_LATENCY] = {0, 0, 0},           [CHIL_VAR_SIZE] = FIELD(size, 0),
    [CHIL_VAR_SENDER] = FIELD(sender, 0),     [CHIL_VAR_CATEGORY] = FIELD(category, 0),
    [CHIL_VAR_TAG] = FIELD(tag, 0),           [CHIL_VAR_CORE] = FIELD(core, 0),
    [CHIL_VAR_PID] = FIELD(pid, 0),           [CHIL_VAR_TID] = FIELD(tid, 0),
    [CHIL_VAR_KIND] = FIELD(kind, 0),         [CHIL_VAR_LEVEL] = FIELD(level, 0),
    [CHIL_VAR_CAUSE] = FIELD(cause, 0),       [CHIL_VAR_PAGE] = FIELD(address, MONITOR_PAGE_BITS),
    [CHIL_VAR_ADDRESS] = FIELD(address, 0),   [CHIL_VAR_PC] = FIELD(pc, 0),
    [CHIL_VAR_FUNCTION] = FIELD(function, 0), [CHIL_VAR_SYMBOL] = FIELD(symbol, 0),
    [CHIL_VAR_CALLPATH] = FIELD(callpath, 0), [CHIL_VAR_NODE] = FIELD(node, 0),
    [CHIL_VAR_RECEIVER] = FIELD(receiver, 0), [CHIL_VAR_HOPS] = FIELD(hops, 0),
    [CHIL_VAR_LINK] = FIELD(link, 0),         [CHIL_VAR_WAIT] = FIELD(wait, 0),
};
#undef FIELD

static inline uint64_t monitor_field_value(struct monitor_field field,
                                           const struct chil_transaction *t)
{
    const uint8_t *at = (const uint8_t *)t + field.offset;
    uint64_t value;
    uint16_t half;
    uint32_t word;
    switch (field.width) {
    case 0: value = t->end - t->start; break;
    case sizeof *at: value = *at; break;
    case sizeof half:
        memcpy(&half, at, sizeof half);
        value = half;
        break;
    default:
        memcpy(&word, at, sizeof word);
        value = word;
        break;
    }
    return value >> field.shift;
}

/* A value that is in the transaction. */
static inline uint64_t monitor_plain_value(enum chil_variable variable,
                                           const struct chil_transaction *t)
{
    return monitor_field_value(monitor_fields[variable], t);
}

static inline bool monitor_is_carried(const struct chil_hist_names *names,
                                      enum chil_variable variable)
{
    return names->carried >> variable & 1;
}

static inline bool monitor_is_looked_up(const struct chil_hist_names *names,
                                        enum chil_variable variable)
{
    switch (variable) {
    case CHIL_VAR_FUNCTION:
    case CHIL_VAR_SYMBOL: return !monitor_is_carried(names, variable);
    case CHIL_VAR_CATEGORY: return names->categories != NULL;
    case CHIL_VAR_TAG: return names->tags != NULL;
    default: return false;
    }
}

/* The number of the name that covers the address, else the number that the transaction carries. */
static inline uint32_t monitor_look_up_or(struct chil_ranges *ranges, uint32_t address,
                                          bool is_carried, uint32_t carried)
{
    uint32_t number = chil_ranges_look_up(ranges, address);
    return number || !is_carried ? number : carried;
}

static inline uint64_t monitor_value(const struct chil_hist_names *names,
                                     enum chil_variable variable, const struct chil_transaction *t)
{
    if (!monitor_is_looked_up(names, variable)) return monitor_plain_value(variable, t);
    bool carried = monitor_is_carried(names, variable);
    switch (variable) {
    case CHIL_VAR_CATEGORY:
        return monitor_look_up_or(names->categories, t->pc, carried, t->section);
    case CHIL_VAR_TAG: return monitor_look_up_or(names->tags, t->address, carried, t->site);
    case CHIL_VAR_FUNCTION: return chil_ranges_look_up(names->functions, t->pc);
    default: return chil_ranges_look_up(names->symbols, t->address);
    }
}

/* The words that stand for values of a variable (monitor_words.c). */
bool monitor_has_words(const struct chil_hist_names *names, enum chil_variable variable);
uint32_t monitor_word_count(const struct chil_hist_names *names,
                            enum chil_variable variable); /* values, 0 included */
const char *monitor_word(const struct chil_hist_names *names, enum chil_variable variable,
                         uint64_t value);
/* The value of a word of `length` letters; false and, in `hint`, what may have been meant. */
bool monitor_word_find(const struct chil_hist_names *names, enum chil_variable variable,
                       const char *text, size_t length, uint64_t *value, char *hint,
                       size_t hint_size);
/* Whether a name that is not there yet may be added: only where the table of names is the caller's.
 */
bool monitor_word_may_come(const struct chil_hist_names *names, enum chil_variable variable,
                           bool is_quoted);
/* The number of a name that is not there yet. */
uint32_t monitor_word_add(const struct chil_hist_names *names, enum chil_variable variable,
                          const char *text, size_t length);

/* --- Reading declarations and predicates (monitor_parse.c) ----------------------------------- */

struct monitor_text {
    const char *what; /* "declaration", "predicate" */
    const char *start, *at;
    const struct chil_hist_names *names;
    struct chil_error *err;
};

/* "WHAT, column N: ...": `at` is where. Returns CHIL_EPARSE. */
int monitor_complain(const struct monitor_text *text, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void monitor_skip(struct monitor_text *text);
/* A word of letters, digits and what else names have; its length, 0 where there is none. */
size_t monitor_word_length(const char *at);
int monitor_take_variable(struct monitor_text *text, enum chil_variable *variable);
/* A decimal or 0x number; `what` is for the message. */
int monitor_take_number(struct monitor_text *text, uint64_t most, const char *what,
                        uint64_t *value);
/* How wide values of a variable are, in bits. */
unsigned monitor_width(const struct chil_hist_names *names, enum chil_variable variable);
int monitor_declare(struct monitor_text *text, struct chil_dimension *dimensions, unsigned *count);

#endif
