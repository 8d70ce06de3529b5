/* What always holds between the counts of a run, checked at the end of every one.
 *
 * A count that breaks a law is a mistake of the simulator, never of the program or the user, so a
 * run that ends with one fails (CHIL_ELAW) and names the law and both its sides. The laws of the
 * memory hierarchy alone are in src/machine/cache/cache_signal.c, where its own tests use them;
 * here are laws over both cores and memory.
 *
 * Each signal of a core has a law without a row: an instruction raises it at most four times (four
 * flops), and so may one that did not complete; and what the operating system raises on all cores
 * is what it counted itself.
 *
 * A law here is a text over signals: sums of "NAME", "N NAME" or "cycles(NAME)" (how long the
 * signal was high) on both sides of "=" or "<=". '#' is the number of a core; a law holds on each.
 * To add one, add a row.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/node/node.h"

static const struct law {
    const char *text, *sums;
} laws[] = {
    /* Every instruction goes to one pipe and is of one class; only the call-through, an I
       instruction, has none. */
    {"instructions = I + J + load/store + FPU",
     "core#.instructions = core#.ipipe.instructions + core#.jpipe.instructions + core#.load + core#.store"
     " + core#.l1d.ops + core#.l1i.ops + core#.sync + fpu#.add + fpu#.mult + fpu#.fma + fpu#.div + fpu#.other"
     " + fpu#.add.pair + fpu#.mult.pair + fpu#.fma.pair + fpu#.other.pair"},
    {"J instructions = their classes",
     "core#.jpipe.instructions = core#.jpipe.add + core#.jpipe.logical + core#.jpipe.shift"},
    {"classes of I <= I instructions",
     "core#.ipipe.mult_div + core#.ipipe.add + core#.ipipe.logical + core#.ipipe.shift + core#.ipipe.branches"
     " + core#.ipipe.tlb + core#.ipipe.control + core#.ipipe.other <= core#.ipipe.instructions"},
    {"conditional branches <= branches", "core#.branch.conditional <= core#.ipipe.branches"},
    {"loads = integer + FP",
     "core#.load = core#.load.integer + fpu#.load.single + fpu#.load.double + fpu#.load.quad"},
    {"stores = integer + FP",
     "core#.store = core#.store.integer + fpu#.store.single + fpu#.store.double + fpu#.store.quad"},

    /* The weights of arithmetic. */
    {"FP operations = classes, pairs as two",
     "fpu#.operations = fpu#.add + fpu#.mult + fpu#.fma + fpu#.div + 2 fpu#.add.pair + 2 fpu#.mult.pair"
     " + 2 fpu#.fma.pair"},
    {"flops = FP operations, FMAs as two",
     "fpu#.flops = fpu#.operations + fpu#.fma + 2 fpu#.fma.pair"},

    /* L1 and TLB see what instructions do. Hits are computed as accesses - misses: the first two
     * laws check that every reader does so, the next ones that hits are not negative. */
    {"L1D hits + misses = accesses",
     "core#.l1d.hit + core#.l1d.miss = core#.load + core#.store + core#.crossings"},
    {"L1I hits + misses = accesses", "core#.l1i.hit + core#.l1i.miss = core#.l1i.access"},
    {"load misses <= loads", "core#.l1d.miss.load <= core#.load + core#.crossings"},
    {"store misses <= stores", "core#.l1d.miss.store <= core#.store + core#.crossings"},
    {"L1I misses <= accesses", "core#.l1i.miss <= core#.l1i.access"},
    {"data TLB misses <= accesses and cache management",
     "core#.dtlb.miss <= core#.load + core#.store + core#.crossings + core#.l1d.ops + core#.l1i.ops"},
    {"code TLB misses <= accesses", "core#.itlb.miss <= core#.l1i.access"},
    {"touched lines <= cache management", "core#.l1d.touch <= core#.l1d.ops"},
    {"page faults <= accesses",
     "core#.page_fault <= core#.load + core#.store + core#.crossings + core#.l1d.ops + core#.l1i.ops"
     " + core#.l1i.access"},
    {"L1D fills >= load misses + touched",
     "core#.l1d.miss.load + core#.l1d.touch <= core#.l1d.fill"},
    {"L1D fills <= misses + touched", "core#.l1d.fill <= core#.l1d.miss + core#.l1d.touch"},
    {"data lines of L2's buffer and DDR <= L1D fills",
     "core#.d2.buffer + core#.d2.miss <= core#.l1d.fill"},
    {"lines of code of L2's buffer and DDR <= L1I fills",
     "core#.i2.buffer + core#.i2.miss <= core#.l1i.fill"},
    {"lines lost to coherence <= snoops in L1D", "core#.l1d.invalidated <= core#.l1d.invalidate"},
    {"device accesses <= loads + stores",
     "l2.#.read.devbus + l2.#.write.devbus <= core#.load + core#.store"},
    {"first uses of prefetched lines <= hits in them",
     "l2.#.prefetch.self_hit <= l2.#.prefetch.stream_hit"},
    {"hits in prefetched lines <= L2 hits", "l2.#.prefetch.stream_hit <= l2.#.hit"},

    /* Time with something to run: two instructions a cycle at most; a core waits for one thing at a
       time. */
    {"instructions <= 2 a cycle", "core#.instructions <= 2 core#.cycles"},
    {"waiting <= cycles",
     "cycles(core#.stall.load) + cycles(core#.stall.store) + cycles(core#.stall.fetch) + cycles(core#.stall.tlb)"
     " <= core#.cycles"},
    {"waits for loads = load misses", "core#.stall.load = core#.l1d.miss.load"},
    {"waits for code = L1I misses", "core#.stall.fetch = core#.l1i.miss"},
    {"waits for the TLB = its misses", "core#.stall.tlb = core#.dtlb.miss + core#.itlb.miss"},
    {"1, 2 and 3 reads outstanding <= any",
     "cycles(l2.#.read.outstanding1) + cycles(l2.#.read.outstanding2) + cycles(l2.#.read.outstanding3)"
     " <= cycles(l2.#.read.pending)"},
    {"a core's cycles <= elapsed", "core#.cycles <= upc.elapsed"},
    {"system calls <= instructions of their class", "os#.syscall <= core#.ipipe.control"},
};

enum { LAWS = sizeof laws / sizeof *laws, NAME = 80, MOST_RAISED = 4 };

/* --- Sides ----------------------------------------------------------------------------------- */

/* The count of a signal, or of what a core has besides signals. */
static uint64_t count_name(const struct node *node, const char *name, unsigned core,
                           enum chil_count_mode mode)
{
    struct node_signal signal;
    const char *last = strchr(name, '.');
    const struct core *of = cores_get(node->cores, core);
    if (last && strcmp(last, ".cycles") == 0) return core_cycles(of) - core_idle_cycles(of);
    if (last && strcmp(last, ".crossings") == 0) return core_crossings(of);
    node_signal_find(node, name, &signal);
    assert(signal.kind != NODE_SIGNAL_NONE);
    return node_signal_count(node, &signal, mode);
}

/* One name of a law, up to a blank or the end, with the core's number for '#'; moves *at behind it.
 */
static uint64_t count_term(const struct node *node, const char **at, unsigned core)
{
    static const char cycles[] = "cycles(";
    char name[NAME];
    size_t length = 0;
    enum chil_count_mode mode = CHIL_COUNT_RISE;
    if (strncmp(*at, cycles, sizeof cycles - 1) == 0) {
        mode = CHIL_COUNT_HIGH;
        *at += sizeof cycles - 1;
    }
    for (; **at && !strchr(" )", **at); ++*at) {
        assert(length + 12 < sizeof name);
        if (**at == '#')
            length += (size_t)snprintf(name + length, sizeof name - length, "%u", core);
        else
            name[length++] = **at;
    }
    name[length] = 0;
    *at += **at == ')';
    return count_name(node, name, core, mode);
}

/* A sum; stops at the relation or the end. */
static uint64_t count_side(const struct node *node, const char **at, unsigned core)
{
    uint64_t sum = 0;
    for (;;) {
        char *end;
        unsigned long times = strtoul(*at, &end, 10);
        if (end == *at) times = 1;
        *at = end + strspn(end, " ");
        sum += times * count_term(node, at, core);
        if (strncmp(*at, " + ", 3) != 0) return sum;
        *at += 3;
    }
}

/* --- Checking -------------------------------------------------------------------------------- */

static int broken(struct chil_error *err, const char *law, unsigned core, uint64_t left,
                  uint64_t right)
{
    char where[32] = "";
    if (core != CORE_ALL) (void)snprintf(where, sizeof where, " on core %u", core);
    return chil_error_set(err, CHIL_ELAW,
                          "internal error: counts break the law '%s'%s: %" PRIu64 " and %" PRIu64
                          "; please report it with the program",
                          law, where, left, right);
}

static int check_text(const struct node *node, const struct law *law, unsigned core,
                      struct chil_error *err)
{
    const char *at = law->sums;
    uint64_t left = count_side(node, &at, core);
    bool equal = strncmp(at, " = ", 3) == 0;
    assert(equal || strncmp(at, " <= ", 4) == 0);
    at += equal ? 3 : 4;
    uint64_t right = count_side(node, &at, core);
    assert(!*at);
    if (equal ? left == right : left <= right) return 0;
    return broken(err, law->text, core, left, right);
}

static int check_memory(const struct node *node, const struct cache_law *law, unsigned *checked,
                        struct chil_error *err)
{
    bool each = cache_law_of_core(law);
    for (unsigned i = 0; i < (each ? node->core_count : 1); i++) {
        uint64_t left, right;
        cache_law_sides(node->cache, law, each ? i : CACHE_ALL, &left, &right);
        if (left != right) return broken(err, law->text, each ? i : CORE_ALL, left, right);
        ++*checked;
    }
    return 0;
}

/* A controller serves one line at a time. */
static int check_controllers(const struct node *node, unsigned *checked, struct chil_error *err)
{
    unsigned count = cache_config_get(node->cache)->controllers;
    for (unsigned i = 0; i < count; i++, ++*checked) {
        uint64_t busy, until;
        cache_controller_busy(node->cache, i, &busy, &until);
        if (busy > until)
            return broken(err, "busy cycles of a DDR controller <= those there were", CORE_ALL,
                          busy, until);
    }
    return 0;
}

/* The laws that every signal of a core has. */
static int check_signal(const struct node *node, enum core_signal signal, unsigned *checked,
                        struct chil_error *err)
{
    const char *name = core_signal_name(signal);
    bool of_os = core_signal_is_of_os(signal);
    uint64_t sum = 0;
    for (unsigned core = 0; core < node->core_count; core++) {
        uint64_t count = node->counts[core][signal],
                 most = MOST_RAISED * (node->counts[core][CORE_SIGNAL_INSTRUCTIONS] + 1);
        sum += count;
        if (!of_os && count > most) return broken(err, name, core, count, most);
        *checked += !of_os;
    }
    uint64_t total = of_os && node->os ? os_signal_total(node->os, signal) : 0;
    if (of_os && sum != total) return broken(err, name, CORE_ALL, sum, total);
    *checked += of_os;
    return 0;
}

int node_check_laws(const struct node *node, unsigned *checked, struct chil_error *err)
{
    *checked = 0;
    int status = check_controllers(node, checked, err);
    for (unsigned i = 0; !status && i < cache_law_count; i++)
        status = check_memory(node, &cache_laws[i], checked, err);
    for (unsigned s = CORE_SIGNAL_NONE + 1; !status && s < CORE_SIGNAL_COUNT; s++)
        status = check_signal(node, (enum core_signal)s, checked, err);
    for (unsigned i = 0; !status && i < LAWS; i++)
        for (unsigned core = 0; !status && core < node->core_count; core++, ++*checked)
            status = check_text(node, &laws[i], core, err);
    return status;
}
