/* Histograms by declaration: a key of all dimensions' bins, and a count for each key.
 *
 * Up to DENSE_BITS, as the board has, counts are an array; beyond that they are a hash table of the
 * keys that were seen. The order of bins is that of their keys, whatever the table's, so that
 * nothing of the hash is seen.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/monitor/monitor_impl.h"

enum { DENSE_BITS = 16, FIRST_BITS = 12 };

/* How a value becomes its part of the key; what every miss needs of a dimension. */
struct part {
    uint64_t most; /* bins from 0 to this */
    uint8_t variable, shift, low;
    uint8_t parts, parts_log; /* of a doubling; 0: the scale is linear */
    struct monitor_field field;
};

struct chil_hist {
    struct chil_dimension dimensions[CHIL_DIMENSIONS_MAX];
    struct part parts[CHIL_DIMENSIONS_MAX];
    unsigned count, bits;
    struct chil_hist_names names;
    struct chil_where *where;
    bool is_plain; /* no predicate, and no value that has to be looked up */
    bool is_quick; /* and no logarithm, and no table */
    uint64_t total;
    uint64_t *dense;        /* by key; NULL: the table */
    struct chil_bin *table; /* count 0: empty */
    unsigned table_bits;
    size_t used;
    struct chil_bin *sorted;
};

/* --- Counting -------------------------------------------------------------------------------- */

/* Values may be wider than their variable should have: whatever comes, the bin is one of 2^bits. */
static inline uint64_t key_of(const struct part *p, uint64_t value)
{
    uint64_t bin = value >> p->shift;
    if (p->parts && bin >= p->parts) {
        unsigned e = 63 - (unsigned)__builtin_clzll(bin) - p->parts_log;
        bin = ((uint64_t)e << p->parts_log) + (bin >> e);
    }
    return (bin < p->most ? bin : p->most) << p->low;
}

static inline struct chil_bin *find(struct chil_bin *table, unsigned bits, uint64_t key)
{
    uint64_t mask = bits_mask64(bits);
    uint64_t at = key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits);
    while (table[at].count && table[at].key != key)
        at = (at + 1) & mask;
    return &table[at];
}

static __attribute__((noinline)) void grow(struct chil_hist *hist)
{
    unsigned bits = hist->table_bits + 1;
    struct chil_bin *table = base_calloc((size_t)1 << bits, sizeof *table);
    for (size_t i = 0; i < (size_t)1 << hist->table_bits; i++)
        if (hist->table[i].count) *find(table, bits, hist->table[i].key) = hist->table[i];
    free(hist->table);
    hist->table = table;
    hist->table_bits = bits;
}

static inline void count_key(struct chil_hist *hist, uint64_t key, uint64_t count)
{
    hist->total += count;
    if (hist->dense) {
        hist->dense[key] += count;
        return;
    }
    struct chil_bin *bin = find(hist->table, hist->table_bits, key);
    bool is_new = !bin->count;
    bin->key = key;
    bin->count += count;
    if (is_new && ++hist->used * 2 > (size_t)1 << hist->table_bits) grow(hist);
}

static __attribute__((noinline)) void tell_any(struct chil_hist *hist,
                                               const struct chil_transaction *t, uint64_t count)
{
    uint64_t key = 0;
    if (hist->where && !chil_where_holds(hist->where, t)) return;
    for (const struct part *p = hist->parts; p < hist->parts + hist->count; p++)
        key |= key_of(p, monitor_value(&hist->names, (enum chil_variable)p->variable, t));
    count_key(hist, key, count);
}

static __attribute__((noinline)) void tell_plain(struct chil_hist *hist,
                                                 const struct chil_transaction *t)
{
    uint64_t key = 0;
    for (const struct part *p = hist->parts; p < hist->parts + hist->count; p++)
        key |= key_of(p, monitor_plain_value((enum chil_variable)p->variable, t));
    count_key(hist, key, 1);
}

/* Called for every miss: the fast path has no call and needs few registers. */
void chil_hist_notify(void *context, const struct chil_transaction *t)
{
    struct chil_hist *hist = context;
    uint64_t key = 0;
    if (!hist->is_quick) {
        if (hist->is_plain)
            tell_plain(hist, t);
        else
            tell_any(hist, t, 1);
        return;
    }
    const struct part *p = hist->parts, *end = p + hist->count;
    do {
        uint64_t bin = monitor_field_value(p->field, t);
        key |= (bin < p->most ? bin : p->most) << p->low;
    } while (++p < end);
    hist->total++;
    hist->dense[key]++;
}

void chil_hist_add(struct chil_hist *hist, uint64_t key, uint64_t count)
{
    if (count) count_key(hist, key, count);
}

void chil_hist_notify_uniform(void *context, const struct chil_transaction *t, uint64_t count)
{
    if (count) tell_any(context, t, count);
}

/* Whether values of a variable are looked up by the pc. */
static bool is_by_pc(const struct chil_hist_names *names, enum chil_variable variable)
{
    return variable == CHIL_VAR_PC || variable == CHIL_VAR_FUNCTION ||
           (variable == CHIL_VAR_CATEGORY && names->categories);
}

bool chil_hist_uses(const struct chil_hist *hist, enum chil_variable variable)
{
    bool used = hist->where && chil_where_uses(hist->where, variable);
    for (unsigned d = 0; d < hist->count; d++)
        used |= hist->dimensions[d].variable == variable;
    return used;
}

bool chil_hist_uses_pc(const struct chil_hist *hist)
{
    for (unsigned v = 0; v < CHIL_VARIABLES; v++)
        if (chil_hist_uses(hist, (enum chil_variable)v) &&
            is_by_pc(&hist->names, (enum chil_variable)v))
            return true;
    return false;
}

/* The others are of a transaction's time, or of who did it. */
bool chil_hist_uses_place(const struct chil_hist *hist)
{
    static const enum chil_variable places[] = {
        CHIL_VAR_TAG,      CHIL_VAR_CAUSE, CHIL_VAR_FUNCTION, CHIL_VAR_SYMBOL,
        CHIL_VAR_CALLPATH, CHIL_VAR_PAGE,  CHIL_VAR_ADDRESS,  CHIL_VAR_PC};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (chil_hist_uses(hist, places[i])) return true;
    return hist->names.categories && chil_hist_uses(hist, CHIL_VAR_CATEGORY);
}

/* --- Life ------------------------------------------------------------------------------------ */

int chil_hist_new(struct chil_hist **hist, const char *declaration, const char *where,
                  const struct chil_hist_names *names, struct chil_error *err)
{
    struct chil_hist *h = base_calloc(1, sizeof *h);
    if (names) h->names = *names;
    struct monitor_text text = {"declaration", declaration, declaration, &h->names, err};
    int status = monitor_declare(&text, h->dimensions, &h->count);
    if (!status && where) status = chil_where_new(&h->where, where, &h->names, err);
    if (status) {
        free(h);
        return status;
    }
    h->bits = h->dimensions[0].low + h->dimensions[0].bits;
    h->is_plain = !h->where;
    for (unsigned i = 0; i < h->count; i++) {
        const struct chil_dimension *d = &h->dimensions[i];
        h->is_plain &= !monitor_is_looked_up(&h->names, d->variable);
        h->parts[i] = (struct part){
            .most = bits_mask64(d->bits),
            .variable = (uint8_t)d->variable,
            .shift = (uint8_t)d->shift,
            .low = (uint8_t)d->low,
            .parts = d->scale == CHIL_SCALE_LOG ? (uint8_t)d->parts : 0,
            .field = monitor_fields[d->variable],
            .parts_log = d->scale == CHIL_SCALE_LOG ? (uint8_t)bits_ceil_log2(d->parts) : 0};
        h->parts[i].field.shift += h->parts[i].shift;
    }
    h->is_quick = h->is_plain && h->bits <= DENSE_BITS;
    for (unsigned i = 0; i < h->count; i++)
        h->is_quick &= !h->parts[i].parts;
    if (h->bits <= DENSE_BITS) {
        h->dense = base_calloc((size_t)1 << h->bits, sizeof *h->dense);
    } else {
        h->table_bits = FIRST_BITS;
        h->table = base_calloc((size_t)1 << h->table_bits, sizeof *h->table);
    }
    *hist = h;
    return 0;
}

void chil_hist_free(struct chil_hist *hist)
{
    if (!hist) return;
    chil_where_free(hist->where);
    free(hist->dense);
    free(hist->table);
    free(hist->sorted);
    free(hist);
}

/* --- Reading --------------------------------------------------------------------------------- */

unsigned chil_hist_dimensions(const struct chil_hist *hist)
{
    return hist->count;
}

const struct chil_dimension *chil_hist_dimension(const struct chil_hist *hist, unsigned dimension)
{
    return &hist->dimensions[dimension];
}

uint64_t chil_hist_total(const struct chil_hist *hist)
{
    return hist->total;
}

static int by_key(const void *a, const void *b)
{
    uint64_t first = ((const struct chil_bin *)a)->key, second = ((const struct chil_bin *)b)->key;
    return (first > second) - (first < second);
}

static uint64_t places(const struct chil_hist *hist)
{
    return UINT64_C(1) << (hist->dense ? hist->bits : hist->table_bits);
}

static struct chil_bin bin_at(const struct chil_hist *hist, uint64_t at)
{
    return hist->dense ? (struct chil_bin){at, hist->dense[at]} : hist->table[at];
}

const struct chil_bin *chil_hist_bins(struct chil_hist *hist, size_t *count)
{
    size_t used = 0;
    *count = 0;
    for (uint64_t i = 0; i < places(hist); i++)
        used += bin_at(hist, i).count != 0;
    free(hist->sorted);
    hist->sorted = base_calloc(used + 1, sizeof *hist->sorted);
    for (uint64_t i = 0; i < places(hist); i++)
        if (bin_at(hist, i).count) hist->sorted[(*count)++] = bin_at(hist, i);
    if (!hist->dense) qsort(hist->sorted, *count, sizeof *hist->sorted, by_key);
    return hist->sorted;
}

uint64_t chil_hist_index(const struct chil_hist *hist, unsigned dimension, uint64_t key)
{
    const struct chil_dimension *d = &hist->dimensions[dimension];
    return key >> d->low & bits_mask64(d->bits);
}

/* The values of a bin, before they were shifted: the first, and how many; 0: all from there on. */
static uint64_t values_of(const struct chil_hist *hist, const struct chil_dimension *d,
                          uint64_t index, uint64_t *count)
{
    bool cut = monitor_width(&hist->names, d->variable) > d->shift + d->bits;
    *count = UINT64_C(1) << d->shift;
    if (d->scale == CHIL_SCALE_LINEAR) {
        if (cut && index == bits_mask64(d->bits)) *count = 0;
        return index << d->shift;
    }
    if (index < d->parts) return index << d->shift;
    uint64_t e = index / d->parts - 1;
    *count <<= e;
    return (index % d->parts + d->parts) << e << d->shift;
}

/* More names than the dimension has bins: the rest is in the last one. */
const char *chil_hist_name(const struct chil_hist *hist, unsigned dimension, uint64_t index)
{
    const struct chil_dimension *d = &hist->dimensions[dimension];
    uint64_t last = bits_mask64(d->bits);
    if (!monitor_has_words(&hist->names, d->variable)) return NULL;
    if (monitor_is_carried(&hist->names, d->variable) && index == last &&
        monitor_word_count(&hist->names, d->variable) > last)
        return "[more]";
    return monitor_word(&hist->names, d->variable, index);
}

static void cut_name(const char *name, bool in_front, char text[CHIL_VALUE_TEXT])
{
    size_t length = strlen(name);
    if (!in_front || length < CHIL_VALUE_TEXT)
        (void)snprintf(text, CHIL_VALUE_TEXT, "%s", name);
    else
        (void)snprintf(text, CHIL_VALUE_TEXT, "...%s", name + (length - (CHIL_VALUE_TEXT - 4)));
}

void chil_hist_value(const struct chil_hist *hist, unsigned dimension, uint64_t index,
                     char text[CHIL_VALUE_TEXT])
{
    const struct chil_dimension *d = &hist->dimensions[dimension];
    const char *name = chil_hist_name(hist, dimension, index);
    uint64_t count;
    if (name) {
        cut_name(name, d->variable == CHIL_VAR_CALLPATH, text);
        return;
    }
    uint64_t first = values_of(hist, d, index, &count);
    bool is_address = d->variable >= CHIL_VAR_PAGE;
    if (d->variable == CHIL_VAR_PAGE) {
        first <<= MONITOR_PAGE_BITS;
        count = count > 1 ? count << MONITOR_PAGE_BITS : count;
    }
    const char *one = is_address ? "0x%" PRIx64 : "%" PRIu64,
               *range = is_address ? "0x%" PRIx64 "-0x%" PRIx64 : "%" PRIu64 "-%" PRIu64;
    if (count == 1)
        (void)snprintf(text, CHIL_VALUE_TEXT, one, first);
    else if (count)
        (void)snprintf(text, CHIL_VALUE_TEXT, range, first, first + count - 1);
    else
        (void)snprintf(text, CHIL_VALUE_TEXT, is_address ? "0x%" PRIx64 "+" : "%" PRIu64 "+",
                       first);
}
