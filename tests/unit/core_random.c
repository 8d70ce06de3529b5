/* Random instruction words from the operand fields of their rows, and states in which they do
 * something. */
#include "core_random.h"

#include <string.h>

#include "fp_operands.h"

enum { PAGE = CORE_RANDOM_PAGE, WINDOW = CORE_RANDOM_WINDOW };

#define SCRATCH  ((uint32_t)CORE_RANDOM_SCRATCH)
#define UNMAPPED UINT32_C(0xa0000000)

uint32_t core_random_window(unsigned i)
{
    static const uint32_t at[4] = {PAGE, 2 * PAGE - WINDOW, 2 * PAGE, 3 * PAGE - WINDOW};
    return at[i];
}

void core_random_fill(uint32_t memory[CORE_RANDOM_MEMORY / 4], uint32_t seed)
{
    for (unsigned i = 0; i < CORE_RANDOM_MEMORY / 4; i++) {
        seed = seed * 1664525u + 1013904223u;
        memory[i] = seed ^ seed >> 15;
    }
}

/* --- Operands -------------------------------------------------------------------------------- */

static uint32_t random_gpr(void)
{
    static const uint32_t edges[] = {0,          1,          2,          0x7fffffff, 0x80000000,
                                     0x80000001, 0xffffffff, 0xfffffffe, 0x7fff,     0x8000,
                                     0xffff,     0x10000,    0xffff8000, 0x7fff7fff, 0x80008000,
                                     0x00ff00ff, 0xff00ff00, 0x7fffffc0};
    switch (random_below(8)) {
    case 0:
    case 1: return edges[random_below(sizeof edges / sizeof edges[0])];
    case 2: return random_below(128) - 64;
    case 3: return (UINT32_C(1) << random_below(32)) + random_below(3) - 1;
    case 4: return (uint32_t)(random_bits() >> random_below(64));
    default: return (uint32_t)random_bits();
    }
}

static void random_state_of(struct core_request *q)
{
    uint64_t f[3];
    for (unsigned i = 0; i < 32; i++)
        q->gpr[i] = random_gpr();
    for (unsigned i = 0; i < 32; i += 3) {
        random_operands(f);
        memcpy(&q->fpr[i], f, (i + 3 <= 32 ? 3 : 32 - i) * sizeof *f);
    }
    q->cr = (uint32_t)random_bits();
    q->xer = (uint32_t)random_bits() & UINT32_C(0xe000007f);
    if (random_below(2)) q->xer &= UINT32_C(0xe000000f);
    q->lr = q->slot + 4 * random_below(CORE_RANDOM_WORDS) + random_below(4);
    q->ctr = random_below(3) ? q->slot + 4 * random_below(CORE_RANDOM_WORDS) + random_below(4)
                             : random_below(3);
    if (random_below(16) == 0) q->lr = UNMAPPED + (uint32_t)(random_bits() & 0x3fffffff);
    if (random_below(16) == 0) q->ctr = UNMAPPED + (uint32_t)(random_bits() & 0x3fffffff);
    /* No FEX to begin with: setting it would be an interrupt already. */
    q->fpscr = random_fpscr();
    uint32_t enabled = q->fpscr & (FP_VE | FP_OE | FP_UE | FP_ZE | FP_XE);
    q->fpscr = fp_summarise(q->fpscr & ~(enabled << 22 | (enabled & FP_VE ? FP_VX_ALL : 0)));
    q->seed = (uint32_t)random_bits();
    for (unsigned i = 0; i < CORE_RANDOM_WORDS; i++)
        q->words[i] = CORE_RANDOM_TRAP;
}

static bool has_operand(const struct isa_row *row, enum isa_operand operand)
{
    for (unsigned i = 0; i < ISA_OPERANDS_MAX; i++)
        if (isa_row_operand(row, i) == operand) return true;
    return false;
}

static uint32_t spr_field(unsigned spr)
{
    return (spr & 31) << 16 | spr >> 5 << 11;
}

static uint32_t random_field(enum isa_operand id, uint32_t pc, uint32_t slot)
{
    static const uint16_t sprs[] = {1,   8,   9,  1,  8,   9,   256, 260, 263,
                                    268, 269, 22, 26, 272, 287, 3,   500, 1023};
    const struct isa_operand_row *operand = isa_operand_row(id);
    uint32_t target = slot + 4 * random_below(CORE_RANDOM_WORDS);
    if (target == pc) target += 4; /* no endless loops */
    switch (id) {
    case ISA_OP_SPR:
    case ISA_OP_SPRW:
        return spr_field(random_below(9) ? sprs[random_below(18)] : random_below(1024));
    case ISA_OP_LI: return (target - pc) & 0x03fffffc;
    case ISA_OP_LIA: return target & 0x03fffffc;
    case ISA_OP_BD: return (target - pc) & 0xfffc;
    case ISA_OP_BDA:
        return random_below(4) ? CORE_RANDOM_PADS +
                                     4 * random_below((CORE_RANDOM_PADS_END - CORE_RANDOM_PADS) / 4)
                               : random_bits() & 0xbffc;
    case ISA_OP_CT: return 0; /* the only cache qemu knows */
    default: return (uint32_t)random_bits() & isa_bit_mask(operand->first, operand->last);
    }
}

static uint32_t random_word(enum isa_id id, uint32_t pc, uint32_t slot)
{
    const struct isa_row *row = isa_row(id);
    uint32_t word;
    do {
        word = row->match;
        for (unsigned i = 0; i < ISA_OPERANDS_MAX && isa_row_operand(row, i) != ISA_OP_NONE; i++)
            word |= random_field(isa_row_operand(row, i), pc, slot);
        if (id == ISA_MFTB)
            word = (word & ~isa_bit_mask(11, 20)) | spr_field(268 + random_below(2));
    } while (isa_is_invalid_form(id, word));
    return word;
}

/* --- Addresses ------------------------------------------------------------------------------- */

static bool is_access(const struct isa_row *row)
{
    return row->klass == ISA_CLASS_LOAD || row->klass == ISA_CLASS_STORE ||
           row->klass == ISA_CLASS_DCACHE_OP || row->klass == ISA_CLASS_ICACHE_OP ||
           row->klass >= ISA_CLASS_FP_LOAD_SINGLE;
}

/* Bytes accessed; cache instructions 1, anywhere in their line. */
static unsigned access_size(enum isa_id id, uint32_t word, uint32_t xer)
{
    const struct isa_row *row = isa_row(id);
    if (id == ISA_LSWI || id == ISA_STSWI) return isa_nb(word);
    if (row->flags & ISA_COUNT_READ) return xer & 0x7f ? xer & 0x7f : 1;
    if (row->flags & ISA_MULTIPLE) return 4 * isa_words_moved(id, word, 0);
    return row->size ? row->size : 1;
}

/* Somewhere in scratch memory, often across pages, sometimes where there is none or no right. */
static uint32_t random_address(unsigned size)
{
    static const uint32_t regions[][2] = {
        {2 * PAGE - WINDOW, 2 * WINDOW}, {2 * PAGE - WINDOW, 2 * WINDOW},
        {2 * PAGE - WINDOW, 2 * WINDOW}, {PAGE, WINDOW},
        {3 * PAGE - WINDOW, WINDOW},     {3 * PAGE, WINDOW},
        {PAGE - WINDOW, 2 * WINDOW},     {3 * PAGE - WINDOW, 2 * WINDOW},
        {4 * PAGE - WINDOW, 2 * WINDOW},
    };
    unsigned choice = random_below(40);
    if (choice == 0) return UNMAPPED + (uint32_t)(random_bits() & 0x3fffffff);
    if (choice < 6) return SCRATCH + 2 * PAGE - random_below(size);
    if (choice == 6) return SCRATCH + 3 * PAGE - random_below(size);
    const uint32_t *region = regions[choice < 24 ? 0 : random_below(9)];
    uint32_t address = SCRATCH + region[0] + random_below(region[1] - size + 1);
    return random_below(2) ? address & ~UINT32_C(7) : address;
}

/* Gives the address registers of `word` values that add up to `address`. With RA = 0 and a
 * displacement they cannot: the displacement is kept out of the guest's own page then. */
static uint32_t aim(struct core_request *q, enum isa_id id, uint32_t word, uint32_t address)
{
    const struct isa_row *row = isa_row(id);
    unsigned ra = isa_ra(word), rb = isa_rb(word);
    if (has_operand(row, ISA_OP_D)) {
        if (ra)
            q->gpr[ra] = address - (uint32_t)isa_si(word);
        else if (isa_ui(word) >= 0x6f00 && isa_ui(word) < 0x8000)
            word &= 0xffff4fff;
    } else if (id == ISA_LSWI || id == ISA_STSWI) {
        if (ra) q->gpr[ra] = address;
    } else if (ra == 0 && !(row->flags & ISA_UPDATE)) {
        q->gpr[rb] = address;
    } else if (ra == rb) {
        q->gpr[ra] = address / 2;
    } else {
        q->gpr[rb] = address - q->gpr[ra];
    }
    return word;
}

/* lswx over its own address registers is invalid as far as XER makes it so; qemu refuses those. */
static bool string_overlaps(enum isa_id id, uint32_t word, uint32_t xer)
{
    unsigned words = isa_words_moved(id, word, xer & 0x7f);
    return id == ISA_LSWX && (((isa_ra(word) - isa_rt(word)) % 32 < words && isa_ra(word)) ||
                              (isa_rb(word) - isa_rt(word)) % 32 < words);
}

void core_random_single(struct core_program *program, uint64_t seed, enum isa_id id, uint32_t slot)
{
    struct core_request *q = &program->request;
    memset(program, 0, sizeof *program);
    random_state = seed;
    program->seed = seed;
    program->kind = CORE_SINGLE;
    program->id = id;
    q->slot = slot;
    random_state_of(q);
    unsigned at = random_below(CORE_RANDOM_WORDS);
    q->pc = slot + 4 * at;
    if ((q->lr & ~UINT32_C(3)) == q->pc) q->lr += 4;
    if ((q->ctr & ~UINT32_C(3)) == q->pc) q->ctr += 4;
    if (id == ISA_LSWX && (q->xer & 0x7f) > 112)
        q->xer &= ~UINT32_C(0x40); /* registers must be left for the address */
    uint32_t word;
    do
        word = random_word(id, q->pc, slot);
    while (string_overlaps(id, word, q->xer));
    if (is_access(isa_row(id))) {
        unsigned size = access_size(id, word, q->xer);
        uint32_t address = random_address(size);
        if (isa_row(id)->flags & ISA_RESERVATION && random_below(8)) address &= ~UINT32_C(3);
        word = aim(q, id, word, address);
    }
    if (has_operand(isa_row(id), ISA_OP_FRB) || has_operand(isa_row(id), ISA_OP_FRC)) {
        uint64_t f[3];
        random_operands(f); /* related to one another */
        q->fpr[isa_ra(word)] = f[0];
        q->fpr[isa_rb(word)] = f[1];
        if (has_operand(isa_row(id), ISA_OP_FRC)) q->fpr[isa_frc(word)] = f[2];
    }
    if (id == ISA_SC) q->gpr[0] = CORE_RANDOM_NO_SYSCALL;
    q->words[at] = word;
}

/* --- Sequences
 * ------------------------------------------------------------------------------------------------
 * Some registers are set aside: their values are known all along, so that addresses can be aimed.
 */

enum { BASES = 2, KEPT = 6 };

struct writer {
    struct core_request *q;
    const struct core_rows *rows;
    unsigned at;         /* the next word */
    unsigned kept[KEPT]; /* two bases, an index, an address without rights, code, a word of code */
    uint32_t known[32];  /* the values of kept registers */
    uint32_t kept_mask;
    bool fixed;       /* what follows may be skipped or repeated: known values stay */
    bool loops;       /* CTR counts the loop */
    bool count_known; /* XER's byte count is still that of the beginning */
    bool writes_xer;  /* mtspr XER is there, mfspr XER is not: reserved bits of XER are qemu's to
                         keep */
    bool zeroes; /* dcbz is there, lwarx is not: qemu's dcbz ends a reservation, of the processor's
                    own too */
    bool directed; /* rounding other than to nearest and to zero; then no fnmadd and its like */
};

static void start_sequence(struct writer *w, struct core_program *program, uint64_t seed,
                           const struct core_rows *rows, uint32_t slot)
{
    struct core_request *q = &program->request;
    memset(program, 0, sizeof *program);
    random_state = seed;
    program->seed = seed;
    q->slot = q->pc = slot;
    random_state_of(q);
    *w = (struct writer){.q = q, .rows = rows, .count_known = true};
    w->writes_xer = random_below(2);
    w->zeroes = random_below(2);
    w->directed = random_below(2);
    /* What qemu leaves wrong in the FPSCR is sticky and set already; nothing is enabled. docs/fp.md
     * 1, 4, 6, 16. */
    const uint32_t not_set = FP_VE | FP_OE | FP_UE | FP_ZE | FP_XE | FP_NI | (w->directed ? 0 : 2);
    if (!rows->all_results)
        q->fpscr = fp_summarise((q->fpscr & ~not_set) | FP_FX | FP_XX | FP_VXSNAN);
    for (unsigned i = 0; i < KEPT;) {
        unsigned r = 1 + random_below(31);
        if (w->kept_mask >> r & 1) continue;
        w->kept_mask |= UINT32_C(1) << r;
        w->kept[i++] = r;
    }
    const uint32_t values[KEPT] = {
        SCRATCH + 2 * PAGE - 64 + random_below(128),
        SCRATCH + 2 * PAGE - 8 + random_below(16),
        random_below(24) + 2,
        random_below(2) ? UNMAPPED + 0x10000 : SCRATCH + 3 * PAGE + 64,
        slot,
        0,
    };
    for (unsigned i = 0; i < KEPT; i++)
        q->gpr[w->kept[i]] = w->known[w->kept[i]] = values[i];
}

static uint32_t with(uint32_t word, unsigned first, unsigned last, uint32_t value)
{
    uint32_t mask = isa_bit_mask(first, last);
    return (word & ~mask) | (value << (31 - last) & mask);
}

/* Rows whose results qemu and we compute equally. */
static bool agrees(const struct writer *w, enum isa_id id)
{
    switch (id) {
    case ISA_DCBZ: return w->zeroes;
    case ISA_LWARX: return !w->zeroes;
    case ISA_DIVW ... ISA_DIVWUO_RC: return w->known[w->kept[2]] != 0;
    case ISA_MACHHWU ... ISA_NMACLHWSO_RC: return false;
    case ISA_FNMADD ... ISA_FNMSUBS_RC: return !w->directed;
    case ISA_FRES:
    case ISA_FRES_RC:
    case ISA_FCTIW:
    case ISA_FCTIW_RC:
    case ISA_FCTIWZ:
    case ISA_FCTIWZ_RC:
    case ISA_FCTID:
    case ISA_FCTID_RC:
    case ISA_FCTIDZ:
    case ISA_FCTIDZ_RC:
    case ISA_MFFS:
    case ISA_MFFS_RC:
    case ISA_MCRFS:
    case ISA_MTFSF:
    case ISA_MTFSF_RC: return false;
    default: return true;
    }
}

/* Rows that can be used in this place: they keep what is known and do not end the sequence, but for
 * a rare trap. */
static bool fits_sequence(const struct writer *w, enum isa_id id)
{
    const struct isa_row *row = isa_row(id);
    if (!w->rows->has[id] || row->flags & (ISA_PRIVILEGED | ISA_ENDS_BLOCK)) return id == ISA_ISYNC;
    if (w->fixed && row->flags & (ISA_UPDATE | ISA_COUNT_WRITE)) return false;
    switch (id) {
    case ISA_TW:
    case ISA_TWI: return random_below(8) == 0;
    case ISA_MFTB: return false;
    case ISA_LSWX:
    case ISA_STSWX: return w->count_known;
    case ISA_MTFSF: /* often an enabled exception, which is the end */
    case ISA_MTFSF_RC: return w->rows->all_results && random_below(4) == 0;
    default: return w->rows->all_results || agrees(w, id);
    }
}

/* Narrows operands so that known values hold and results are defined. */
static uint32_t fit_operands(const struct writer *w, enum isa_id id, uint32_t word)
{
    bool any = w->rows->all_results;
    switch (id) {
    case ISA_DIVW ... ISA_DIVWUO_RC:
        return any ? word : with(word, 16, 20, w->kept[2]); /* by a small number */
    case ISA_MTFSB0:
    case ISA_MTFSB0_RC: return any ? word : with(word, 6, 10, 13 + random_below(7));
    case ISA_MTFSB1:
    case ISA_MTFSB1_RC: return any ? word : with(word, 6, 10, 3 + random_below(21));
    case ISA_MTFSFI:
    case ISA_MTFSFI_RC:
        return any ? word : with(with(word, 6, 8, 7), 16, 19, random_below(w->directed ? 4 : 2));
    case ISA_MFSPR:
    case ISA_MTSPR: {
        static const unsigned sprs[] = {8, 9, 256, 1};
        bool xer = w->writes_xer == (id == ISA_MTSPR) && !(w->fixed && id == ISA_MTSPR);
        unsigned spr = sprs[random_below(xer ? 4 : 3)];
        if (spr == 9 && w->loops && id == ISA_MTSPR) spr = 8;
        return with(with(word, 11, 15, spr), 16, 20, spr >> 5);
    }
    default: return word;
    }
}

static bool in_window(uint32_t address, unsigned size)
{
    uint32_t from = SCRATCH + 2 * PAGE - WINDOW;
    return address >= from && address + size <= from + 2 * WINDOW;
}

/* Makes an access go to the middle windows through kept registers; false when this word cannot. */
static bool aim_known(struct writer *w, enum isa_id id, uint32_t *word)
{
    const struct isa_row *row = isa_row(id);
    unsigned size = access_size(id, *word, w->q->xer), base = w->kept[random_below(BASES)];
    uint32_t address;
    *word = with(*word, 11, 15, base);
    if (has_operand(row, ISA_OP_D)) {
        address = SCRATCH + 2 * PAGE - WINDOW + random_below(2 * WINDOW - size + 1);
        *word = with(*word, 16, 31, address - w->known[base]);
    } else if (id == ISA_LSWI || id == ISA_STSWI) {
        address = w->known[base];
    } else {
        unsigned index = w->kept[2];
        address = w->known[base] + w->known[index];
        *word = with(*word, 16, 20, index);
        if (!(row->flags & ISA_UPDATE) && random_below(2)) {
            *word = with(with(*word, 11, 15, 0), 16, 20, base);
            address = w->known[base];
        }
    }
    if (!in_window(address, size)) return false;
    if (row->flags & ISA_RESERVATION && address % 4) return false;
    if (size == 16 && address % 16 && random_below(8)) return false;
    if (isa_is_invalid_form(id, *word) || string_overlaps(id, *word, w->q->xer)) return false;
    if (row->flags & ISA_UPDATE) w->known[base] = address;
    return true;
}

static uint32_t registers_written(enum isa_id id, uint32_t word, uint32_t xer)
{
    struct isa_deps deps;
    isa_deps(id, word, &deps);
    if (id == ISA_LSWX) {
        deps.gpr_write = 0;
        for (unsigned i = 0; i < isa_words_moved(id, word, xer & 0x7f); i++)
            deps.gpr_write |= UINT32_C(1) << (isa_rt(word) + i) % 32;
    }
    if (isa_row(id)->flags & ISA_UPDATE) /* known; but the data may not go there */
        deps.gpr_write &= isa_row(id)->klass == ISA_CLASS_LOAD ? UINT32_C(1) << isa_rt(word) : 0;
    return deps.gpr_write;
}

/* A word for a sequence that keeps what is known. */
static uint32_t sequence_word(struct writer *w)
{
    for (;;) {
        enum isa_id id = (enum isa_id)(1 + random_below(ISA_COUNT - 1));
        if (random_below(12) == 0) id = random_below(2) ? ISA_LWARX : ISA_STWCX_RC;
        if (!fits_sequence(w, id)) continue;
        uint32_t word = fit_operands(w, id, random_word(id, w->q->slot + 4 * w->at, w->q->slot));
        struct writer before = *w;
        if (is_access(isa_row(id)) && !aim_known(w, id, &word)) continue;
        if (registers_written(id, word, w->q->xer) & w->kept_mask) {
            *w = before;
            continue;
        }
        struct isa_deps deps;
        isa_deps(id, word, &deps);
        if (w->loops && deps.special_write & ISA_SPECIAL_CTR) continue;
        if (deps.special_write & ISA_SPECIAL_COUNT) w->count_known = false;
        return word;
    }
}

static void put(struct writer *w, uint32_t word)
{
    w->q->words[w->at++] = word;
}

/* A conditional branch over the next instructions. Returns how many. */
static unsigned put_skip(struct writer *w)
{
    unsigned over = 1 + random_below(3);
    enum isa_id id = random_below(3) ? ISA_BC : ISA_BCL;
    uint32_t word = with(random_word(id, 0, 0), 16, 29, over + 1);
    if (w->loops && isa_bo_uses_ctr(isa_rt(word)))
        word = with(word, 6, 10, random_below(2) ? 4 : 12);
    put(w, word);
    return over;
}

/* An instruction that does not get through. */
static uint32_t bad_word(const struct writer *w)
{
    unsigned bad = w->kept[3];
    switch (random_below(6)) {
    case 0: return CORE_RANDOM_TRAP;
    case 1: return 0;                                        /* illegal */
    case 2: return 0x7c0000a6;                               /* mfmsr: privileged */
    case 3: return with(0xd8000000, 11, 15, bad);            /* stfd */
    case 4: return with(0xbc000000 | 30 << 21, 11, 15, bad); /* stmw */
    default: return with(0x90000000, 11, 15, bad);           /* stw */
    }
}

void core_random_sequence(struct core_program *program, uint64_t seed, const struct core_rows *rows,
                          uint32_t slot)
{
    struct writer w;
    start_sequence(&w, program, seed, rows, slot);
    program->kind = CORE_SEQUENCE;
    w.loops = w.fixed = random_below(4) == 0;
    unsigned length = random_below(16) ? 8 + random_below(25) : CORE_RANDOM_WORDS - 1, skip = 0;
    unsigned bad = random_below(4) ? UINT32_MAX : random_below(length);
    if (w.loops) w.q->ctr = 1 + random_below(4);
    for (unsigned i = 0; i < length; i++) {
        w.fixed = w.loops || skip;
        if (skip) skip--;
        if (i == bad)
            put(&w, bad_word(&w));
        else if (!skip && i + 4 < length && random_below(8) == 0)
            skip = put_skip(&w);
        else
            put(&w, sequence_word(&w));
    }
    if (w.loops) put(&w, 0x42000000 | (-4 * w.at & 0xfffc)); /* bdnz */
}

/* Head, a store to a place in the head or the tail, what makes it seen, tail; if it is in the head,
 * again. */
void core_random_self_modifying(struct core_program *program, uint64_t seed,
                                const struct core_rows *rows, uint32_t slot, enum core_kind kind)
{
    struct writer w;
    start_sequence(&w, program, seed, rows, slot);
    program->kind = kind;
    struct core_rows straight = *rows;
    straight.has[ISA_TW] = straight.has[ISA_TWI] = false;
    w.rows = &straight;
    bool behind = program->behind = random_below(2);
    w.loops = w.fixed = true;
    unsigned head = 1 + random_below(10), tail = 1 + random_below(10);
    unsigned first =
        kind == CORE_UNSYNCED ? head + 1 : head + 5; /* from here on the change is seen */
    unsigned place = program->place = behind ? random_below(head) : first + random_below(tail);
    unsigned index = w.kept[2], code = w.kept[4], text = w.kept[5];
    w.known[index] = w.q->gpr[index] = 4 * place;
    unsigned passes = behind ? 2 + random_below(3) : 1;
    w.q->ctr = passes;
    for (unsigned i = 0; i < head; i++)
        put(&w, sequence_word(&w));
    put(&w, 0x7c00012e | text << 21 | code << 16 | index << 11); /* stwx */
    const uint32_t sync[] = {
        0x7c00006c | code << 16 | index << 11 /* dcbst */, 0x7c0004ac /* msync */,
        0x7c0007ac | code << 16 | index << 11 /* icbi */, 0x4c00012c /* isync */};
    for (unsigned i = 0; i < 4; i++)
        put(&w, kind == CORE_UNSYNCED ? sequence_word(&w) : sync[i]);
    for (unsigned i = 0; i < tail; i++)
        put(&w, sequence_word(&w));
    put(&w, 0x42000000 | (-4 * w.at & 0xfffc)); /* bdnz */
    uint32_t patch = program->patch = sequence_word(&w);
    w.q->gpr[text] = patch;
    for (unsigned pass = 0; pass < passes; pass++)
        for (unsigned i = 0; i < w.at; i++)
            program->words[program->executed++] =
                i == place && (!behind || pass) ? patch : w.q->words[i];
    w.rows = NULL;
}
