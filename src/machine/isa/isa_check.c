/* The table's self-check. The compiler already refuses two rows for one slot (isa_table.c); this
 * looks at the rows from the outside, by their words and masks alone, and at what their columns
 * claim about each other. */
#include "machine/isa/isa.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct report {
    char *message;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static int complain(const struct report *report,
                                                          const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(report->message, report->size, format, args);
    va_end(args);
    return -1;
}

static int check_overlap(const struct report *report, enum isa_id a, enum isa_id b)
{
    const struct isa_row *x = isa_row(a), *y = isa_row(b);
    if (((x->match ^ y->match) & x->mask & y->mask) == 0)
        return complain(report, "'%s' and '%s' both match 0x%08x", x->name, y->name,
                        x->match | y->match);
    if (strcmp(x->name, y->name) == 0) return complain(report, "two rows are named '%s'", x->name);
    return 0;
}

/* Reachable with its open bits all clear, all set, and one set at a time. */
static int check_reach(const struct report *report, enum isa_id id)
{
    const struct isa_row *row = isa_row(id);
    if (row->match & ~row->mask)
        return complain(report, "'%s' has fixed bits outside its mask", row->name);
    if (row->match == 0) return complain(report, "'%s' claims the all-zero word", row->name);
    if (isa_decode(row->match) != id || isa_decode(row->match | ~row->mask) != id)
        return complain(report, "'%s' is not reached by its own word 0x%08x", row->name,
                        row->match);
    for (unsigned bit = 0; bit < 32; bit++) {
        uint32_t one = isa_bit_mask(bit, bit);
        if (!(one & row->mask) && isa_decode(row->match | one) != id)
            return complain(report, "'%s' is not reached with bit %u set", row->name, bit);
        if ((one & row->mask) && isa_decode(row->match ^ one) == id)
            return complain(report, "'%s' is reached with fixed bit %u inverted", row->name, bit);
    }
    return 0;
}

static int check_operands(const struct report *report, const struct isa_row *row)
{
    uint32_t taken = row->mask;
    bool ended = false;
    for (unsigned i = 0; i < ISA_OPERANDS_MAX; i++) {
        enum isa_operand id = isa_row_operand(row, i);
        if (id == ISA_OP_NONE) {
            ended = true;
            continue;
        }
        const struct isa_operand_row *operand = isa_operand_row(id);
        uint32_t field = isa_bit_mask(operand->first, operand->last);
        if (ended || id >= ISA_OP_COUNT)
            return complain(report, "'%s' has a malformed operand list", row->name);
        if (field & row->mask)
            return complain(report, "operand %s of '%s' lies over fixed bits", operand->name,
                            row->name);
        if (field & taken)
            return complain(report, "operand %s of '%s' lies over another", operand->name,
                            row->name);
        taken |= field;
    }
    return 0;
}

static bool has_role(const struct isa_row *row, enum isa_role role)
{
    for (unsigned i = 0; i < ISA_OPERANDS_MAX; i++)
        if (isa_operand_row(isa_row_operand(row, i))->role == role) return true;
    return false;
}

static bool is_access(const struct isa_row *row)
{
    return row->klass == ISA_CLASS_LOAD || row->klass == ISA_CLASS_STORE ||
           (row->klass >= ISA_CLASS_FP_LOAD_SINGLE && row->klass <= ISA_CLASS_FP_STORE_QUAD);
}

static bool is_fp_arithmetic(const struct isa_row *row)
{
    return row->klass >= ISA_CLASS_FP_ADD_SUB_1 && row->klass <= ISA_CLASS_FP_OTHER_2;
}

/* What the columns say about one another. Each rule is what must hold. */
static int check_columns(const struct report *report, const struct isa_row *row)
{
    uint32_t flags = row->flags;
    enum isa_pipe pipe = (enum isa_pipe)isa_timing_row((enum isa_timing)row->timing)->pipe;
    bool record = row->name[strlen(row->name) - 1] == '.';
    bool l_class = is_access(row) || row->klass == ISA_CLASS_DCACHE_OP ||
                   row->klass == ISA_CLASS_ICACHE_OP || row->klass == ISA_CLASS_SYNC;
    bool j_class = row->klass == ISA_CLASS_ADD_SUB || row->klass == ISA_CLASS_LOGICAL ||
                   row->klass == ISA_CLASS_SHROTMK;
    uint32_t crxer =
        ISA_RC | ISA_OE | ISA_CA_READ | ISA_CA_WRITE | ISA_COUNT_READ | ISA_COUNT_WRITE;
    uint32_t fp_read = ISA_P_READ | ISA_S_READ, fp_write = ISA_P_WRITE | ISA_S_WRITE;
    const struct {
        bool holds;
        const char *rule;
    } rules[] = {
        {record == ((flags & (ISA_RC | ISA_RC1)) != 0),
         "a final '.' and writing CR0 or CR1 go together"},
        {is_access(row) == (row->size != 0 || (flags & ISA_MULTIPLE)),
         "loads and stores, and only they, have a size"},
        {l_class == (pipe == ISA_PIPE_L),
         "loads, stores, cache and order instructions use the L pipe"},
        {is_fp_arithmetic(row) == (pipe == ISA_PIPE_F || pipe == ISA_PIPE_FI),
         "FPU classes use the FPU"},
        {pipe != ISA_PIPE_IJ || (j_class && !(flags & crxer)),
         "what may go to J leaves CR and XER alone"},
        {!(flags & ISA_UPDATE) || (is_access(row) && has_role(row, ISA_ROLE_GPR_BOTH)),
         "update writes its base"},
        {!(flags & ISA_INDEXED) || row->size == 0 || has_role(row, ISA_ROLE_GPR_READ),
         "indexed reads RB"},
        {has_role(row, ISA_ROLE_FPR_READ) == ((flags & fp_read) != 0) || is_fp_arithmetic(row),
         "FPRs read say which half"},
        {has_role(row, ISA_ROLE_FPR_WRITE) == ((flags & fp_write) != 0) || is_fp_arithmetic(row),
         "FPRs written say which half"},
        {!(flags & (ISA_S_READ | ISA_S_WRITE)) || row->unit == ISA_UNIT_FP2,
         "only FP2 has secondary halves"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (!rules[i].holds)
            return complain(report, "'%s' breaks the rule: %s", row->name, rules[i].rule);
    return 0;
}

int isa_self_check(char *message, size_t size)
{
    struct report report = {.size = size};
    report.message = message;
    if (isa_decode(0) != ISA_ILLEGAL) return complain(&report, "the all-zero word is not illegal");
    for (unsigned a = ISA_ILLEGAL + 1; a < ISA_COUNT; a++) {
        const struct isa_row *row = isa_row((enum isa_id)a);
        int status = check_reach(&report, (enum isa_id)a);
        if (status == 0) status = check_operands(&report, row);
        if (status == 0) status = check_columns(&report, row);
        for (unsigned b = a + 1; status == 0 && b < ISA_COUNT; b++)
            status = check_overlap(&report, (enum isa_id)a, (enum isa_id)b);
        if (status != 0) return status;
    }
    return 0;
}
