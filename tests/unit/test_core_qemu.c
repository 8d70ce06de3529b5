/* The core against qemu-ppc, and its counts against the list of what it executed.
 *
 * core_random.c makes programs; tests/diff/insn_guest.c runs them under qemu-ppc; the same programs
 * run in the core. Every register, the memory they can change, and how and where they stopped must
 * be equal. Where they are not, a row of `accepted` below says why, with the manual's word; those
 * of the FPU are the numbers of docs/fp.md, and an FPU result is compared with src/machine/fp's
 * reference as well, to the last bit. Without the cross compiler or qemu-ppc this fails.
 *
 *   test_core_qemu          CHILIAD_TEST_LENGTH programs
 *   test_core_qemu SEED     the one program that a failure named
 */
#include <endian.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "machine/core/core.h"
#include "core_classes.h"
#include "core_raises.h"
#include "core_random.h"
#include "machine/fp/fp.h"
#include "machine/isa/isa.h"
#include "random.h"

enum { BATCH = 20000, GROUP = 256, PROBES = 12, PAGE = CORE_RANDOM_PAGE };

/* No one CPU of qemu-ppc has every instruction. */
static const char *const cpus[] = {"440-xilinx-w-dfpu", "750", "e500mc"};
enum { CPUS = sizeof cpus / sizeof cpus[0], NO_CPU = CPUS };

/* --- What may differ ------------------------------------------------------------------------- */

enum accepted {
    ACCEPT_NONE,
    TIME_BASE,
    XER_RESERVED,
    STWCX_UNRESERVED,
    ICBI_ADDRESS,
    PVR_READ,
    MAC_WRONG,
    FPSCR_FX,
    FPSCR_FR,
    FPRF_DENORMAL,
    FNM_ROUNDED,
    FRES_ZERO,
    ESTIMATE_INEXACT,
    COMPARE_FI,
    COMPARE_C,
    MTFSB1_FX,
    MTFSB1_NI,
    SNAN_FI,
    FCFID_ENABLED,
    COMPARE_VXVC,
    SINGLE_ADJUSTED,
    RECORD_TRAPPED,
    VXIMZ_SNAN,
    CONVERT_NAN,
    SEQUENCE_FPRF,
    ACCEPTED
};

static const char *const accepted[ACCEPTED] = {
    [TIME_BASE] = "mftb, mfspr TBL, TBU: the time",
    [XER_RESERVED] = "mtspr XER: bits 3:24 are reserved [UM 2.6.2]; qemu keeps them, we read 0",
    [STWCX_UNRESERVED] =
        "stwcx. without reservation faults if unaligned [UM page 186] and, our choice, if not writable; not in qemu",
    [ICBI_ADDRESS] =
        "icbi that faults: qemu gives the address of the line, we the effective address",
    /* Linux reads it for user programs, and so does qemu-ppc. Ours stops with CORE_PRIVILEGED:
     * src/machine/os may do the same.
     */
    [PVR_READ] = "mfspr PVR: \"access to the PVR is privileged\" [UM 2.7.2]; qemu reads it",
    /* gen_405_mulladd_insn() of qemu 7.2. check_halfwords() has an oracle instead. */
    [MAC_WRONG] =
        "MAC: qemu writes no result unless it saturates or sets OV, and its test of signed overflow is wrong",
    [FPSCR_FX] = "fp.md 1",
    [FPSCR_FR] = "fp.md 2",
    [FPRF_DENORMAL] = "fp.md 3",
    [FNM_ROUNDED] = "fp.md 4",
    [FRES_ZERO] = "fp.md 5",
    [ESTIMATE_INEXACT] = "fp.md 6",
    [COMPARE_FI] = "fp.md 7",
    [COMPARE_C] = "fp.md 8",
    [MTFSB1_FX] = "fp.md 9",
    [MTFSB1_NI] = "fp.md 10",
    [SNAN_FI] = "fp.md 11",
    [FCFID_ENABLED] = "fp.md 12",
    [COMPARE_VXVC] = "fp.md 13",
    [SINGLE_ADJUSTED] = "fp.md 14",
    [RECORD_TRAPPED] = "fp.md 15",
    [VXIMZ_SNAN] = "fp.md 16",
    [CONVERT_NAN] = "fp.md, last paragraph: undefined by the manual",
    [SEQUENCE_FPRF] = "FR, FI, C after a sequence: fp.md 2, 3, 6, 7, 8",
};

/* --- The rig: our machine -------------------------------------------------------------------- */

struct machine {
    struct mem *mem;
    struct cores *cores;
    struct core *core;
    struct core_regs regs; /* of the last program */
    unsigned programs;     /* since cores_new: core_signal_counts takes time by block */
};

struct rig {
    char folder[64], requests[96], answers[96];
    unsigned cpu_of[ISA_COUNT];
    struct core_rows rows;           /* of the first CPU */
    struct core_rows all;            /* every row, and no CPU to agree with */
    struct machine whole, even, odd; /* the last two for stepping: every other word is a trap */
    struct core_program *programs;
    struct core_answer *theirs;
    uint64_t compared[ISA_COUNT], stepped;
    uint64_t accepted[ACCEPTED];
};

static void machine_fresh(struct machine *m)
{
    const struct core_options options = {.units = UINT32_MAX};
    cores_free(m->cores);
    m->cores = cores_new(1, &options);
    m->core = cores_get(m->cores, 0);
    m->programs = 0;
}

static void machine_new(struct machine *m, int fd)
{
    assert_int_equal(mem_new(&m->mem), 0);
    mem_map(m->mem, CORE_RANDOM_PADS, CORE_RANDOM_PADS_END - CORE_RANDOM_PADS,
            MEM_READ | MEM_WRITE);
    for (uint32_t at = CORE_RANDOM_PADS; at < CORE_RANDOM_PADS_END; at += 4)
        mem_put32(m->mem, at, CORE_RANDOM_TRAP);
    mem_protect(m->mem, CORE_RANDOM_PADS, CORE_RANDOM_PADS_END - CORE_RANDOM_PADS,
                MEM_READ | MEM_EXEC);
    mem_map(m->mem, CORE_RANDOM_PADS_END, PAGE, MEM_READ | MEM_WRITE);
    mem_map(m->mem, CORE_RANDOM_CODE, ((BATCH + 2) * CORE_RANDOM_SLOT / PAGE + 1) * PAGE,
            MEM_READ | MEM_WRITE | MEM_EXEC);
    assert_int_equal(mem_map_shared(m->mem, CORE_RANDOM_SCRATCH + PAGE, UINT64_C(2) * PAGE,
                                    MEM_READ | MEM_WRITE, fd, 0),
                     0);
    assert_int_equal(
        mem_map_shared(m->mem, CORE_RANDOM_SCRATCH + 3 * PAGE, PAGE, MEM_READ, fd, 2 * PAGE), 0);
    machine_fresh(m);
}

static void machine_free(struct machine *m)
{
    cores_free(m->cores);
    mem_free(m->mem);
}

/* Writes a program's slot; with `keep` 0 or 1 only its even or odd words, traps between. */
static void load_program(struct machine *m, const struct core_program *p, int keep)
{
    if (++m->programs == GROUP) machine_fresh(m);
    for (unsigned i = 0; i < CORE_RANDOM_SLOT / 4; i++) {
        bool traps = i >= CORE_RANDOM_WORDS || (keep >= 0 && (int)(i & 1) != keep);
        mem_put32(m->mem, p->request.slot + 4 * i,
                  traps ? (uint32_t)CORE_RANDOM_TRAP : p->request.words[i]);
    }
}

static void load_state(struct machine *m, const struct core_program *p, struct core_regs *regs)
{
    const struct core_request *q = &p->request;
    uint32_t memory[CORE_RANDOM_MEMORY / 4];
    memset(regs, 0, sizeof *regs);
    memcpy(regs->gpr, q->gpr, sizeof regs->gpr);
    memcpy(regs->fpr, q->fpr, sizeof regs->fpr);
    for (unsigned i = 0; i < 32; i++)
        regs->fpr2[i] = q->fpr[(i + 7) % 32];
    regs->pc = q->pc;
    regs->lr = q->lr;
    regs->ctr = q->ctr;
    core_cr_set(regs, q->cr);
    core_xer_set(regs, q->xer);
    regs->fpscr = q->fpscr;
    regs->msr = MSR_PR | MSR_FP | MSR_FE0 | MSR_FE1;
    core_random_fill(memory, q->seed);
    for (unsigned i = 0; i < CORE_RANDOM_MEMORY / 4; i++)
        mem_host_put32(m->mem->base + CORE_RANDOM_SCRATCH + core_random_window(i / 32) +
                           4 * (i % 32),
                       memory[i]);
}

static uint32_t signal_of(enum core_reason reason)
{
    switch (reason) {
    case CORE_ILLEGAL:
    case CORE_PRIVILEGED: return SIGILL;
    case CORE_TRAP: return SIGTRAP;
    case CORE_LOAD:
    case CORE_STORE:
    case CORE_FETCH: return SIGSEGV;
    case CORE_ALIGNMENT: return SIGBUS;
    case CORE_FP: return SIGFPE;
    default: return 0;
    }
}

/* Linux's answer to a call that does not exist. */
static void refuse_syscall(struct core_regs *regs)
{
    regs->gpr[3] = 38;
    regs->cr[0] |= CR_SO;
}

static void read_state(const struct machine *m, const struct core_regs *regs, struct core_exit exit,
                       struct core_answer *a)
{
    memset(a, 0, sizeof *a);
    memcpy(a->gpr, regs->gpr, sizeof a->gpr);
    memcpy(a->fpr, regs->fpr, sizeof a->fpr);
    a->pc = regs->pc;
    a->lr = regs->lr;
    a->ctr = regs->ctr;
    a->cr = core_cr_get(regs);
    a->xer = core_xer_get(regs);
    a->fpscr = regs->fpscr;
    a->signal = signal_of(exit.reason);
    a->address = exit.reason == CORE_LOAD || exit.reason == CORE_STORE ? exit.address : 0;
    if (exit.reason == CORE_FETCH) assert_int_equal(exit.address, regs->pc);
    for (unsigned i = 0; i < CORE_RANDOM_MEMORY / 4; i++)
        a->memory[i] = mem_host_get32(m->mem->base + CORE_RANDOM_SCRATCH +
                                      core_random_window(i / 32) + 4 * (i % 32));
}

static void run_ours(struct machine *m, const struct core_program *p, struct core_answer *a)
{
    struct core_regs *regs = &m->regs;
    struct core_exit exit;
    load_program(m, p, -1);
    load_state(m, p, regs);
    core_switch(m->core, regs, m->mem);
    while ((exit = core_run(m->core, 1000000)).reason == CORE_SYSCALL)
        refuse_syscall(regs);
    read_state(m, regs, exit, a);
}

/* --- The other side: qemu-ppc ---------------------------------------------------------------- */

static void swap_words(uint32_t *to, const uint32_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = htobe32(from[i]);
}

static void write_requests(const struct rig *rig, size_t count)
{
    FILE *file = fopen(rig->requests, "wb");
    assert_non_null(file);
    for (size_t i = 0; i < count; i++) {
        const struct core_request *q = &rig->programs[i].request;
        struct core_request big;
        swap_words(big.gpr, q->gpr, offsetof(struct core_request, fpr) / 4);
        for (unsigned f = 0; f < 32; f++)
            big.fpr[f] = htobe64(q->fpr[f]);
        swap_words(big.words, q->words, CORE_RANDOM_WORDS);
        assert_int_equal(fwrite(&big, sizeof big, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
}

static void read_answers(struct rig *rig, size_t count)
{
    FILE *file = fopen(rig->answers, "rb");
    assert_non_null(file);
    for (size_t i = 0; i < count; i++) {
        struct core_answer big, *a = &rig->theirs[i];
        assert_int_equal(fread(&big, sizeof big, 1, file), 1);
        swap_words(a->gpr, big.gpr, offsetof(struct core_answer, fpr) / 4);
        for (unsigned f = 0; f < 32; f++)
            a->fpr[f] = be64toh(big.fpr[f]);
        swap_words(a->memory, big.memory, CORE_RANDOM_MEMORY / 4);
    }
    fclose(file);
}

static void run_theirs(struct rig *rig, unsigned cpu, size_t count)
{
    write_requests(rig, count);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl("tests/diff/run-insn", "run-insn", rig->folder, cpus[cpu], rig->requests,
              rig->answers, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status)
        fail_msg(
            "tests/diff/run-insn failed; are powerpc-linux-gnu-gcc and qemu-ppc there (tools/setup check)?");
    read_answers(rig, count);
}

/* --- Differences that are accepted ----------------------------------------------------------- */

struct pair {
    struct rig *rig;
    const struct core_program *p;
    const struct isa_row *row;
    uint32_t word;
    struct core_answer ours, theirs; /* made equal where a difference is accepted */
};

#define ACCEPT(pair, field, reason)                                                                \
    do {                                                                                           \
        if ((pair)->ours.field != (pair)->theirs.field) {                                          \
            (pair)->rig->accepted[reason]++;                                                       \
            (pair)->theirs.field = (pair)->ours.field;                                             \
        }                                                                                          \
    } while (0)

static void accept_bits(struct pair *c, uint32_t *theirs, uint32_t ours, uint32_t mask,
                        enum accepted reason)
{
    if (!((*theirs ^ ours) & mask)) return;
    c->rig->accepted[reason]++;
    *theirs = (*theirs & ~mask) | (ours & mask);
}

static void accept_fpscr(struct pair *c, uint32_t mask, enum accepted reason)
{
    accept_bits(c, &c->theirs.fpscr, c->ours.fpscr, mask, reason);
    if (c->row && c->row->flags & ISA_RC1 && c->p->kind == CORE_SINGLE)
        accept_bits(c, &c->theirs.cr, c->ours.cr,
                    (mask | (mask & FP_VX_ALL ? FP_VX : 0)) >> 4 & 0x0f000000, reason);
}

static enum fp_op op_of(const struct isa_row *row)
{
    size_t length = strcspn(row->name, ".");
    for (enum fp_op op = 1; op < FP_OP_COUNT; op++)
        if (strlen(fp_op_name(op)) == length && strncmp(fp_op_name(op), row->name, length) == 0)
            return op;
    return FP_OP_NONE;
}

static bool is_nan(uint64_t x)
{
    return fp_abs(x) > UINT64_C(0x7ff0000000000000);
}

/* What src/machine/fp's reference says of an arithmetic instruction; the core must say the same.
 * `raised`: by it alone.
 */
static void check_reference(const struct pair *c, enum fp_op op, uint32_t *raised)
{
    const struct core_request *q = &c->p->request;
    uint64_t fa = q->fpr[isa_ra(c->word)], fb = q->fpr[isa_rb(c->word)],
             fc = q->fpr[isa_frc(c->word)];
    uint32_t fpscr = q->fpscr, alone = q->fpscr & ~(FP_EXCEPTIONS | FP_FX);
    uint64_t target = q->fpr[isa_rt(c->word)], ignored = 0;
    fp_arith(op, &alone, &ignored, fa, fb, fc);
    *raised = alone & FP_EXCEPTIONS;
    unsigned did = fp_arith(op, &fpscr, &target, fa, fb, fc);
    if (target != c->ours.fpr[isa_rt(c->word)] || fpscr != c->ours.fpscr ||
        !(did & FP_ENABLED) != (c->ours.signal == SIGTRAP))
        fail_msg("seed %llu: %s: core %016llx fpscr %08x signal %u, reference %016llx %08x",
                 (unsigned long long)c->p->seed, c->row->name,
                 (unsigned long long)c->ours.fpr[isa_rt(c->word)], c->ours.fpscr, c->ours.signal,
                 (unsigned long long)target, fpscr);
}

static void accept_target(struct pair *c, enum accepted reason)
{
    ACCEPT(c, fpr[isa_rt(c->word)], reason);
    accept_fpscr(c, FP_FPRF, reason);
}

static void accept_arith(struct pair *c, enum fp_op op)
{
    const struct core_request *q = &c->p->request;
    uint32_t raised;
    check_reference(c, op, &raised);
    bool invalid = raised & FP_VX_ALL, enabled = c->ours.signal == SIGFPE;
    uint64_t target = c->ours.fpr[isa_rt(c->word)], fb = q->fpr[isa_rb(c->word)];
    unsigned exponent = (unsigned)(target >> 52 & 0x7ff);
    if (op >= FP_FNMADD && op <= FP_FNMSUBS && q->fpscr & 2 && raised & FP_XX) {
        accept_target(c, FNM_ROUNDED);
        accept_fpscr(c, FP_XX | FP_OX | FP_UX | FP_FI, FNM_ROUNDED);
        if (q->fpscr & (FP_XE | FP_OE | FP_UE)) {
            accept_fpscr(c, FP_FEX, FNM_ROUNDED);
            ACCEPT(c, signal, FNM_ROUNDED);
            ACCEPT(c, pc, FNM_ROUNDED);
        }
    }
    if (op == FP_FRES && raised & FP_ZX && !(q->fpscr & FP_ZE)) accept_target(c, FRES_ZERO);
    if (op == FP_FRES || op == FP_FRSQRTE) {
        accept_fpscr(c, FP_XX | FP_FI, ESTIMATE_INEXACT);
        if (q->fpscr & FP_XE && c->theirs.signal == SIGFPE && !enabled) {
            accept_fpscr(c, FP_FEX, ESTIMATE_INEXACT);
            accept_bits(c, &c->theirs.cr, c->ours.cr, 0x0f000000, ESTIMATE_INEXACT);
            ACCEPT(c, signal, ESTIMATE_INEXACT);
            ACCEPT(c, pc, ESTIMATE_INEXACT);
        }
    }
    accept_fpscr(c, FP_FX, FPSCR_FX);
    accept_fpscr(c, FP_FR, FPSCR_FR);
    uint32_t fprf = (c->ours.fpscr & FP_FPRF) >> FP_FPRF_SHIFT;
    if (fp_op_is_single(op) && (fprf == 0x14 || fprf == 0x18))
        accept_fpscr(c, UINT32_C(0x10) << FP_FPRF_SHIFT, FPRF_DENORMAL);
    if (invalid && !(raised & FP_VX_ALL & ~FP_VXSNAN) && q->fpscr & FP_VE)
        accept_fpscr(c, FP_FI, SNAN_FI);
    if (raised & FP_VXIMZ && raised & FP_VXSNAN) accept_fpscr(c, FP_VXSNAN, VXIMZ_SNAN);
    if (op == FP_FCFID && raised & FP_XX && q->fpscr & FP_XE) accept_target(c, FCFID_ENABLED);
    if (fp_op_is_single(op) && enabled && raised & (FP_OX | FP_UX) &&
        (exponent < 897 || exponent > 1150))
        accept_target(c, SINGLE_ADJUSTED);
    if (op >= FP_FCTIW && invalid && !(q->fpscr & FP_VE)) accept_fpscr(c, FP_FPRF, CONVERT_NAN);
    if ((op == FP_FCTIW || op == FP_FCTIWZ) && is_nan(fb))
        ACCEPT(c, fpr[isa_rt(c->word)], CONVERT_NAN);
}

static void accept_compare(struct pair *c)
{
    const struct core_request *q = &c->p->request;
    bool ordered = c->p->id == ISA_FCMPO,
         nan = is_nan(q->fpr[isa_ra(c->word)]) || is_nan(q->fpr[isa_rb(c->word)]);
    uint32_t fpscr = q->fpscr;
    unsigned field = (ordered ? fp_compare_ordered : fp_compare_unordered)(
        &fpscr, q->fpr[isa_ra(c->word)], q->fpr[isa_rb(c->word)]);
    if (fpscr != c->ours.fpscr || field != (c->ours.cr >> (28 - 4 * isa_bf(c->word)) & 15))
        fail_msg("seed %llu: %s: core fpscr %08x, reference %08x", (unsigned long long)c->p->seed,
                 c->row->name, c->ours.fpscr, fpscr);
    accept_fpscr(c, FP_FI, COMPARE_FI);
    if (nan) accept_fpscr(c, FP_FX, FPSCR_FX);
    if (nan && ordered) accept_fpscr(c, UINT32_C(0x10) << FP_FPRF_SHIFT, COMPARE_C);
    if (nan && ordered && q->fpscr & FP_VE) accept_fpscr(c, FP_VXVC, COMPARE_VXVC);
}

/* The 440's halfword multiplies and MACs from their names, in exact arithmetic: (n)mac or mul, hh
 * ch lh, w, s, u, o. */
static void check_halfwords(struct pair *c)
{
    const struct core_request *q = &c->p->request;
    const char *name = c->row->name;
    bool mac = strstr(name, "mac") != NULL, negative = name[0] == 'n';
    const char *halves = name + 3 + negative, *rest = halves + 3;
    bool saturates = *rest == 's', is_unsigned = rest[saturates] == 'u',
         overflows = rest[saturates + is_unsigned] == 'o';
    uint32_t x = q->gpr[isa_ra(c->word)], y = q->gpr[isa_rb(c->word)], t = q->gpr[isa_rt(c->word)];
    x = halves[0] == 'h' ? x >> 16 : x & 0xffff;
    y = halves[0] == 'l' ? y & 0xffff : y >> 16;
    int64_t product =
        is_unsigned ? (int64_t)x * y : (int64_t)isa_sign_extend(x, 16) * isa_sign_extend(y, 16);
    int64_t sum = negative ? -product : product;
    if (mac) sum += is_unsigned ? (int64_t)t : (int64_t)(int32_t)t;
    int64_t most = is_unsigned ? UINT32_MAX : INT32_MAX, least = is_unsigned ? 0 : INT32_MIN;
    bool over = sum > most || sum < least;
    if (over && saturates) sum = sum > most ? most : least;
    uint32_t xer = q->xer, cr = q->cr;
    if (overflows) xer = (xer & ~UINT32_C(0x40000000)) | (over ? UINT32_C(0xc0000000) : 0);
    int32_t result = (int32_t)(uint32_t)sum;
    if (c->row->flags & ISA_RC)
        cr = (cr & 0x0fffffff) | (result < 0 ? 8u : result > 0 ? 4u : 2u) << 28 | xer >> 31 << 28;
    if (c->ours.gpr[isa_rt(c->word)] != (uint32_t)result || c->ours.xer != xer || c->ours.cr != cr)
        fail_msg("seed %llu: %s: core %08x xer %08x cr %08x, oracle %08x %08x %08x",
                 (unsigned long long)c->p->seed, name, c->ours.gpr[isa_rt(c->word)], c->ours.xer,
                 c->ours.cr, (uint32_t)result, xer, cr);
    if (!mac || (is_unsigned && (saturates || overflows))) return;
    ACCEPT(c, gpr[isa_rt(c->word)], MAC_WRONG);
    ACCEPT(c, xer, MAC_WRONG);
    ACCEPT(c, cr, MAC_WRONG);
}

static void accept_integer(struct pair *c)
{
    unsigned rt = isa_rt(c->word);
    switch (c->p->id) {
    case ISA_MULHHWU ... ISA_NMACLHWSO_RC: check_halfwords(c); break;
    case ISA_MFTB:
    case ISA_MFSPR:
        if (isa_spr(c->word) == 268 || isa_spr(c->word) == 269) ACCEPT(c, gpr[rt], TIME_BASE);
        if (isa_spr(c->word) == 287 && c->theirs.signal == SIGTRAP && c->ours.signal == SIGILL) {
            c->rig->accepted[PVR_READ]++;
            c->theirs = c->ours;
        }
        break;
    case ISA_MTSPR:
        if (isa_spr(c->word) == 1)
            accept_bits(c, &c->theirs.xer, c->ours.xer, 0x1fffff80, XER_RESERVED);
        break;
    case ISA_ICBI:
        if (c->ours.address / 32 == c->theirs.address / 32) ACCEPT(c, address, ICBI_ADDRESS);
        break;
    case ISA_STWCX_RC:
        if ((c->ours.signal != SIGSEGV && c->ours.signal != SIGBUS) || c->theirs.signal != SIGTRAP)
            break;
        c->rig->accepted[STWCX_UNRESERVED]++;
        c->theirs = c->ours;
        break;
    default: break;
    }
}

static void accept_single(struct pair *c)
{
    enum fp_op op = op_of(c->row);
    if (c->ours.signal == SIGFPE && c->theirs.signal == SIGFPE && c->row->flags & ISA_RC1)
        accept_bits(c, &c->theirs.cr, c->ours.cr, 0x0f000000, RECORD_TRAPPED);
    if (op != FP_OP_NONE)
        accept_arith(c, op);
    else if (c->p->id == ISA_FCMPU || c->p->id == ISA_FCMPO)
        accept_compare(c);
    else if (c->p->id == ISA_MTFSB1 || c->p->id == ISA_MTFSB1_RC) {
        accept_fpscr(c, FP_FX, MTFSB1_FX);
        if (isa_rt(c->word) == 29) accept_fpscr(c, FP_NI, MTFSB1_NI);
    } else
        accept_integer(c);
}

/* --- Comparing ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t offset;
} registers[] = {
    {"pc", offsetof(struct core_answer, pc)},
    {"lr", offsetof(struct core_answer, lr)},
    {"ctr", offsetof(struct core_answer, ctr)},
    {"cr", offsetof(struct core_answer, cr)},
    {"xer", offsetof(struct core_answer, xer)},
    {"fpscr", offsetof(struct core_answer, fpscr)},
    {"signal", offsetof(struct core_answer, signal)},
    {"address", offsetof(struct core_answer, address)},
};

static void print_program(const struct core_program *p)
{
    const struct core_request *q = &p->request;
    char text[ISA_TEXT_MAX];
    for (unsigned i = 0; i < CORE_RANDOM_WORDS; i++) {
        if (q->words[i] == CORE_RANDOM_TRAP) continue;
        isa_disassemble(q->words[i], q->slot + 4 * i, text, sizeof text);
        print_message("# %08x: %08x  %s\n", q->slot + 4 * i, q->words[i], text);
    }
    print_message("# before: pc %08x lr %08x ctr %08x cr %08x xer %08x fpscr %08x\n", q->pc, q->lr,
                  q->ctr, q->cr, q->xer, q->fpscr);
    for (unsigned i = 0; i < 32; i++)
        print_message("#   r%-2u %08x  f%-2u %016llx\n", i, q->gpr[i], i,
                      (unsigned long long)q->fpr[i]);
}

/* Prints what differs and fails. */
static void report(const struct core_program *p, const struct core_answer *a,
                   const struct core_answer *b, const char *other)
{
    print_program(p);
    for (size_t i = 0; i < sizeof registers / sizeof registers[0]; i++) {
        uint32_t x, y;
        memcpy(&x, (const char *)a + registers[i].offset, sizeof x);
        memcpy(&y, (const char *)b + registers[i].offset, sizeof y);
        print_message("# %c %-7s core %08x  %s %08x\n", x == y ? ' ' : '!', registers[i].name, x,
                      other, y);
    }
    for (unsigned i = 0; i < 32; i++)
        if (a->gpr[i] != b->gpr[i])
            print_message("# ! r%-6u core %08x  %s %08x\n", i, a->gpr[i], other, b->gpr[i]);
    for (unsigned i = 0; i < 32; i++)
        if (a->fpr[i] != b->fpr[i])
            print_message("# ! f%-6u core %016llx  %s %016llx\n", i, (unsigned long long)a->fpr[i],
                          other, (unsigned long long)b->fpr[i]);
    for (unsigned i = 0; i < CORE_RANDOM_MEMORY / 4; i++)
        if (a->memory[i] != b->memory[i])
            print_message("# ! %08x core %08x  %s %08x\n",
                          CORE_RANDOM_SCRATCH + core_random_window(i / 32) + 4 * (i % 32),
                          a->memory[i], other, b->memory[i]);
    fail_msg("core and %s differ; again: test_core_qemu %llu", other, (unsigned long long)p->seed);
}

static void compare(struct rig *rig, const struct core_program *p, const struct core_answer *ours,
                    const struct core_answer *theirs)
{
    struct pair c = {.rig = rig, .p = p, .ours = *ours, .theirs = *theirs};
    if (p->kind == CORE_SINGLE) {
        c.row = isa_row(p->id);
        c.word = p->request.words[(p->request.pc - p->request.slot) / 4];
        accept_single(&c);
    } else {
        accept_fpscr(&c, FP_FR | FP_FI | UINT32_C(0x10) << FP_FPRF_SHIFT, SEQUENCE_FPRF);
        accept_bits(&c, &c.theirs.xer, c.ours.xer, 0x1fffff80, XER_RESERVED);
    }
    if (c.ours.address == 0) c.theirs.address = 0; /* qemu says it for data accesses only */
    if (memcmp(&c.ours, &c.theirs, sizeof c.ours) != 0) report(p, &c.ours, &c.theirs, "qemu");
}

/* --- Counts ---------------------------------------------------------------------------------- */

struct tally {
    uint64_t signals[CORE_SIGNAL_COUNT];
    uint64_t instructions, add, logical, shift, l_pipe, f_pipe;
};

/* What one executed instruction counts as, written down apart from core_signals.def. */
static void tally_word(struct tally *t, uint32_t word)
{
    enum isa_id id = isa_decode(word);
    assert_int_not_equal(id, ISA_ILLEGAL);
    uint64_t *s = t->signals;
    t->instructions++;
    core_raises_also(word, s);
    switch (core_class_of(id)) {
    case ISA_CLASS_NONE: break;
    case ISA_CLASS_ADD_SUB: t->add++; break;
    case ISA_CLASS_LOGICAL: t->logical++; break;
    case ISA_CLASS_SHROTMK: t->shift++; break;
    case ISA_CLASS_MULT_DIV: s[CORE_SIGNAL_I_MULT_DIV]++; break;
    case ISA_CLASS_BRANCH: s[CORE_SIGNAL_I_BRANCHES]++; break;
    case ISA_CLASS_TLB_OP: s[CORE_SIGNAL_I_TLB]++; break;
    case ISA_CLASS_PROCESS_CONTROL: s[CORE_SIGNAL_I_CONTROL]++; break;
    case ISA_CLASS_COMPARE:
    case ISA_CLASS_TRAP:
    case ISA_CLASS_OTHER: s[CORE_SIGNAL_I_OTHER]++; break;
    case ISA_CLASS_LOAD: s[CORE_SIGNAL_LOAD]++, s[CORE_SIGNAL_LOAD_INTEGER]++, t->l_pipe++; break;
    case ISA_CLASS_STORE:
        s[CORE_SIGNAL_STORE]++, s[CORE_SIGNAL_STORE_INTEGER]++, t->l_pipe++;
        break;
    case ISA_CLASS_DCACHE_OP: s[CORE_SIGNAL_DCACHE_OPS]++, t->l_pipe++; break;
    case ISA_CLASS_ICACHE_OP: s[CORE_SIGNAL_ICACHE_OPS]++, t->l_pipe++; break;
    case ISA_CLASS_SYNC: s[CORE_SIGNAL_SYNC]++, t->l_pipe++; break;
    case ISA_CLASS_FP_ADD_SUB_1:
        s[CORE_SIGNAL_FP_ADD]++, s[CORE_SIGNAL_FP_OPERATIONS]++, t->f_pipe++;
        break;
    case ISA_CLASS_FP_MULT_1:
        s[CORE_SIGNAL_FP_MULT]++, s[CORE_SIGNAL_FP_OPERATIONS]++, t->f_pipe++;
        break;
    case ISA_CLASS_FP_FMA_2:
        s[CORE_SIGNAL_FP_FMA]++, s[CORE_SIGNAL_FP_OPERATIONS]++, t->f_pipe++;
        break;
    case ISA_CLASS_FP_DIV_1:
        s[CORE_SIGNAL_FP_DIV]++, s[CORE_SIGNAL_FP_OPERATIONS]++, t->f_pipe++;
        break;
    case ISA_CLASS_FP_OTHER_1: s[CORE_SIGNAL_FP_OTHER]++, t->f_pipe++; break;
    case ISA_CLASS_FP_ADD_SUB_2:
        s[CORE_SIGNAL_FP_ADD_PAIR]++, s[CORE_SIGNAL_FP_OPERATIONS] += 2, t->f_pipe++;
        break;
    case ISA_CLASS_FP_MULT_2:
        s[CORE_SIGNAL_FP_MULT_PAIR]++, s[CORE_SIGNAL_FP_OPERATIONS] += 2, t->f_pipe++;
        break;
    case ISA_CLASS_FP_FMA_4:
        s[CORE_SIGNAL_FP_FMA_PAIR]++, s[CORE_SIGNAL_FP_OPERATIONS] += 2, t->f_pipe++;
        break;
    case ISA_CLASS_FP_OTHER_2: s[CORE_SIGNAL_FP_OTHER_PAIR]++, t->f_pipe++; break;
    case ISA_CLASS_FP_LOAD_SINGLE:
        s[CORE_SIGNAL_LOAD]++, s[CORE_SIGNAL_FP_LOAD_SINGLE]++, t->l_pipe++;
        break;
    case ISA_CLASS_FP_LOAD_DOUBLE:
    case ISA_CLASS_FP_LOAD_PAIR:
        s[CORE_SIGNAL_LOAD]++, s[CORE_SIGNAL_FP_LOAD_DOUBLE]++, t->l_pipe++;
        break;
    case ISA_CLASS_FP_LOAD_QUAD:
        s[CORE_SIGNAL_LOAD]++, s[CORE_SIGNAL_FP_LOAD_QUAD]++, t->l_pipe++;
        break;
    case ISA_CLASS_FP_STORE_SINGLE:
        s[CORE_SIGNAL_STORE]++, s[CORE_SIGNAL_FP_STORE_SINGLE]++, t->l_pipe++;
        break;
    case ISA_CLASS_FP_STORE_DOUBLE:
    case ISA_CLASS_FP_STORE_PAIR:
        s[CORE_SIGNAL_STORE]++, s[CORE_SIGNAL_FP_STORE_DOUBLE]++, t->l_pipe++;
        break;
    case ISA_CLASS_FP_STORE_QUAD:
        s[CORE_SIGNAL_STORE]++, s[CORE_SIGNAL_FP_STORE_QUAD]++, t->l_pipe++;
        break;
    case ISA_CLASS_COUNT: break;
    }
}

/* Every signal the core counted since `before` against a tally. Which of the I and J pipes an
 * instruction took is the model's choice; their sums are not. Fetches are of blocks, not of
 * instructions, and left out. */
static const char *check_counts(const uint64_t *before, const uint64_t *after,
                                const struct tally *t)
{
    uint64_t d[CORE_SIGNAL_COUNT];
    for (unsigned i = 0; i < CORE_SIGNAL_COUNT; i++)
        d[i] = after[i] - before[i];
    if (d[CORE_SIGNAL_INSTRUCTIONS] != t->instructions) return "instructions";
    if (d[CORE_SIGNAL_I_ADD] + d[CORE_SIGNAL_J_ADD] != t->add) return "add";
    if (d[CORE_SIGNAL_I_LOGICAL] + d[CORE_SIGNAL_J_LOGICAL] != t->logical) return "logical";
    if (d[CORE_SIGNAL_I_SHIFT] + d[CORE_SIGNAL_J_SHIFT] != t->shift) return "shift";
    if (d[CORE_SIGNAL_I_INSTRUCTIONS] + d[CORE_SIGNAL_J_INSTRUCTIONS] + t->l_pipe + t->f_pipe !=
        t->instructions)
        return "pipes";
    if (d[CORE_SIGNAL_J_INSTRUCTIONS] !=
        d[CORE_SIGNAL_J_ADD] + d[CORE_SIGNAL_J_LOGICAL] + d[CORE_SIGNAL_J_SHIFT])
        return "J pipe";
    static const uint8_t seen[] = {CORE_SIGNAL_INSTRUCTIONS, CORE_SIGNAL_I_INSTRUCTIONS,
                                   CORE_SIGNAL_I_ADD,        CORE_SIGNAL_J_INSTRUCTIONS,
                                   CORE_SIGNAL_I_LOGICAL,    CORE_SIGNAL_I_SHIFT,
                                   CORE_SIGNAL_J_ADD,        CORE_SIGNAL_J_LOGICAL,
                                   CORE_SIGNAL_J_SHIFT,      CORE_SIGNAL_FETCH};
    for (size_t i = 0; i < sizeof seen; i++)
        d[seen[i]] = 0;
    if (d[CORE_SIGNAL_FP_FLOPS] !=
        d[CORE_SIGNAL_FP_OPERATIONS] + d[CORE_SIGNAL_FP_FMA] + 2 * d[CORE_SIGNAL_FP_FMA_PAIR])
        return "flops";
    d[CORE_SIGNAL_FP_FLOPS] = 0;
    for (unsigned i = 0; i < CORE_SIGNAL_COUNT; i++)
        if (d[i] != t->signals[i]) return "a class";
    return NULL;
}

static void run_and_count(struct machine *m, const struct core_program *p, const struct tally *t,
                          const struct core_answer *expected, const struct core_regs *stepped)
{
    uint64_t before[CORE_SIGNAL_COUNT], after[CORE_SIGNAL_COUNT];
    struct core_answer a;
    if (m->programs + 1 == GROUP) machine_fresh(m);
    core_signal_counts(m->core, before);
    run_ours(m, p, &a);
    core_signal_counts(m->core, after);
    if (expected && memcmp(&a, expected, sizeof a) != 0) report(p, &a, expected, "stepping");
    if (stepped && memcmp(m->regs.fpr2, stepped->fpr2, sizeof m->regs.fpr2) != 0)
        fail_msg("secondary registers after stepping differ; again: test_core_qemu %llu",
                 (unsigned long long)p->seed);
    const char *wrong = check_counts(before, after, t);
    if (!wrong) return;
    print_program(p);
    fail_msg(
        "count of %s: %llu instructions counted, %llu executed; again: test_core_qemu %llu", wrong,
        (unsigned long long)(after[CORE_SIGNAL_INSTRUCTIONS] - before[CORE_SIGNAL_INSTRUCTIONS]),
        (unsigned long long)t->instructions, (unsigned long long)p->seed);
}

/* Executes a program one instruction at a time, by traps in place of every other word, and tallies
 * what it did. */
static void step(struct rig *rig, const struct core_program *p, struct tally *t,
                 struct core_answer *a)
{
    struct core_regs *regs = &rig->even.regs;
    struct core_exit exit;
    load_program(&rig->even, p, 0);
    load_program(&rig->odd, p, 1);
    load_state(&rig->even, p, regs);
    memset(t, 0, sizeof *t);
    for (;;) {
        uint32_t pc = regs->pc, at = (pc - p->request.slot) / 4;
        struct machine *m = at & 1 ? &rig->odd : &rig->even;
        core_switch(m->core, regs, m->mem);
        exit = core_run(m->core, 1);
        bool stopped = exit.reason != CORE_BUDGET && regs->pc == pc;
        if (stopped) break;
        tally_word(t, p->request.words[at]);
        rig->stepped++;
        assert_true(t->instructions < 100000);
    }
    read_state(&rig->even, regs, exit, a);
}

/* --- Batches --------------------------------------------------------------------------------- */

enum { FREE = 1 }; /* in place of a row: a sequence of any rows, which only we run */

/* A seed names its program: 37 random bits, the slot, the kind, the row. */
static uint64_t make_seed(uint64_t random, size_t index, enum core_kind kind, enum isa_id id)
{
    return random << 27 | (uint64_t)index << 12 | (uint64_t)kind << 10 | id;
}

static void make_program(const struct rig *rig, struct core_program *p, uint64_t seed)
{
    uint32_t slot = CORE_RANDOM_CODE + (uint32_t)(seed >> 12 & 0x7fff) * CORE_RANDOM_SLOT;
    switch ((enum core_kind)(seed >> 10 & 3)) {
    case CORE_SINGLE: core_random_single(p, seed, (enum isa_id)(seed & 0x3ff), slot); break;
    case CORE_SEQUENCE:
        core_random_sequence(p, seed, seed & FREE ? &rig->all : &rig->rows, slot);
        break;
    case CORE_SELF_MODIFYING:
    case CORE_UNSYNCED:
        core_random_self_modifying(p, seed, &rig->rows, slot, (enum core_kind)(seed >> 10 & 3));
        break;
    }
}

/* Counts on our own machine. One instruction was executed if the pc is not its own any more. */
static void check_program_counts(struct rig *rig, const struct core_program *p,
                                 const struct core_answer *ours)
{
    const struct core_request *q = &p->request;
    struct tally t = {0};
    struct core_answer stepped = *ours;
    switch (p->kind) {
    case CORE_SINGLE:
        if (ours->pc != q->pc) tally_word(&t, q->words[(q->pc - q->slot) / 4]);
        if (p->id == ISA_MFTB || p->id == ISA_MFSPR)
            return run_and_count(&rig->whole, p, &t, NULL, NULL); /* time passes */
        break;
    case CORE_SEQUENCE: step(rig, p, &t, &stepped); break;
    default:
        for (unsigned i = 0; i < p->executed; i++)
            tally_word(&t, p->words[i]);
    }
    run_and_count(&rig->whole, p, &t, &stepped, p->kind == CORE_SEQUENCE ? &rig->even.regs : NULL);
}

static void compare_batch(struct rig *rig, unsigned cpu, size_t count)
{
    run_theirs(rig, cpu, count);
    for (size_t i = 0; i < count; i++) {
        const struct core_program *p = &rig->programs[i];
        struct core_answer ours;
        run_ours(&rig->whole, p, &ours);
        compare(rig, p, &ours, &rig->theirs[i]);
        check_program_counts(rig, p, &ours);
        if (p->kind == CORE_SINGLE) rig->compared[p->id]++;
    }
}

/* Which CPU has which row: the first that does not call every attempt illegal. */
static void probe(struct rig *rig)
{
    uint64_t state = 1;
    for (unsigned id = 0; id < ISA_COUNT; id++)
        rig->cpu_of[id] = id && isa_row((enum isa_id)id)->flags & ISA_PRIVILEGED ? 0 : NO_CPU;
    size_t count = 0;
    for (unsigned i = 0; i < PROBES * (ISA_COUNT - 1); i++, count++)
        make_program(rig, &rig->programs[i],
                     make_seed(random_next(&state), i, CORE_SINGLE, (enum isa_id)(1 + i / PROBES)));
    for (unsigned cpu = CPUS; cpu-- > 0;) {
        run_theirs(rig, cpu, count);
        for (size_t i = 0; i < count; i++)
            if (rig->theirs[i].signal != SIGILL) rig->cpu_of[1 + i / PROBES] = cpu;
    }
    for (unsigned id = 1; id < ISA_COUNT; id++)
        rig->rows.has[id] = rig->cpu_of[id] == 0;
    memset(&rig->all, true, sizeof rig->all);
}

static void rig_free(struct rig *rig)
{
    char program[96];
    snprintf(program, sizeof program, "%s/insn_guest", rig->folder);
    unlink(program);
    unlink(rig->requests);
    unlink(rig->answers);
    rmdir(rig->folder);
    machine_free(&rig->whole);
    machine_free(&rig->even);
    machine_free(&rig->odd);
    free(rig->programs);
    free(rig->theirs);
    free(rig);
}

static int set_up(void **state)
{
    struct rig *rig = base_calloc(1, sizeof *rig);
    snprintf(rig->folder, sizeof rig->folder, "/tmp/chiliad-core-XXXXXX");
    assert_non_null(mkdtemp(rig->folder));
    snprintf(rig->requests, sizeof rig->requests, "%s/requests", rig->folder);
    snprintf(rig->answers, sizeof rig->answers, "%s/answers", rig->folder);
    rig->programs = base_calloc(BATCH, sizeof *rig->programs);
    rig->theirs = base_calloc(BATCH, sizeof *rig->theirs);
    for (unsigned i = 0; i < 2;
         i++) { /* scratch memory: of the whole machine, of the two that step */
        int fd = memfd_create("scratch", 0);
        assert_true(fd >= 0 && ftruncate(fd, 3 * PAGE) == 0);
        machine_new(i ? &rig->even : &rig->whole, fd);
        if (i) machine_new(&rig->odd, fd);
        close(fd);
        memset((i ? rig->even : rig->whole).mem->base + CORE_RANDOM_SCRATCH + PAGE, 0x5a, 3 * PAGE);
    }
    probe(rig);
    *state = rig;
    return 0;
}

static int tear_down(void **state)
{
    rig_free(*state);
    return 0;
}

/* --- The tests ------------------------------------------------------------------------------- */

static void compare_many(struct rig *rig, unsigned cpu, uint64_t total, uint64_t random,
                         enum core_kind kind)
{
    enum isa_id ids[ISA_COUNT];
    unsigned rows = 0;
    for (unsigned id = 1; id < ISA_COUNT; id++)
        if (rig->cpu_of[id] == cpu) ids[rows++] = (enum isa_id)id;
    for (uint64_t done = 0; done < total;) {
        size_t count = total - done < BATCH ? (size_t)(total - done) : BATCH;
        for (size_t i = 0; i < count; i++)
            make_program(rig, &rig->programs[i],
                         make_seed(random_next(&random), i, kind,
                                   kind == CORE_SINGLE ? ids[(done + i) % rows] : 0));
        compare_batch(rig, cpu, count);
        done += count;
    }
}

/* Every row that a user-mode program can execute, but FP2 and the call-through, which no other
 * machine has, and the reserved no-ops. Supervisor rows are compared too: both sides refuse them.
 */
static void BGL_01_every_instruction_agrees_with_qemu(void **state)
{
    struct rig *rig = *state;
    compare_many(rig, 0, random_trials(60000), 11, CORE_SINGLE);
    for (unsigned cpu = 1; cpu < CPUS; cpu++)
        compare_many(rig, cpu, random_trials(2000), 11 + cpu, CORE_SINGLE);
    unsigned user = 0, tested = 0, supervisor = 0;
    uint64_t singles = 0;
    for (unsigned id = 1; id < ISA_COUNT; id++) {
        const struct isa_row *row = isa_row((enum isa_id)id);
        bool elsewhere =
            row->unit == ISA_UNIT_FP2 || row->unit == ISA_UNIT_CALLTHRU || id == ISA_NOP_RESERVED;
        singles += rig->compared[id];
        *(row->flags & ISA_PRIVILEGED ? &supervisor : &user) += 1;
        if (!(row->flags & ISA_PRIVILEGED)) tested += rig->compared[id] > 0;
        if ((rig->compared[id] == 0) != elsewhere)
            fail_msg("'%s' was compared %llu times", row->name,
                     (unsigned long long)rig->compared[id]);
    }
    print_message("# %llu single instructions, %u of %u user-mode rows, all %u supervisor rows\n",
                  (unsigned long long)singles, tested, user, supervisor);
}

static void BGL_01_sequences_agree_with_qemu_and_count_exactly(void **state)
{
    struct rig *rig = *state;
    uint64_t total = random_trials(8000);
    compare_many(rig, 0, total, 21, CORE_SEQUENCE);
    print_message("# %llu sequences, %llu instructions\n", (unsigned long long)total,
                  (unsigned long long)rig->stepped);
}

static void BGL_01_changed_code_runs_and_counts_exactly(void **state)
{
    struct rig *rig = *state;
    uint64_t total = random_trials(2000);
    compare_many(rig, 0, total, 31, CORE_SELF_MODIFYING);
    print_message("# %llu programs that change themselves\n", (unsigned long long)total);
}

/* Every user-mode row, FP2 too, in blocks and one at a time: what the FPU puts off (fp_sync) and
 * what a block counts when an enabled exception stops it is seen nowhere else. */
static void BGL_01_blocks_equal_single_steps_and_count_exactly(void **state)
{
    struct rig *rig = *state;
    uint64_t total = random_trials(10000), random = 51, before = rig->stepped;
    unsigned exceptions = 0;
    for (uint64_t i = 0; i < total; i++) {
        struct core_program p;
        struct core_answer ours;
        make_program(rig, &p,
                     make_seed(random_next(&random), i % BATCH, CORE_SEQUENCE, (enum isa_id)FREE));
        run_ours(&rig->whole, &p, &ours);
        exceptions += ours.signal == SIGFPE;
        check_program_counts(rig, &p, &ours);
    }
    assert_true(exceptions > 0);
    print_message("# %llu sequences, %llu instructions, %u enabled exceptions\n",
                  (unsigned long long)total, (unsigned long long)(rig->stepped - before),
                  exceptions);
}

/* Each row of the table on its own, FP2 too, until it was executed eight times: what it raises is
 * what the list of classes says (core_classes.h), and nothing else. Planted faults that were
 * caught: mulhwu counted as an add, quadword loads as doubles. */
static void BGL_01_every_instruction_of_the_table_counts_as_the_manual_says(void **state)
{
    enum { TIMES = 8, TRIES = 400 };
    struct rig *rig = *state;
    uint64_t random = 61;
    unsigned rows = 0;
    for (unsigned id = 1; id < ISA_COUNT; id++) {
        const struct isa_row *row = isa_row((enum isa_id)id);
        unsigned done = 0;
        assert_int_not_equal(core_class_of((enum isa_id)id), ISA_CLASS_COUNT);
        if (row->flags & ISA_PRIVILEGED || row->unit == ISA_UNIT_CALLTHRU) continue;
        for (unsigned i = 0; i < TRIES && done < TIMES; i++) {
            struct core_program p;
            struct core_answer ours;
            make_program(rig, &p,
                         make_seed(random_next(&random), i % BATCH, CORE_SINGLE, (enum isa_id)id));
            run_ours(&rig->whole, &p, &ours);
            check_program_counts(rig, &p, &ours);
            done += ours.pc != p.request.pc;
        }
        if (done < TIMES) fail_msg("'%s' was executed %u times", row->name, done);
        rows++;
    }
    print_message("# %u rows\n", rows);
}

/* What a core stores into its own path runs from the next instruction on, and what it has run stays
 * counted. */
static void BGL_01_code_changed_in_the_running_block_counts_exactly(void **state)
{
    struct rig *rig = *state;
    uint64_t total = random_trials(5000), random = 41;
    for (uint64_t i = 0; i < total; i++) {
        struct core_program p;
        struct core_answer ours, expected;
        make_program(rig, &p, make_seed(random_next(&random), i % BATCH, CORE_UNSYNCED, 0));
        run_ours(&rig->whole, &p, &ours);
        check_program_counts(rig, &p, &ours);
        if (p.behind) continue;
        struct core_program changed = p; /* before it starts */
        changed.request.words[p.place] = p.patch;
        run_ours(&rig->whole, &changed, &expected);
        if (memcmp(&ours, &expected, sizeof ours) != 0)
            report(&p, &ours, &expected, "changed before");
    }
    print_message("# %llu programs that change what they are running\n", (unsigned long long)total);
}

/* The one row of a scalar user-mode program that qemu-ppc lacks. */
static void BGL_01_reserved_nops_do_nothing(void **state)
{
    struct rig *rig = *state;
    for (unsigned i = 0; i < 8; i++) {
        struct core_program p;
        struct core_answer ours;
        make_program(rig, &p, make_seed(i, i, CORE_SINGLE, ISA_NOP_RESERVED));
        uint32_t *word = &p.request.words[(p.request.pc - p.request.slot) / 4];
        *word |= i << 6;
        assert_int_equal(isa_decode(*word), ISA_NOP_RESERVED);
        run_ours(&rig->whole, &p, &ours);
        check_program_counts(rig, &p, &ours);
        assert_memory_equal(ours.gpr, p.request.gpr, sizeof ours.gpr);
        assert_memory_equal(ours.fpr, p.request.fpr, sizeof ours.fpr);
        assert_int_equal(ours.pc, p.request.pc + 4);
        assert_int_equal(ours.cr, p.request.cr);
        assert_int_equal(ours.xer, p.request.xer);
    }
}

static void accepted_differences_are_listed(void **state)
{
    struct rig *rig = *state;
    for (unsigned i = 1; i < ACCEPTED; i++)
        if (rig->accepted[i])
            print_message("# accepted %8llu: %s\n", (unsigned long long)rig->accepted[i],
                          accepted[i]);
}

static int again(uint64_t seed)
{
    struct rig *rig;
    set_up((void **)&rig);
    make_program(rig, rig->programs, seed);
    print_program(rig->programs);
    unsigned cpu = rig->programs->kind == CORE_SINGLE ? rig->cpu_of[rig->programs->id] : 0;
    compare_batch(rig, cpu == NO_CPU ? 0 : cpu,
                  1); /* FREE and CORE_UNSYNCED: qemu may differ, counts may not */
    print_message("# no difference\n");
    rig_free(rig);
    return 0;
}

static uint64_t wanted_seed;

static void one_program(void **state)
{
    (void)state;
    again(wanted_seed);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(BGL_01_every_instruction_agrees_with_qemu),
        cmocka_unit_test(BGL_01_every_instruction_of_the_table_counts_as_the_manual_says),
        cmocka_unit_test(BGL_01_sequences_agree_with_qemu_and_count_exactly),
        cmocka_unit_test(BGL_01_blocks_equal_single_steps_and_count_exactly),
        cmocka_unit_test(BGL_01_changed_code_runs_and_counts_exactly),
        cmocka_unit_test(BGL_01_code_changed_in_the_running_block_counts_exactly),
        cmocka_unit_test(BGL_01_reserved_nops_do_nothing),
        cmocka_unit_test(accepted_differences_are_listed),
    };
    const struct CMUnitTest one[] = {cmocka_unit_test(one_program)};
    if (argc > 1) {
        wanted_seed = strtoull(argv[1], NULL, 0);
        return cmocka_run_group_tests_name("core_qemu", one, NULL, NULL);
    }
    return cmocka_run_group_tests_name("core_qemu", tests, set_up, tear_down);
}
