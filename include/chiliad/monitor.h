/* The monitor: joint histograms and traces of transactions.
 *
 * The board of "The SHRIMP Performance Monitor" (Martonosi, Clark, Mesarina) receives every packet
 * of a node, forms an address from some of the packet's attributes, and increments the word at that
 * address. Chiliad does the same with transactions: L1 misses, invalidations between cores,
 * packets of the torus, and whatever a caller reports. There are two forms:
 *
 * - struct chil_monitor is the paper's board, bit for bit: five variables, a 20-bit address of five
 * 4-bit fields, words of 40 bits, one threshold, registers. Programs on the node reach it through a
 * page of their memory.
 * - struct chil_hist is declared by a text, "latency:12 x tag x category": any width, more
 * variables, predicates, names.
 *
 * Both are listeners: the caller reports transactions, the object only counts them.
 * An object belongs to one thread at a time; two objects share nothing. docs/monitor.md has the
 * decisions, docs/formats/monitor-registers.md the registers.
 */
#ifndef CHILIAD_MONITOR_H
#define CHILIAD_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chiliad/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Transactions ---------------------------------------------------------------------------- */

enum chil_transaction_kind {
    CHIL_LOAD_MISS,    /* L1D */
    CHIL_STORE_MISS,   /* L1D */
    CHIL_FETCH_MISS,   /* L1I */
    CHIL_INVALIDATION, /* a store of `sender` took the line from the L1D of `core` */
    CHIL_PACKET,       /* of the torus, when its receiver has it */
    CHIL_HOP,          /* a packet's way over one link, when it starts there */
    CHIL_TRANSACTION_KINDS
};
/* Bits of kinds: those of the memory hierarchy, and those of networks. */
#define CHIL_KINDS_MEMORY  ((1U << CHIL_PACKET) - 1)
#define CHIL_KINDS_NETWORK (1U << CHIL_PACKET | 1U << CHIL_HOP)

/* Where the line was found. */
enum chil_level { CHIL_LEVEL_NONE, CHIL_LEVEL_L2, CHIL_LEVEL_L3, CHIL_LEVEL_DDR, CHIL_LEVELS };
const char *chil_transaction_kind_name(unsigned kind); /* "load", "store", ...; "?" */
const char *chil_level_name(unsigned level);           /* "none", "l2", "l3", "ddr"; "?" */

/* The link of a node that a packet leaves it by, named as in signals. */
enum chil_link {
    CHIL_LINK_NONE,
    CHIL_LINK_XP,
    CHIL_LINK_XM,
    CHIL_LINK_YP,
    CHIL_LINK_YM,
    CHIL_LINK_ZP,
    CHIL_LINK_ZM,
    CHIL_LINKS
};
const char *chil_link_name(unsigned link); /* "none", "xp", ...; "?" */

/* Why L1D did not have the line. Known only with the parameter misses.kinds (docs/model-memory.md).
 */
enum chil_cause {
    CHIL_CAUSE_NONE,
    CHIL_CAUSE_COLD,
    CHIL_CAUSE_CAPACITY,
    CHIL_CAUSE_CONFLICT,
    CHIL_CAUSE_COHERENCE,
    CHIL_CAUSES
};

/* Times are ticks of the clock that all share: core cycles on a node, 100 ns in the paper. */
struct chil_transaction {
    uint64_t start, end; /* the latency is end - start */
    uint32_t address;    /* of the access; of an invalidation, the line's */
    uint32_t pc;         /* the instruction that caused it; 0: unknown */
    uint32_t size;       /* bytes moved: a line */
    int32_t pid, tid;    /* who ran that instruction */
    uint16_t sender;     /* the core, or node, it comes from */
    uint8_t core;        /* whose cache it concerns */
    uint8_t kind, level; /* enum chil_transaction_kind, enum chil_level */
    uint8_t category, tag;
    uint8_t cause; /* enum chil_cause; not in trace files */
    /* Numbers of names, of runs with struct chil_run_names; 0: no name, or not recorded.
     * `site`: where the block of the heap was allocated; `section`: the section of libHPM that the
     * thread is in. */
    uint32_t function, symbol, callpath, site, section;
    uint16_t node; /* on which it happens: of a packet its receiver, of a hop where it starts */
    /* Of packets and hops; not of the memory hierarchy. `sender` is the node that injected the
     * packet, `receiver` the one that it is for or, of one delivered, that has it. */
    uint16_t receiver, hops; /* links so far, with this one */
    uint8_t link;            /* enum chil_link: this one, or the last */
    uint32_t wait;           /* cycles of the latency that an empty network would not take */
    uint32_t packet;         /* its number among those of its sender */
};

/* --- The board ------------------------------------------------------------------------------- */

/* The 12 chunks of four bits that may form an address: bits of `chunks` masks. Low bits first. */
enum chil_chunk {
    CHIL_CHUNK_LATENCY = 0, /* five */
    CHIL_CHUNK_SIZE = 5,    /* three */
    CHIL_CHUNK_SENDER = 8,  /* two */
    CHIL_CHUNK_TAG = 10,
    CHIL_CHUNK_CATEGORY = 11,
    CHIL_CHUNKS = 12,
    CHIL_FIELDS = 5 /* of an address, four bits each; field 0 is the lowest */
};

enum {
    CHIL_MONITOR_WORD_BITS = 40,
    CHIL_MONITOR_CLOCK_BITS = 44,
    CHIL_MONITOR_ADDRESS_BITS = 20,
    CHIL_MONITOR_ADDRESS_BITS_MAX = 24, /* with more memory */
    CHIL_MONITOR_QUEUE = 16             /* overflow addresses that the board keeps until read */
};

/* Why a selection of chunks is illegal. */
enum chil_rule {
    CHIL_RULE_NONE,
    CHIL_RULE_FIVE,       /* exactly five chunks */
    CHIL_RULE_CONTIGUOUS, /* the latency's are neighbours */
    CHIL_RULE_SENDER      /* both of the sender's or none */
};

/* Which chunk each field takes: the layout of addresses, to be kept with the data (ERR-22). False
 * when `chunks` breaks a rule, which goes to *rule if that is not NULL. */
bool chil_monitor_layout(uint32_t chunks, uint8_t layout[CHIL_FIELDS], enum chil_rule *rule);
const char *chil_rule_text(enum chil_rule rule);
/* "latency 2", "category": for reports. `chunk` is below CHIL_CHUNKS. */
const char *chil_chunk_name(unsigned chunk);
/* The chunks that a field's multiplexer has as inputs. */
uint32_t chil_monitor_inputs(unsigned field);

/* Registers, all of 64 bits; docs/formats/monitor-registers.md. */
enum chil_monitor_register {
    CHIL_MONITOR_CONTROL = 0x00,
    CHIL_MONITOR_CATEGORY = 0x08,
    CHIL_MONITOR_THRESHOLD = 0x10,
    CHIL_MONITOR_CHUNKS = 0x18,
    CHIL_MONITOR_SHIFT = 0x20,
    CHIL_MONITOR_MINIMUM = 0x28,
    CHIL_MONITOR_MAXIMUM = 0x30,
    CHIL_MONITOR_JUMPERS = 0x38,
    CHIL_MONITOR_ADDRESS = 0x40,
    CHIL_MONITOR_COUNT = 0x48,
    CHIL_MONITOR_DATA = 0x50,
    CHIL_MONITOR_FILL = 0x58,
    CHIL_MONITOR_STATUS = 0x60,
    CHIL_MONITOR_OVERFLOW = 0x68,
    CHIL_MONITOR_QUEUED = 0x70,
    CHIL_MONITOR_RECORDS = 0x78,
    CHIL_MONITOR_LAYOUT = 0x80,
    CHIL_MONITOR_EXPORT = 0x88,
    CHIL_MONITOR_USER_END = 0x90,
    CHIL_MONITOR_PAGE = 0x800, /* from here on protected */
    CHIL_MONITOR_TAG = 0x808,
    CHIL_MONITOR_END = 0x810
};

/* Bits of CONTROL and of STATUS. */
enum {
    CHIL_MONITOR_RUN = 1,    /* start and stop */
    CHIL_MONITOR_TRACE = 2,  /* the mode: trace, else histogram */
    CHIL_MONITOR_TOGGLE = 4, /* a threshold switches to trace */
    CHIL_MONITOR_WRAP = 8,   /* at its end the trace begins again, instead of stopping (ERR-20) */
    CHIL_MONITOR_ONCE =
        16, /* a bin interrupts once, instead of at every update past the threshold (ERR-21) */
    CHIL_MONITOR_SIGNAL = 32 /* on a node: an interrupt is a signal to the thread that caused it */
};
enum {
    CHIL_MONITOR_INTERRUPT = 1, /* since last cleared */
    CHIL_MONITOR_LOST = 2,      /* the queue was full */
    CHIL_MONITOR_FULL = 4,      /* the trace ended at the end of memory */
    CHIL_MONITOR_REFUSED = 8    /* the last selection; the enum chil_rule is in bits 8 to 11 */
};

enum chil_monitor_who { CHIL_MONITOR_USER, CHIL_MONITOR_SUPERVISOR, CHIL_MONITOR_REMOTE };

struct chil_monitor;

/* The board interrupts: the address of the bin. It may look at its own context only. */
typedef void (*chil_monitor_interrupt)(void *context, uint32_t address);

/* A stopped board: histogram mode, all words 0, category 0, threshold 2^40 - 1, the whole latency
 * selected, no shift, minimum 0, maximum 2^44 - 1, all page tags 0. `address_bits`: 20 to 24.
 * `interrupt` may be NULL. */
int chil_monitor_new(struct chil_monitor **monitor, unsigned address_bits,
                     chil_monitor_interrupt interrupt, void *context, struct chil_error *err);
void chil_monitor_free(struct chil_monitor *monitor);

/* Counts or records a transaction that has ended. Category and tag come from the board: its
 * register, and the tag of the address's page. */
void chil_monitor_notify(struct chil_monitor *monitor, const struct chil_transaction *transaction);

/* Loads and stores of registers: 8 bytes, or 4 at either half. CHIL_EINVAL: no such access;
 * CHIL_ENOENT: no register; CHIL_EPERM: a protected one, or one that is not exported to remote
 * nodes. */
int chil_monitor_load(struct chil_monitor *monitor, enum chil_monitor_who who, uint64_t offset,
                      unsigned width, uint64_t *value);
int chil_monitor_store(struct chil_monitor *monitor, enum chil_monitor_who who, uint64_t offset,
                       unsigned width, uint64_t value);
bool chil_monitor_running(const struct chil_monitor *monitor);
/* A lower bound of the transactions up to and including the next that interrupts; 1: the next. */
uint64_t chil_monitor_left(const struct chil_monitor *monitor);
unsigned chil_monitor_page_tag(const struct chil_monitor *monitor, uint32_t address);

/* A threshold for one bin by preloading (SHR-40): it interrupts at its event `events` + 1. The
 * threshold register becomes 2^40 - 1. chil_monitor_count gives what was counted since, without the
 * preload; the words themselves are read through the registers. */
int chil_monitor_preload(struct chil_monitor *monitor, uint32_t address, uint64_t events);
uint64_t chil_monitor_count(const struct chil_monitor *monitor, uint32_t address);

/* --- Names of addresses ---------------------------------------------------------------------- */

/* Ranges of addresses with names: functions, data, tags. Each name has a number, from 1 on in the
 * order they came; 0 is what is in no range. Where ranges overlap, the later one counts.
 * Look-ups are exact to the byte. */
struct chil_ranges;

struct chil_ranges *chil_ranges_new(void);
void chil_ranges_free(struct chil_ranges *ranges);
/* Adds [first, last] under a name, new or not; the name's number. Not after a look-up. */
uint32_t chil_ranges_add(struct chil_ranges *ranges, const char *name, uint32_t first,
                         uint32_t last);
/* A name without a range, new or not, at any time; its number. */
uint32_t chil_ranges_name(struct chil_ranges *ranges, const char *name);
uint32_t chil_ranges_count(const struct chil_ranges *ranges);
uint32_t chil_ranges_look_up(struct chil_ranges *ranges, uint32_t address);
const char *chil_ranges_get(const struct chil_ranges *ranges,
                            uint32_t number); /* NULL for 0 and what there is not */
uint32_t chil_ranges_find(const struct chil_ranges *ranges,
                          const char *name); /* 0: there is none */

/* --- Histograms by declaration --------------------------------------------------------------- */

/* What a transaction has: the words of declarations and predicates. */
enum chil_variable {
    CHIL_VAR_LATENCY,
    CHIL_VAR_SIZE,
    CHIL_VAR_SENDER,
    CHIL_VAR_CATEGORY,
    CHIL_VAR_TAG,
    CHIL_VAR_CORE,
    CHIL_VAR_PID,
    CHIL_VAR_TID,
    CHIL_VAR_KIND,
    CHIL_VAR_LEVEL,
    CHIL_VAR_CAUSE,
    CHIL_VAR_NODE,
    CHIL_VAR_RECEIVER,
    CHIL_VAR_HOPS,
    CHIL_VAR_LINK,
    CHIL_VAR_WAIT,
    CHIL_VAR_FUNCTION,
    CHIL_VAR_SYMBOL,
    CHIL_VAR_CALLPATH,
    CHIL_VAR_PAGE,
    CHIL_VAR_ADDRESS,
    CHIL_VAR_PC,
    CHIL_VARIABLES
};
const char *chil_variable_name(enum chil_variable variable);

/* Where names come from, all borrowed, each may be NULL. Without `tags` a tag is the transaction's,
 * likewise categories, which are functions' (by pc). Without `functions`, `symbols` or `callpaths`
 * these variables are refused.
 *
 * Bit n of `carried`: transactions carry the number of the name for enum chil_variable n, and the
 * table may grow. A call path is always carried. A carried tag or category (`site`, `section`)
 * counts where no range covers the address. Bit n of `open`: predicates may name what is not in the
 * table yet. A quoted name may always be new if its variable is carried. */
struct chil_hist_names {
    struct chil_ranges *functions, *symbols, *tags, *categories, *callpaths;
    uint32_t carried, open;
    uint32_t nodes; /* of the run: how wide node, sender and receiver are, 8 bits at least */
};

/* How values of a dimension become bins. */
enum chil_scale {
    CHIL_SCALE_LINEAR, /* value >> shift, in `bits` bits; what is too large is in the last bin */
    CHIL_SCALE_LOG     /* `parts` bins for each doubling */
};
struct chil_dimension {
    enum chil_variable variable;
    enum chil_scale scale;
    unsigned shift, parts, bits; /* bits: of the bin's number */
    unsigned low;                /* where they are in the key: the layout */
};

enum { CHIL_DIMENSIONS_MAX = 8 };

struct chil_hist;

/* DECLARATION: dimensions with "x" between them. Each is a variable, with ">>N" for a shift, ":N"
 * for a width in bits, ":log" or ":logN" for 1, 2, 4 or 8 bins a doubling. WHERE (may be NULL):
 * comparisons with & | ! and parentheses. Errors in both name the column. */
int chil_hist_new(struct chil_hist **hist, const char *declaration, const char *where,
                  const struct chil_hist_names *names, struct chil_error *err);
void chil_hist_free(struct chil_hist *hist);
/* Counts a transaction. `hist` is a struct chil_hist; void * makes it a callback of a run. */
void chil_hist_notify(void *hist, const struct chil_transaction *transaction);
/* Adds a bin of another histogram with the same declaration, names and nodes. */
void chil_hist_add(struct chil_hist *hist, uint64_t key, uint64_t count);
/* Counts `count` transactions that differ in time, address, pc and names only. For histograms that
 * use none of these. */
void chil_hist_notify_uniform(void *hist, const struct chil_transaction *transaction,
                              uint64_t count);
bool chil_hist_uses_place(const struct chil_hist *hist); /* address, pc or a name */
bool chil_hist_uses_pc(const struct chil_hist *hist);
bool chil_hist_uses(const struct chil_hist *hist, enum chil_variable variable);

unsigned chil_hist_dimensions(const struct chil_hist *hist);
const struct chil_dimension *chil_hist_dimension(const struct chil_hist *hist, unsigned dimension);
uint64_t
chil_hist_total(const struct chil_hist *hist); /* transactions that the predicate let through */

/* The bins that are not 0, in the order of their keys: the first dimension varies slowest. The
 * array belongs to the histogram and is valid until the next transaction. */
struct chil_bin {
    uint64_t key, count;
};
const struct chil_bin *chil_hist_bins(struct chil_hist *hist, size_t *count);
/* The bin's number in a dimension, and what it stands for: a name, a number, or a range ("64-127",
 * "4095+"). */
uint64_t chil_hist_index(const struct chil_hist *hist, unsigned dimension, uint64_t key);
enum { CHIL_VALUE_TEXT = 128 };
void chil_hist_value(const struct chil_hist *hist, unsigned dimension, uint64_t index,
                     char text[CHIL_VALUE_TEXT]);
/* The whole name, which chil_hist_value cuts to CHIL_VALUE_TEXT (of a call path, it cuts the
 * beginning). NULL: the value has no name. */
const char *chil_hist_name(const struct chil_hist *hist, unsigned dimension, uint64_t index);

/* A predicate alone, over the same words. */
struct chil_where;
int chil_where_new(struct chil_where **where, const char *text, const struct chil_hist_names *names,
                   struct chil_error *err);
void chil_where_free(struct chil_where *where);
bool chil_where_uses(const struct chil_where *where, enum chil_variable variable);
bool chil_where_holds(const struct chil_where *where, const struct chil_transaction *transaction);

#ifdef __cplusplus
}
#endif
#endif
