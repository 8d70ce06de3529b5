/* Inside the x86-64 back end.
 *
 * A function is a list of nodes in basic blocks (jit_ir.c). A *head* is a block that may be jumped
 * to from anywhere; it uses variables, but no value of another block. Entries of guest blocks and
 * exits of the region are heads. A *trace* is the likely path from a head, generated as one
 * straight piece of code. A *side exit* is a path that leaves a trace. It is generated behind all
 * traces, and ends elsewhere or rejoins its trace.
 *
 * | file | pass |
 * |---|---|
 * | jit_liveness.c | traces, positions of nodes, live ranges, folded nodes, pinned variables |
 * | jit_select.c, jit_select_fp.c | instruction selection, node by node |
 * | jit_regalloc.c, jit_join.c | register allocation in one pass; states where paths join |
 * | jit_layout.c | traces, side exits, entry and return |
 * | jit_x86.c | assembler |
 *
 * Invariants. (1) A variable that is set again later in the trace is written to its memory only
 * when it is spilled. (2) A side exit first writes all such pending variables. (3) So memory is
 * right wherever C code may read it.
 */
#ifndef JIT_BACKEND_H
#define JIT_BACKEND_H

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
    NODE_PROBE, /* a: pointer, b: number, c: offset of the code; generated at the end of its block
                 */
    NODE_VALUE  /* of a variable, where paths join */
};

struct node {
    uint8_t kind, type, how; /* enum ir_type; enum ir_binary and the like */
    bool lazy;               /* folded: generated where it is used */
    bool by_branch;          /* its user is the end of its block */
    bool homed, again; /* of a change of a variable: it goes to the variable's memory, too; the
                          trace has another */
    int a, b, c;       /* operands; of memory: base, index, what is stored */
    uint64_t imm;      /* constant, offset, address of a function */
    uint32_t mask;     /* of a probe's number */
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

enum ending { END_NONE, END_JUMP, END_BRANCH, END_PROBE, END_RETURN, END_GO };

struct basic_block {
    bool head, in_trace;
    bool generated;  /* of a head: its trace */
    uint64_t weight; /* of a head: how often it runs, about */
    int first, last; /* nodes */
    enum ending ending;
    enum ir_odds odds;
    int condition;     /* or where to go */
    int yes, no;       /* jump: yes */
    int follows;       /* the next block of the trace, or 0 */
    int position, end; /* of its first node, and of its ending */
    unsigned label;
    struct state *state; /* on arrival, for side exits that rejoin */
    int changed;         /* variables that these change: list in ir.changes, or 0 */
};

struct variable {
    uint8_t type;
    bool has_home;
    int home; /* node of the base */
    uint64_t offset;
    int first;    /* node of the first value, without a home */
    int last_get; /* position */
    int pin;      /* register that holds it in the whole region, or NONE */
    uint64_t gain;
    int seen, access; /* the trace, and the node, that last accessed it, */
    int change;       /* and the last change in that trace, or 0 */
    int next_get;     /* of that access, during code generation */
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
/* Registers that are allocated to values; the others have a fixed use (jit_layout.c). */
#define PLAIN_REGISTERS                                                                            \
    (BIT(RCX) | BIT(RDX) | BIT(RBX) | BIT(RSI) | BIT(R8) | BIT(R9) | BIT(R10) | BIT(R12))
#define VECTOR_REGISTERS UINT32_C(0x0FFF0000)
/* Registers that a probe clobbers (jit_miss.c). */
#define CLOBBERED_REGISTERS (BIT(RDX) | BIT(R8) | BIT(R9) | BIT(R10))
/* The frame: constants, registers that a probe saves, slots from 1 on. Calls find rsp
 * on 16 bytes. Of FRAME_SIGN_32 16 bytes are read. */
enum {
    KEPT = 4,
    SLOTS = 128,
    FRAME_2 = 8,
    FRAME_8 = 12,
    FRAME_SIGN = 16,
    FRAME_SIGN_32 = 20, /* its upper half */
    FRAME_KEPT = 40,
    FRAME_SLOTS = 80,
    FRAME = 104 + 8 * SLOTS
};

/* The allocator's state at a point of the code: the value in each register, and for each variable
 * its value (0: in memory only) and whether that is yet to be written to memory; it is a constant
 * or in a register then. */
struct variable_state {
    int value;
    bool pending;
};
struct state {
    int content[REGISTERS];
    int tested; /* where a side exit begins: the number of which the scratch register has the index
                   of a byte that was tested (make_index), or 0 */
    struct variable_state variables[];
};

struct side_exit {
    unsigned label;
    int block, position;
    struct state *state;
    struct side_exit *next;
};

struct change {
    unsigned variable;
    int next;
};

struct ir {
    struct x86 x;
    struct node *nodes;
    struct basic_block *blocks;
    struct variable *variables;
    struct change *changes;
    size_t node_count, node_capacity, block_count, block_capacity, variable_count,
        variable_capacity;
    size_t change_count, change_capacity;
    int here;          /* block that is built */
    int32_t shared_at; /* offset of ir_shared */
    /* During code generation: */
    struct state *now;
    struct arena arena; /* of states */
    struct side_exit *exits;
    uint32_t pinned, locked; /* locked: not allocatable, in a side exit */
    int position, slots;
    int end; /* position of the end of the trace */
    bool in_exit, failed;
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
static inline struct node *node_at(struct ir *f, int n)
{
    return &f->nodes[node_real(f, n)];
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

/* Offsets of some argument registers from their argument. rbp points behind the first guest
 * registers, so that more of them have a displacement of one byte. r14 and r15, whose arguments are
 * page-aligned, have the lowest bytes 1 and 2: the host fuses a test of memory with a register and
 * its jump into one operation, but not a test with a constant. */
enum { REGS_BIAS = 128, MEMORY_BIAS = 1 };
static inline int32_t bias_of(const struct ir *f, int n)
{
    static const uint8_t biases[] = {0, REGS_BIAS, MEMORY_BIAS, LINES_BIAS, 0, 0};
    return f->nodes[n].kind == NODE_ARGUMENT ? biases[f->nodes[n].imm] : 0;
}

/* Traces, positions, live ranges, folded nodes, pins. */
void analyze_liveness(struct ir *f);

/* Registers. */
void state_clear(struct ir *f,
                 bool bare); /* as at a head: pinned variables only; bare: not even them */
struct state *state_new(struct ir *f);
struct state *state_copy(struct ir *f, const struct state *state);
void state_become(struct ir *f, const struct state *state);
/* Weakens `state`, of a side exit at `position`, so that the current state satisfies it as well;
 * false when that is impossible. */
bool state_share(struct ir *f, struct state *state, int position);
void reg_load(struct ir *f, unsigned type, int reg, struct x86_at from);
void reg_store(struct ir *f, unsigned type, int reg, struct x86_at to);
bool reg_needed(const struct ir *f, int n);    /* whether a value is used behind this point */
int reg_find(const struct ir *f, int n);       /* the register that has it, or NONE */
int reg_use(struct ir *f, int n, int scratch); /* likewise, or loaded into the scratch one */
int reg_new(struct ir *f, int n, int prefer, uint32_t avoid); /* for the result of node n */
int reg_any(struct ir *f, bool vector, uint32_t avoid);       /* a free register; may spill */
void reg_clear(struct ir *f, int reg);                        /* its content moves elsewhere */
void reg_move(struct ir *f, int to, int from);
/* Saves and restores clobbered registers that are live behind a probe. `wanted`: the state there,
 * in a side exit; else NULL. */
struct saved_regs {
    unsigned count;
    struct {
        int reg;
        unsigned type;
        struct x86_at at;
    } value[KEPT];
};
void regs_save(struct ir *f, const struct state *wanted, struct saved_regs *kept);
void regs_restore(struct ir *f, const struct saved_regs *kept);
void variable_get(struct ir *f, int n);
void variable_set(struct ir *f, const struct node *set);
void variable_load(struct ir *f, unsigned variable, int reg);
void variable_write(struct ir *f, unsigned variable); /* to its memory */
void variables_write(struct ir *f);                   /* all that are pending */
void variable_reload(struct ir *f, int n);
void state_head(struct ir *f);              /* brings it to what heads expect */
void state_arrive(struct ir *f, int block); /* on the trace, where side exits rejoin */
void state_meet(struct ir *f, const struct basic_block *block); /* in a side exit that rejoins */
bool state_is_met(struct ir *f,
                  const struct basic_block *block); /* whether it would generate nothing */

/* Code generation; false when it fails. */
bool layout_function(struct ir *f);
void select_node(struct ir *f, int n);
void select_same(struct ir *f, int n, int as);        /* node n is the value `as` */
void select_const(struct ir *f, int n, uint64_t imm); /* node n is a constant after all */
void select_float_operation(struct ir *f, int n);     /* from here on: jit_select_fp.c */
void select_convert(struct ir *f, int n);
void select_negate(struct ir *f, int n);
void select_fma(struct ir *f, int n);
void select_whole(struct ir *f, int n);
void select_widen(struct ir *f, int n);
void select_words(struct ir *f, int n);
void select_jump_if(struct ir *f, int n, bool sense, unsigned label);
int select_tested(const struct ir *f, int condition); /* state.tested behind a jump on it */
void const_store(struct ir *f, unsigned type, uint64_t imm, struct x86_at to);
struct x86_at spill_slot(const struct ir *f, int n);

#endif
