/* Long messages by the DMA engine of Blue Gene/P: the bytes of a rendezvous are put where they
 * belong, and no core moves a packet.
 *
 * The receiver gives each message a reception counter, which counts the bytes that were written,
 * and sends its number and an address to the sender, which gives it an injection counter, which
 * counts the bytes that were read, and queues descriptors. Both sides look at the bits of counters
 * that came to 0. Counters 32 to 61 are this library's, so one word of bits has all of them.
 *
 * Bytes that lie together go from the sender's buffer to the receiver's. Other layouts are packed
 * into a staging buffer, a piece at a time, and each piece is queued at once, so that packing and
 * transfer overlap; the receiver unpacks when all bytes are there.
 *
 * Without a free reception counter a message goes in packets of cores (BULK), as all do on Blue
 * Gene/L and between processes of a node that has several.
 */
#include "mpi_impl.h"

#include "chiliad/dma.h"

enum { FIRST = 32, COUNT = NET_DMA_COUNTERS - FIRST, WORD = FIRST / 32, PIECE = 16384 };

struct side {
    struct request *requests[COUNT];
    uint32_t used; /* bits as the engine has them: counter FIRST is bit 0 of IBM's */
    const volatile uint32_t *hits;
};

static struct {
    bool there, open;
    struct side in, out;
} dma;

static const uint32_t no_hits;

void mpi_dma_init(bool shares)
{
    dma.there = !shares && chiliad_personality_word(CHILIAD_PERSONALITY_DMA);
    dma.in.hits = dma.out.hits = &no_hits;
}

bool mpi_dma_is_there(void)
{
    return dma.there;
}

/* At the first long message: a program without one does not pay for it. */
static void open_engine(void)
{
    if (dma.open) return;
    (void)net_dma_open();
    dma.open = true;
    dma.in.hits = net_dma_hits(1) + WORD;
    dma.out.hits = net_dma_hits(0) + WORD;
}

static bool take(struct side *side, struct request *r)
{
    for (int i = 0; i < COUNT; i++) {
        uint32_t bit = 0x80000000u >> i;
        if (side->used & bit) continue;
        side->used |= bit;
        side->requests[i] = r;
        r->counter = FIRST + i;
        return true;
    }
    return false;
}

/* The address of all bytes of a request if they lie together, else NULL. */
static char *together(const struct request *r)
{
    const struct type *t = r->type;
    if (t->dense) return at_offset(r->buffer, t->true_lb);
    if (t->block_count == 1 && r->count == 1) return at_offset(r->buffer, t->blocks[0].at);
    return NULL;
}

bool mpi_dma_expect(struct request *r, uint32_t *address)
{
    open_engine();
    if (!take(&dma.in, r)) return false;
    char *to = together(r);
    if (!to) to = r->staging = mpi_alloc(r->bytes);
    net_dma_expect((unsigned)r->counter, r->bytes);
    *address = (uint32_t)to;
    return true;
}

bool mpi_dma_put(struct request *r)
{
    open_engine();
    if (!r->counter) {
        if (!take(&dma.out, r)) return false;
        net_dma_expect_sent((unsigned)r->counter, r->bytes);
        if (!together(r)) r->staging = mpi_alloc(r->bytes);
    }
    while (r->done < r->bytes) {
        size_t part = r->bytes - r->done;
        char *from = r->staging ? r->staging : together(r);
        if (r->staging) {
            if (part > PIECE) part = PIECE;
            mpi_type_pack(r->type, r->buffer, r->done, from + r->done, part);
        }
        const struct net_dma_transfer transfer = {.node = (uint32_t)r->place >> 2,
                                                  .process = (uint32_t)r->place & 3,
                                                  .local = from + r->done,
                                                  .remote = r->target + r->done,
                                                  .bytes = part,
                                                  .counter = r->target_counter,
                                                  .sent = (unsigned)r->counter};
        if (net_dma_try_put(&transfer) != NET_OK) return false;
        r->done += part;
    }
    return true;
}

static void finish(struct side *side, int (*hit)(unsigned counter), bool receives)
{
    uint32_t hits = *side->hits & side->used;
    for (int i = 0; hits; i++, hits <<= 1) {
        if (!(hits & 0x80000000u)) continue;
        struct request *r = side->requests[i];
        (void)hit((unsigned)(FIRST + i));
        side->used &= ~(0x80000000u >> i);
        if (receives && r->staging)
            mpi_type_unpack(r->type, (void *)r->buffer, 0, r->staging, r->bytes);
        free(r->staging);
        r->staging = NULL;
        r->counter = 0;
        mpi_request_done(r);
    }
}

void mpi_dma_progress(void)
{
    if (dma.in.used) finish(&dma.in, net_dma_done, true);
    if (dma.out.used) finish(&dma.out, net_dma_sent, false);
}

bool mpi_dma_sends(void)
{
    return dma.out.used;
}

bool mpi_dma_moves(const volatile uint32_t **in, const volatile uint32_t **out)
{
    *in = dma.in.hits;
    *out = dma.out.hits;
    return dma.in.used | dma.out.used;
}
