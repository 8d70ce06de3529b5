/* The keys of a machine file: one table, from which files are checked and docs/formats/machine.md
 * is written.
 *
 * To add a parameter, add a row; nothing else needs to know it until something reads it. The limits
 * catch slips of the pen (a size in KB that was meant in bytes), and keep what a node needs of the
 * host's memory below some gigabytes; they do not say what a machine may be.
 */
#include "catalog/catalog.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const upc_kinds[] = {"hybrid", "grouped", NULL};
static const char *const policies[] = {"round-robin", "lru", "random", NULL};
static const char *const writes[] = {"back", "through", NULL};
static const char *const yes_no[] = {"no", "yes", NULL};
static const char *const on_off[] = {"off", "on", NULL};
static const char *const models[] = {"full", "l1", "none", NULL};
static const char *const coherences[] = {"none", "invalidate", NULL};

#define K UINT64_C(1024)
#define M (K * K)
#define G (M * K)

/* Short names, so that a row is a line. */
#define NUMBER   CATALOG_NUMBER
#define POWER    CATALOG_POWER
#define PAGE     CATALOG_PAGE
#define NAME     CATALOG_NAME
#define NAMES    CATALOG_NAMES
#define TEXT     CATALOG_TEXT
#define CHOICE   CATALOG_CHOICE
#define OPTIONAL CATALOG_OPTIONAL
#define REQUIRED CATALOG_REQUIRED
#define HYBRID   CATALOG_HYBRID
#define GROUPED  CATALOG_GROUPED

/* clang-format off */
const struct catalog_key catalog_keys[] = {
    /* name                 kind     need      low  high       choices    text */
    {"machine.name",         NAME,    REQUIRED, 0,   0,         NULL,      "the file's name without .machine"},
    {"machine.text",         TEXT,    REQUIRED, 0,   0,         NULL,      "one line that says what it is"},
    {"machine.cores",        NUMBER,  REQUIRED, 1,   1024,      NULL,      "processor cores of a node"},
    {"machine.clock_mhz",    NUMBER,  REQUIRED, 1,   100000,    NULL,      "core clock"},
    {"machine.fpu_elements", NUMBER,  OPTIONAL, 1,   64,        NULL,      "elements of a core's FPU"},
    {"machine.nodes_max",    NUMBER,  REQUIRED, 1,   16 * M,    NULL,      "most compute nodes of a system"},
    {"machine.io_nodes",     NUMBER,  OPTIONAL, 0,   16 * M,    NULL,      "I/O nodes of such a system"},
    {"machine.seed",         NUMBER,  OPTIONAL, 0,   K * G,     NULL,      "of random replacement"},
    {"core.units",           NAMES,   OPTIONAL, 0,   0,         NULL,      "which groups of instructions exist"},
    {"events.file",          NAME,    REQUIRED, 0,   0,         NULL,      "the file of its events"},
    {"events.simulator",     NAME,    OPTIONAL, 0,   0,         NULL,      "the file of the simulator's own counters"},
    {"upc.kind",             CHOICE,  REQUIRED, 0,   0,         upc_kinds, "how the counter unit is built"},
    {"upc.counters",         NUMBER,  REQUIRED, 1,   65536,     NULL,      "counters of the unit"},
    {"upc.inputs",           NUMBER,  HYBRID,   1,   256,       NULL,      "inputs of each counter"},
    {"upc.low_bits",         NUMBER,  HYBRID,   1,   32,        NULL,      "bits of the live low part"},
    {"upc.slot_cycles",      NUMBER,  HYBRID,   1,   65536,     NULL,      "cycles of a maintenance slot"},
    {"upc.base",             PAGE,    HYBRID,   0,   4 * G - 4 * K, NULL,      "address of the unit's registers"},
    {"upc.groups",           NUMBER,  GROUPED,  1,   256,       NULL,      "groups of counters A, B and C"},
    {"upc.width",            NUMBER,  GROUPED,  1,   64,        NULL,      "bits of a counter"},
    {"upc.fpu_counters",     NUMBER,  GROUPED,  0,   2048,      NULL,      "counters in all FPUs, two in each"},
    {"l1i.size",             NUMBER,  REQUIRED, 1,   64 * M,    NULL,      "bytes of a core's L1 for instructions"},
    {"l1i.line",             POWER,   REQUIRED, 4,   64 * K,    NULL,      "bytes of a line"},
    {"l1i.ways",             NUMBER,  REQUIRED, 1,   64 * K,    NULL,      "lines of a set"},
    {"l1i.policy",           CHOICE,  REQUIRED, 0,   0,         policies,  "which line of a set is replaced"},
    {"l1d.size",             NUMBER,  REQUIRED, 1,   64 * M,    NULL,      "bytes of a core's L1 for data"},
    {"l1d.line",             POWER,   REQUIRED, 4,   64 * K,    NULL,      "bytes of a line"},
    {"l1d.ways",             NUMBER,  REQUIRED, 1,   64 * K,    NULL,      "lines of a set"},
    {"l1d.policy",           CHOICE,  REQUIRED, 0,   0,         policies,  "which line of a set is replaced"},
    {"l1d.write",            CHOICE,  OPTIONAL, 0,   0,         writes,    "whether stores go on to memory"},
    {"l1d.allocate",         CHOICE,  OPTIONAL, 0,   0,         yes_no,    "whether a store that misses fills a line"},
    {"l1d.latency",          NUMBER,  OPTIONAL, 0,   1000,      NULL,      "cycles from a load to the use of its data"},
    {"l1d.fills",            NUMBER,  OPTIONAL, 1,   8,         NULL,      "lines that a core can wait for at a time"},
    {"l1d.stores",           NUMBER,  OPTIONAL, 1,   64,        NULL,      "entries of the store queue"},
    {"l1d.store_cycles",     NUMBER,  OPTIONAL, 1,   M,         NULL,      "cycles that a store is in it"},
    {"l1d.store_lines",      NUMBER,  OPTIONAL, 1,   8,         NULL,      "lines of the last stores to memory that stores join"},
    {"tlb.entries",          NUMBER,  REQUIRED, 1,   64 * K,    NULL,      "entries, fully associative"},
    {"tlb.page",             POWER,   REQUIRED, K,   G,         NULL,      "bytes of a page, unless set otherwise"},
    {"tlb.miss_cycles",      NUMBER,  OPTIONAL, 0,   M,         NULL,      "cycles of the handler of a miss"},
    {"l2.entries",           NUMBER,  OPTIONAL, 1,   255,       NULL,      "lines of a core's prefetch buffer"},
    {"l2.line",              POWER,   OPTIONAL, 4,   64 * K,    NULL,      "bytes of a line"},
    {"l2.latency",           NUMBER,  OPTIONAL, 1,   M,         NULL,      "cycles from a load to the use of its data"},
    {"l2.streams",           NUMBER,  OPTIONAL, 0,   255,       NULL,      "streams that are fetched ahead"},
    {"l2.depth",             NUMBER,  OPTIONAL, 0,   64,        NULL,      "lines ahead of each"},
    {"l2.filter",            NUMBER,  OPTIONAL, 1,   255,       NULL,      "misses among which streams are found"},
    {"l3.size",              NUMBER,  OPTIONAL, 1,   G,         NULL,      "bytes of the cache that the cores share"},
    {"l3.banks",             POWER,   OPTIONAL, 1,   1024,      NULL,      "banks of equal size"},
    {"l3.line",              POWER,   OPTIONAL, 4,   64 * K,    NULL,      "bytes of a line"},
    {"l3.ways",              NUMBER,  OPTIONAL, 1,   64 * K,    NULL,      "lines of a set"},
    {"l3.policy",            CHOICE,  OPTIONAL, 0,   0,         policies,  "which line of a set is replaced"},
    {"l3.latency",           NUMBER,  OPTIONAL, 1,   M,         NULL,      "cycles from a load to the use of its data"},
    {"l3.busy_cycles",       NUMBER,  OPTIONAL, 0,   M,         NULL,      "cycles that a lookup keeps its directory"},
    {"l3.transfer_cycles",   NUMBER,  OPTIONAL, 0,   M,         NULL,      "cycles that a line keeps its read port"},
    {"l3.refresh_interval",  NUMBER,  OPTIONAL, 0,   G,         NULL,      "cycles from one eDRAM refresh to the next"},
    {"l3.refresh_cycles",    NUMBER,  OPTIONAL, 0,   M,         NULL,      "cycles of a refresh"},
    {"memory.controllers",   NUMBER,  REQUIRED, 1,   1024,      NULL,      "memory controllers of a node"},
    {"memory.size_min",      NUMBER,  REQUIRED, K,   K * G,     NULL,      "bytes of memory of the smallest node"},
    {"memory.size_max",      NUMBER,  REQUIRED, K,   K * G,     NULL,      "bytes of memory of the largest node"},
    {"memory.latency",       NUMBER,  OPTIONAL, 1,   M,         NULL,      "cycles from a load to the use of its data"},
    {"memory.busy_cycles",   NUMBER,  OPTIONAL, 0,   M,         NULL,      "cycles that a line keeps its controller"},
    {"memory.row",           POWER,   OPTIONAL, 32,  G,         NULL,      "bytes of a DRAM row"},
    {"memory.model",         CHOICE,  OPTIONAL, 0,   0,         models,    "how much of the memory hierarchy is simulated"},
    {"device.latency",       NUMBER,  OPTIONAL, 0,   M,         NULL,      "cycles of a load from a device"},
    {"device.store_cycles",  NUMBER,  OPTIONAL, 1,   M,         NULL,      "cycles of a store to a device (1)"},
    {"monitor.address_bits", NUMBER,  OPTIONAL, 20,  24,        NULL,      "bits of a bin's address on the monitor board (20)"},
    {"coherence.l1d",        CHOICE,  OPTIONAL, 0,   0,         coherences, "what a store does to other cores' lines"},
    {"snoop.filter",         CHOICE,  OPTIONAL, 0,   0,         on_off,    "whether snoops are filtered"},
    {"snoop.streams",        NUMBER,  OPTIONAL, 1,   K,         NULL,      "stream registers of a set"},
    {"snoop.lines",          NUMBER,  OPTIONAL, 0,   K,         NULL,      "lines of a port's snoop cache"},
    {"misses.kinds",         CHOICE,  OPTIONAL, 0,   0,         on_off,    "whether misses are counted by their cause"},
    {"network.names",        NAMES,   OPTIONAL, 0,   0,         NULL,      "the networks that a node is on"},
    {"network.dcr_base",     PAGE,    OPTIONAL, 0,   4 * G - 16 * K, NULL,      "address of the device control registers"},
    {"interrupts.base",      PAGE,    OPTIONAL, 0,   4 * G - 4 * K, NULL,      "address of the interrupt controller"},
    {"torus.base",           PAGE,    OPTIONAL, 0,   4 * G - 128 * K, NULL,      "address of the FIFOs of group 0"},
    {"torus.byte_cycles",    NUMBER,  OPTIONAL, 1,   K,         NULL,      "core cycles of a byte on a link"},
    {"torus.hop_cycles",     NUMBER,  OPTIONAL, 1,   K,         NULL,      "core cycles from header in to header out"},
    {"torus.inject_cycles",  NUMBER,  OPTIONAL, 1,   64 * K,    NULL,      "core cycles from the FIFO to the router"},
    {"torus.receive_cycles", NUMBER,  OPTIONAL, 1,   64 * K,    NULL,      "core cycles from the router to the FIFO"},
    {"torus.retry_cycles",   NUMBER,  OPTIONAL, 1,   M,         NULL,      "core cycles until a packet is repeated"},
    {"torus.load_cycles",    NUMBER,  OPTIONAL, 1,   K,         NULL,      "cycles of a load from the FIFOs"},
    {"torus.store_cycles",   NUMBER,  OPTIONAL, 1,   K,         NULL,      "cycles of a store into the FIFOs"},
    {"barrier.level_cycles", NUMBER,  OPTIONAL, 1,   K,         NULL,      "core cycles of a level of the tree, each way"},
    {"barrier.access_cycles", NUMBER, OPTIONAL, 1,   K,         NULL,      "cycles of an access to a register"},
    {"torus.bit_errors",     NUMBER,  OPTIONAL, 0,   M,         NULL,      "corrupt bits of 10^9 on a link"},
    {"torus.fault_seed",     NUMBER,  OPTIONAL, 0,   G,         NULL,      "which bits are corrupt"},
    {"collective.base",      PAGE,    OPTIONAL, 0,   4 * G - 4 * K, NULL,      "address of the FIFOs of channel 0"},
    {"collective.stride",    POWER,   OPTIONAL, 4 * K, G,       NULL,      "bytes from channel 0 to channel 1"},
    {"collective.packet_cycles", NUMBER, OPTIONAL, 1, 64 * K,   NULL,      "core cycles of a packet on a link"},
    {"collective.hop_cycles", NUMBER, OPTIONAL, 1,   K,         NULL,      "core cycles from header in to header out"},
    {"collective.alu_cycles", NUMBER, OPTIONAL, 0,   K,         NULL,      "core cycles more to combine packets"},
    {"collective.inject_cycles", NUMBER, OPTIONAL, 1, 64 * K,   NULL,      "core cycles from the FIFO to the arbiter"},
    {"collective.receive_cycles", NUMBER, OPTIONAL, 1, 64 * K,  NULL,      "core cycles from the arbiter to the FIFO"},
    {"collective.empty_cycles", NUMBER, OPTIONAL, 1, 64 * K,    NULL,      "core cycles until an empty packet answers"},
    {"collective.idle_cycles", NUMBER, OPTIONAL, 1,  M,         NULL,      "core cycles of an idle packet"},
    {"collective.greedy_cycles", NUMBER, OPTIONAL, 1, M,        NULL,      "core cycles until a request is preferred"},
    {"collective.load_cycles", NUMBER, OPTIONAL, 1,  K,         NULL,      "cycles of a load from the FIFOs"},
    {"collective.store_cycles", NUMBER, OPTIONAL, 1, K,         NULL,      "cycles of a store into the FIFOs"},
    {"collective.bit_errors", NUMBER, OPTIONAL, 0,   M,         NULL,      "corrupt bits of 10^9 on a link"},
    {"collective.fault_seed", NUMBER, OPTIONAL, 0,   G,         NULL,      "which bits are corrupt"},
    {"dma.base",             PAGE,    OPTIONAL, 0,   4 * G - 16 * K, NULL,      "address of the registers of group 0"},
    {"dma.descriptor_cycles", NUMBER, OPTIONAL, 1,   64 * K,    NULL,      "core cycles of a descriptor"},
    {"dma.read_cycles",      NUMBER,  OPTIONAL, 1,   64 * K,    NULL,      "core cycles until the first data are read"},
    {"dma.quad_cycles",      NUMBER,  OPTIONAL, 1,   K,         NULL,      "core cycles of 16 bytes"},
    {"dma.write_cycles",     NUMBER,  OPTIONAL, 1,   64 * K,    NULL,      "core cycles until the last data are written"},
    {"dma.load_cycles",      NUMBER,  OPTIONAL, 1,   K,         NULL,      "cycles of a load from the registers"},
    {"dma.store_cycles",     NUMBER,  OPTIONAL, 1,   K,         NULL,      "cycles of a store into the registers"},
};
/* clang-format on */

const size_t catalog_key_count = sizeof catalog_keys / sizeof *catalog_keys;

const struct catalog_key *catalog_key_find(const char *name)
{
    for (size_t i = 0; i < catalog_key_count; i++)
        if (strcmp(catalog_keys[i].name, name) == 0) return &catalog_keys[i];
    return NULL;
}

bool catalog_key_is_number(const struct catalog_key *key)
{
    return key->kind == CATALOG_NUMBER || key->kind == CATALOG_POWER || key->kind == CATALOG_PAGE;
}

static bool is_names(const char *words)
{
    char copy[256];
    if (strlen(words) >= sizeof copy) return false;
    memcpy(copy, words, strlen(words) + 1);
    char *rest = copy, *name = text_next_field(&rest);
    if (!name) return false;
    for (; name; name = text_next_field(&rest))
        if (!catalog_is_name(name)) return false;
    return true;
}

static int check_number(const struct catalog_key *key, const char *word, uint64_t *number,
                        const struct text_file *file, struct chil_error *err)
{
    if (!text_to_u64(word, number) && text_is_number(word))
        return text_error(file, err, "'%s' of %s is too large; give %" PRIu64 " to %" PRIu64, word,
                          key->name, key->low, key->high);
    if (!text_to_u64(word, number))
        return text_error(file, err,
                          "'%s' of %s is not a number; write digits, 0x… or a suffix K, M or G",
                          word, key->name);
    if (*number < key->low || *number > key->high)
        return text_error(file, err, "'%s' of %s is out of range; give %" PRIu64 " to %" PRIu64,
                          word, key->name, key->low, key->high);
    if (key->kind == CATALOG_POWER && (*number & (*number - 1)))
        return text_error(file, err, "'%s' of %s is not a power of two; give one", word, key->name);
    if (key->kind == CATALOG_PAGE && *number % (4 * K))
        return text_error(file, err, "'%s' of %s is not where a page begins; give a multiple of 4K",
                          word, key->name);
    return 0;
}

static const char *choice_at(const void *table, size_t index)
{
    return ((const char *const *)table)[index];
}

static int check_choice(const struct catalog_key *key, const char *word,
                        const struct text_file *file, struct chil_error *err)
{
    char list[64] = "", hint[80];
    size_t count = 0, used = 0;
    for (; key->choices[count]; count++) {
        if (strcmp(key->choices[count], word) == 0) return 0;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", count ? ", " : "",
                                 key->choices[count]);
    }
    text_hint(hint, sizeof hint, text_nearest(word, key->choices, count, choice_at));
    return text_error(file, err, "'%s' of %s is none of %s%s", word, key->name, list, hint);
}

int catalog_key_check(const struct catalog_key *key, const char *word, uint64_t *number,
                      const struct text_file *file, struct chil_error *err)
{
    *number = 0;
    if (!*word) return text_error(file, err, "%s has no value; give one: %s", key->name, key->text);
    switch (key->kind) {
    case CATALOG_NUMBER:
    case CATALOG_POWER:
    case CATALOG_PAGE: return check_number(key, word, number, file, err);
    case CATALOG_CHOICE: return check_choice(key, word, file, err);
    case CATALOG_NAME:
        if (catalog_is_name(word)) return 0;
        return text_error(file, err, "'%s' of %s is not a name; use letters, digits and _ . -",
                          word, key->name);
    case CATALOG_NAMES:
        if (is_names(word)) return 0;
        return text_error(file, err, "'%s' of %s is not a list of names with blanks between", word,
                          key->name);
    case CATALOG_TEXT: return 0;
    }
    return 0;
}
