/* Inside the x86-64 back end.
 *
 * A function is a list of nodes in blocks (jit_fast.c). Blocks are of two kinds. An anchor may be
 * jumped to from anywhere, and no value of another block is used in it: the beginnings of guest
 * blocks, ways out. From each anchor the likely way is followed and becomes one straight piece of
 * code, a trace; what leaves it is a detour, placed behind all traces, that ends elsewhere or comes
 * back to the trace.
 *
 * jit_fast_plan.c follows the traces before, numbers their nodes, and says how long each value is
 * used, which nodes are done together with their user, and which variables stay in a register of
 * the host's throughout: those that loops need, as many as fit. jit_fast_regs.c knows what is in
 * which register at each point. On a trace, a variable that is set once more later on is not
 * written to its memory unless its register is needed before; a detour begins by writing what is
 * pending so. Memory is right wherever C can look at it. jit_fast_make.c makes the instructions of
 * a node, jit_fast_flow.c puts them together.
 */
#ifndef JIT_FAST_H
#define JIT_FAST_H

#include "base/mem.h"
#include "machine/jit/jit_ir.h"
#include "machine/jit/jit_miss.h"
#include "machine/jit/jit_x86.h"

enum node_kind {
    NODE_NONE,
    NODE_CONST,
    NODE_ARGUMENT,
    NODE_BINARY,
    NODE_TEST,
    NODE_ORDER,
    NODE_COMPARE,
    NODE_SELECT,
    NODE_CONVERT,
    NODE_NEGATE,
    NODE_FMA,
    NODE_SWAP,
    NODE_WHOLE,
    NODE_WIDEN,
    NODE_WORDS, /* a, b: high, low; how: its sign is changed */
    NODE_LEADING_ZEROS,
    NODE_ROTATE,
    NODE_LOAD,
    NODE_STORE,
    NODE_PREFETCH,
    NODE_GET,
    NODE_SET,
    NODE_RELOAD,
    NODE_ADD_TO,
    NODE_CALL,
    NODE_ASK,  /* a: pointer, b: number, c: where the code is; done by the end of its block */
    NODE_VALUE /* of a variable, where ways meet */
};

struct node {
    uint8_t kind, type, how; /* enum ir_type; enum ir_binary and the like */
    bool lazy;               /* done where it is used */
    bool by_branch;          /* its user is the end of its block */
    bool homed, again; /* of a change of a variable: it goes to the variable's memory, too; the
                          trace has another */
    int a, b, c;       /* operands; of memory: base, index, what is stored */
    uint64_t imm;      /* constant, offset, address of a function */
    uint32_t mask;     /* of a question */
    unsigned variable;
    int next, block;
    int uses, user; /* how many; the last */
    int last;       /* position of the last use on the trace, */
    int kept;       /* and of the last of a variable that has no other place */
    int same;       /* another node that it is, or 0 */
    int slot;       /* on the stack, from 1 on */
    int set;        /* the variable that it becomes, from 1 on */
    int position;
    int next_get; /* of an access to a variable: position of the next that reads what it left, or 0
                   */
};

enum ending { END_NONE, END_JUMP, END_BRANCH, END_ASK, END_RETURN, END_GO };

struct fast_block {
    bool anchor, in_trace;
    bool made;       /* of an anchor: its trace */
    uint64_t weight; /* of an anchor: how often it runs, about */
    int first, last; /* nodes */
    enum ending ending;
    enum ir_odds odds;
    int condition;     /* or where to go */
    int yes, no;       /* jump: yes */
    int follows;       /* the next block of the trace, or 0 */
    int position, end; /* of its first node, and of its ending */
    unsigned label;
    struct state *state; /* on arrival, for detours that come back */
    int changed;         /* what those change: list in fast->changes, or 0 */
};

struct variable {
    uint8_t type;
    bool has_home;
    int home; /* node of the base */
    uint64_t offset;
    int first;    /* node of the first value, without a home */
    int last_get; /* position */
    int pin;      /* register that it is in throughout, or NONE */
    uint64_t gain;
    int seen, access; /* the trace, and the node, that last accessed it, */
    int change;       /* and the last change in that trace, or 0 */
    int next_get;     /* of that access, while code is made */
};

enum {
    REGISTERS = 32,
    VECTOR = 16,
    SCRATCH = RAX,
    SCRATCH_ADDRESS = R11,
    TIME = R13,
    SCRATCH_VECTOR = VECTOR + 13,
    SWAPS = VECTOR + 12
};
#define BIT(reg) (UINT32_C(1) << (reg))
/* Those that values are in; others have one use throughout (jit_fast_flow.c). */
#define PLAIN_REGISTERS                                                                            \
    (BIT(RCX) | BIT(RDX) | BIT(RBX) | BIT(RSI) | BIT(R8) | BIT(R9) | BIT(R10) | BIT(R12))
#define VECTOR_REGISTERS UINT32_C(0x0FFF0000)
/* Those of them that a question changes (jit_miss.c). */
#define LOST_REGISTERS (BIT(RDX) | BIT(R8) | BIT(R9) | BIT(R10))
/* The frame: the limit, constants, registers that a question keeps, slots from 1 on. Calls find rsp
 * on 16 bytes. Of FRAME_SIGN_32 16 bytes are read. */
enum {
    KEPT = 4,
    SLOTS = 128,
    FRAME_LIMIT = 0,
    FRAME_2 = 8,
    FRAME_8 = 12,
    FRAME_SIGN = 16,
    FRAME_SIGN_32 = 20, /* its upper half */
    FRAME_KEPT = 40,
    FRAME_SLOTS = 80,
    FRAME = 104 + 8 * SLOTS
};

/* What is known at a point of the code: the value in each register, and for each variable its value
 * (0: in memory only) and whether that is yet to be written to memory; it is a constant or in a
 * register then. */
struct known_variable {
    int value;
    bool pending;
};
struct state {
    int content[REGISTERS];
    int tested; /* where a detour begins: the number of which the scratch register has the index of
                   a byte that was tested (make_index), or 0 */
    struct known_variable variables[];
};

struct detour {
    unsigned label;
    int block, position;
    struct state *state;
    struct detour *next;
};

struct change {
    unsigned variable;
    int next;
};

struct ir {
    struct x86 x;
    struct node *nodes;
    struct fast_block *blocks;
    struct variable *variables;
    struct change *changes;
    size_t node_count, node_capacity, block_count, block_capacity, variable_count,
        variable_capacity;
    size_t change_count, change_capacity;
    int here; /* block that is built */
    /* While code is made: */
    struct state *now;
    struct arena arena; /* of states */
    struct detour *detours;
    uint32_t pinned, locked; /* locked: not to be given out, in a detour */
    int position, slots;
    int end; /* position of the end of the trace */
    bool in_detour, failed;
    unsigned leave; /* label */
    size_t target;  /* where other code jumps to */
};

/* The node that n stands for. */
static inline int node_real(const struct ir *f, int n)
{
    while (f->nodes[n].same)
        n = f->nodes[n].same;
    return n;
}
static inline bool is_float(unsigned type)
{
    return type == IR_F32 || type == IR_F64;
}
static inline bool is_wide(unsigned type)
{
    return type == IR_I64 || type == IR_POINTER;
}
static inline unsigned width(unsigned type)
{
    return is_wide(type) ? X86_W : 0;
}
static inline bool is_const(const struct ir *f, int n)
{
    return f->nodes[n].kind == NODE_CONST;
}

/* What some registers have beyond the argument they stand for. rbp points behind the first of the
 * guest's registers, so that more of them are near. r14 and r15, whose arguments begin pages, have
 * the lowest bytes 1 and 2: a test of memory with such a byte, and not with a constant, is one
 * operation of the host's together with its jump. */
enum { REGS_BIAS = 128, MEMORY_BIAS = 1 };
static inline int32_t bias_of(const struct ir *f, int n)
{
    static const uint8_t biases[] = {0, REGS_BIAS, MEMORY_BIAS, LINES_BIAS, 0, 0};
    return f->nodes[n].kind == NODE_ARGUMENT ? biases[f->nodes[n].imm] : 0;
}

/* Plan: traces, positions, uses, lazy nodes, pins. */
void fast_plan(struct ir *f);

/* Registers. */
void state_clear(struct ir *f,
                 bool bare); /* as at an anchor: pinned variables only; bare: not even them */
struct state *state_new(struct ir *f);
struct state *state_copy(struct ir *f, const struct state *state);
void state_become(struct ir *f, const struct state *state);
/* Makes `state`, of a detour from `position`, one that is also right for what is now; false when it
 * cannot be. */
bool state_share(struct ir *f, struct state *state, int position);
void reg_load(struct ir *f, unsigned type, int reg, struct x86_at from);
void reg_store(struct ir *f, unsigned type, int reg, struct x86_at to);
bool reg_needed(const struct ir *f, int n);    /* whether a value is used behind this point */
int reg_find(const struct ir *f, int n);       /* the register that has it, or NONE */
int reg_use(struct ir *f, int n, int scratch); /* likewise, or loaded into the scratch one */
int reg_new(struct ir *f, int n, int prefer, uint32_t avoid); /* for what node n makes */
void reg_clear(struct ir *f, int reg);                        /* its content moves elsewhere */
void reg_move(struct ir *f, int to, int from);
/* Around a question, behind which, in a detour, `wanted` is the state: registers of LOST_REGISTERS
 * that are needed still, and what has their values meanwhile. */
struct kept {
    unsigned count;
    struct {
        int reg;
        unsigned type;
        struct x86_at at;
    } value[KEPT];
};
void regs_keep(struct ir *f, const struct state *wanted, struct kept *kept);
void regs_restore(struct ir *f, const struct kept *kept);
void variable_get(struct ir *f, int n);
void variable_set(struct ir *f, const struct node *set);
void variables_write(struct ir *f); /* all that are pending */
void variable_reload(struct ir *f, int n);
void state_anchor(struct ir *f);            /* makes it that of an anchor, which is jumped to */
void state_arrive(struct ir *f, int block); /* on the trace, where detours come back */
void state_meet(struct ir *f, const struct fast_block *block);   /* in a detour that comes back */
bool state_is_met(struct ir *f, const struct fast_block *block); /* whether that would do nothing */

/* Making; false when it cannot be done. */
bool fast_make(struct ir *f);
void fast_node(struct ir *f, int n);
void fast_jump_if(struct ir *f, int n, bool sense, unsigned label);
int fast_tested(const struct ir *f, int condition); /* state.tested behind a jump on it */
void const_store(struct ir *f, unsigned type, uint64_t imm, struct x86_at to);
struct x86_at fast_slot(const struct ir *f, int n);

#endif
