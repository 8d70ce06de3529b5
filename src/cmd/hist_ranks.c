/* chiliad hist on ranks of OpenMPI: each counts the transactions of its nodes, and bins are added
 * up along a tree of ranks. A message has each histogram's number of bins, then keys and counts. */
#include <stdlib.h>
#include <string.h>

#include "cmd/hist.h"

int hist_ranks_check(const struct hist *h)
{
    if (chil_ranks_count(h->options->program.run.ranks) < 2) return 0;
    for (unsigned v = 0; v < CHIL_VARIABLES; v++) {
        bool used = chil_hist_uses(h->hist, (enum chil_variable)v);
        for (size_t i = 0; i < h->candidate_count; i++)
            used |= chil_hist_uses(h->candidates[i].hist, (enum chil_variable)v);
        if (used && h->names.carried >> v & 1)
            return cmd_fail("hist",
                            "names of '%s' come up while the program runs, in another order on "
                            "each rank; run this without mpirun",
                            chil_variable_name((enum chil_variable)v));
    }
    return 0;
}

/* The histograms of a run, that of the table first. */
static struct chil_hist *hist_at(const struct hist *h, size_t number)
{
    return number ? h->candidates[number - 1].hist : h->hist;
}

struct bins_message {
    struct hist *h;
    uint64_t *words;
    size_t count, capacity;
};

static void add_word(struct bins_message *m, uint64_t word)
{
    m->words = base_grow(m->words, &m->capacity, m->count + 1, sizeof *m->words);
    m->words[m->count++] = word;
}

static const void *make(void *context, size_t *size)
{
    struct bins_message *m = context;
    m->count = 0;
    for (size_t i = 0; i <= m->h->candidate_count; i++) {
        size_t count;
        const struct chil_bin *bins = chil_hist_bins(hist_at(m->h, i), &count);
        add_word(m, count);
        for (size_t b = 0; b < count; b++) {
            add_word(m, bins[b].key);
            add_word(m, bins[b].count);
        }
    }
    *size = m->count * sizeof *m->words;
    return m->words;
}

static void take(void *context, const void *bytes, size_t size)
{
    const struct bins_message *m = context;
    const uint8_t *at = bytes;
    (void)size;
    for (size_t i = 0; i <= m->h->candidate_count; i++) {
        uint64_t count, bin[2];
        memcpy(&count, at, sizeof count);
        at += sizeof count;
        for (; count; count--, at += sizeof bin) {
            memcpy(bin, at, sizeof bin);
            chil_hist_add(hist_at(m->h, i), bin[0], bin[1]);
        }
    }
}

int hist_ranks_add(struct hist *h)
{
    struct bins_message message = {.h = h};
    int status = cmd_ranks_reduce(
        &h->options->program, "hist",
        (struct chil_ranks_reducer){.context = &message, .take = take, .make = make});
    free(message.words);
    return status;
}
