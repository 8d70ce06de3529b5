/* The makers that use LLVM, in the only file that knows it.
 *
 * The library is opened by name when the first maker is made: it is large, and a run in which
 * nothing is hot must not wait for it. Variables are stack slots that mem2reg turns into registers.
 * The passes are few and were chosen by measurement (docs/performance.md). Host floating point is
 * used as it is: no fast-math flag is ever set.
 */
#include "machine/jit/jit_ir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#include <dlfcn.h>
#include <pthread.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

/* --- The library ----------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define HOST_TARGET(X)                                                                             \
    X(InitializeX86TargetInfo)                                                                     \
    X(InitializeX86Target) X(InitializeX86TargetMC) X(InitializeX86AsmPrinter)
#elif defined(__aarch64__)
#define HOST_TARGET(X)                                                                             \
    X(InitializeAArch64TargetInfo)                                                                 \
    X(InitializeAArch64Target) X(InitializeAArch64TargetMC) X(InitializeAArch64AsmPrinter)
#endif

/* What is used of it, by name; clang-format does not agree with itself about such a list. */
/* clang-format off */
#define FUNCTIONS(X) \
    HOST_TARGET(X) \
    X(AddAttributeAtIndex) X(AddFunction) X(AppendBasicBlockInContext) X(BuildAShr) X(BuildAdd) \
    X(BuildAlloca) X(BuildAnd) X(BuildBitCast) X(BuildBr) X(BuildCall2) X(BuildCondBr) X(BuildFAdd) X(BuildFCmp) \
    X(BuildFDiv) X(BuildFMul) X(BuildFNeg) X(BuildFPExt) X(BuildFPToSI) X(BuildFPTrunc) X(BuildFSub) \
    X(BuildGEP2) X(BuildICmp) X(BuildLShr) X(BuildLoad2) X(BuildMul) X(BuildOr) X(BuildRetVoid) \
    X(BuildSDiv) X(BuildSExt) X(BuildSIToFP) X(BuildSelect) X(BuildShl) X(BuildStore) X(BuildSub) X(BuildTrunc) \
    X(BuildUDiv) X(BuildXor) X(BuildZExt) X(ConstInt) X(ConstIntToPtr) X(CreateBuilderInContext) \
    X(CreateEnumAttribute) X(CreatePassBuilderOptions) X(CreateTargetMachine) X(DisposeBuilder) \
    X(DisposeErrorMessage) X(DisposeMessage) X(DisposeModule) X(DisposePassBuilderOptions) \
    X(DisposeTargetMachine) X(DoubleTypeInContext) X(FloatTypeInContext) X(FunctionType) \
    X(GetEnumAttributeKindForName) X(GetErrorMessage) X(GetHostCPUFeatures) X(GetHostCPUName) X(GetInsertBlock) \
    X(GetIntrinsicDeclaration) X(GetMDKindIDInContext) X(GetParam) X(GetTargetFromTriple) \
    X(GetDefaultTargetTriple) X(IntTypeInContext) X(LookupIntrinsicID) X(MDNodeInContext2) X(MDStringInContext2) \
    X(MetadataAsValue) X(ModuleCreateWithNameInContext) X(OrcCreateLLJIT) X(OrcCreateLLJITBuilder) \
    X(OrcCreateNewThreadSafeContext) X(OrcCreateNewThreadSafeModule) X(OrcDisposeLLJIT) \
    X(OrcDisposeThreadSafeContext) X(OrcJITDylibCreateResourceTracker) \
    X(OrcJITTargetMachineBuilderCreateFromTargetMachine) X(OrcLLJITAddLLVMIRModuleWithRT) \
    X(OrcLLJITBuilderSetJITTargetMachineBuilder) X(OrcLLJITGetMainJITDylib) X(OrcLLJITLookup) \
    X(OrcReleaseResourceTracker) X(OrcResourceTrackerRemove) X(OrcThreadSafeContextGetContext) \
    X(PointerTypeInContext) X(PositionBuilderAtEnd) X(RunPasses) X(SetAlignment) X(SetInstructionCallConv) \
    X(SetMetadata) X(SetTailCallKind) X(SetTarget) X(TypeOf) X(ValueAsMetadata) X(VoidTypeInContext)
/* clang-format on */

struct library {
#define POINTER(name) __typeof__(LLVM##name) *name;
    FUNCTIONS(POINTER)
#undef POINTER
};

/* Opened once and never closed: LLVM does not take that well. Written before any maker exists, then
 * only read. */
static struct library llvm; /* allowed: a library is loaded once for all */

static const char *problem;                       /* allowed: likewise */
static pthread_once_t opened = PTHREAD_ONCE_INIT; /* allowed: likewise */

static const char *open_library(void)
{
    void *handle = dlopen("libLLVM.so.19.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle) handle = dlopen("libLLVM-19.so", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return "there is no libLLVM.so.19.1; install Debian's libllvm19";
#define RESOLVE(name)                                                                              \
    *(void **)&llvm.name = dlsym(handle, "LLVM" #name);                                            \
    if (!llvm.name) return "libLLVM.so.19.1 lacks LLVM" #name;
    FUNCTIONS(RESOLVE)
#undef RESOLVE
#define INITIALIZE(name) llvm.name();
    HOST_TARGET(INITIALIZE)
#undef INITIALIZE
    return NULL;
}

static void open_once(void)
{
    problem = open_library();
}

static const char *llvm_unavailable(void)
{
    pthread_once(&opened, open_once);
    return problem;
}

/* --- Makers ---------------------------------------------------------------------------------- */

struct ir_maker {
    const struct ir_kind *kind;
    LLVMOrcThreadSafeContextRef shared;
    LLVMContextRef context;
    LLVMOrcLLJITRef jit;
    LLVMTargetMachineRef machine;
    char *triple;
    LLVMTypeRef types[IR_TYPES];
    LLVMValueRef odds[3]; /* branch weights, by enum ir_odds */
    unsigned prof;
    unsigned number; /* of functions so far */
};

struct ir_code {
    const struct ir_kind *kind;
    LLVMOrcResourceTrackerRef tracker;
    void *entry;
    size_t size;
};

static LLVMValueRef weights(const struct ir_maker *maker, uint64_t yes, uint64_t no)
{
    LLVMMetadataRef parts[] = {
        llvm.MDStringInContext2(maker->context, "branch_weights", 14),
        llvm.ValueAsMetadata(llvm.ConstInt(maker->types[IR_I32], yes, false)),
        llvm.ValueAsMetadata(llvm.ConstInt(maker->types[IR_I32], no, false)),
    };
    return llvm.MetadataAsValue(maker->context, llvm.MDNodeInContext2(maker->context, parts, 3));
}

/* What the host has, without the registers that calls do not keep (xmm16 and up). */
static char *host_features(void)
{
    char *all = llvm.GetHostCPUFeatures();
    size_t size = strlen(all) + sizeof ",-avx512f";
    char *features = base_calloc(size, 1);
    (void)snprintf(features, size, "%s,-avx512f", all);
    llvm.DisposeMessage(all);
    return features;
}

static LLVMTargetMachineRef new_machine(char *triple)
{
    LLVMTargetRef target;
    char *message = NULL;
    if (llvm.GetTargetFromTriple(triple, &target, &message)) {
        llvm.DisposeMessage(message);
        return NULL;
    }
    char *cpu = llvm.GetHostCPUName(), *features = host_features();
    LLVMTargetMachineRef machine =
        llvm.CreateTargetMachine(target, triple, cpu, features, LLVMCodeGenLevelDefault,
                                 LLVMRelocPIC, LLVMCodeModelJITDefault);
    llvm.DisposeMessage(cpu);
    free(features);
    return machine;
}

static bool failed(LLVMErrorRef error)
{
    if (!error) return false;
    char *message = llvm.GetErrorMessage(error);
    llvm.DisposeErrorMessage(message);
    return true;
}

static bool start_jit(struct ir_maker *maker)
{
    LLVMTargetMachineRef other = new_machine(maker->triple); /* taken by the builder */
    if (!other) return false;
    LLVMOrcLLJITBuilderRef builder = llvm.OrcCreateLLJITBuilder();
    llvm.OrcLLJITBuilderSetJITTargetMachineBuilder(
        builder, llvm.OrcJITTargetMachineBuilderCreateFromTargetMachine(other));
    return !failed(llvm.OrcCreateLLJIT(&maker->jit, builder));
}

static void name_types(struct ir_maker *maker)
{
    static const uint8_t bits[] = {1, 8, 16, 32, 64};
    for (unsigned i = 0; i < sizeof bits; i++)
        maker->types[IR_I1 + i] = llvm.IntTypeInContext(maker->context, bits[i]);
    maker->types[IR_F32] = llvm.FloatTypeInContext(maker->context);
    maker->types[IR_F64] = llvm.DoubleTypeInContext(maker->context);
    maker->types[IR_POINTER] = llvm.PointerTypeInContext(maker->context, 0);
    maker->types[IR_NOTHING] = llvm.VoidTypeInContext(maker->context);
}

static void llvm_maker_free(struct ir_maker *maker)
{
    if (maker->jit) (void)failed(llvm.OrcDisposeLLJIT(maker->jit));
    if (maker->shared) llvm.OrcDisposeThreadSafeContext(maker->shared);
    if (maker->machine) llvm.DisposeTargetMachine(maker->machine);
    llvm.DisposeMessage(maker->triple);
    free(maker);
}

static struct ir_maker *llvm_maker_new(const char **reason)
{
    *reason = llvm_unavailable();
    if (*reason) return NULL;
    struct ir_maker *maker = base_calloc(1, sizeof *maker);
    maker->kind = &ir_llvm;
    maker->triple = llvm.GetDefaultTargetTriple();
    maker->machine = new_machine(maker->triple);
    if (!maker->machine || !start_jit(maker)) {
        *reason = "LLVM does not know this host";
        llvm_maker_free(maker);
        return NULL;
    }
    maker->shared = llvm.OrcCreateNewThreadSafeContext();
    maker->context = llvm.OrcThreadSafeContextGetContext(maker->shared);
    name_types(maker);
    maker->prof = llvm.GetMDKindIDInContext(maker->context, "prof", 4);
    maker->odds[IR_LIKELY] = weights(maker, 2000, 1);
    maker->odds[IR_UNLIKELY] = weights(maker, 1, 2000);
    return maker;
}

/* --- Functions ------------------------------------------------------------------------------- */

enum { ARGUMENTS_MAX = 8, PRESERVE_ALL = 15 /* LLVM's number of preserve_allcc */ };

struct ir {
    const struct ir_kind *kind;
    struct ir_maker *maker;
    LLVMModuleRef module;
    LLVMValueRef function;
    LLVMTypeRef type;
    LLVMBuilderRef builder, entry; /* entry: where variables are made */
    LLVMBasicBlockRef first;
    unsigned argument_count;
    size_t values; /* roughly, for the size */
    char name[16];
};

#define V(value)    ((LLVMValueRef)(value))
#define B(block)    ((LLVMBasicBlockRef)(block))
#define MADE(value) (ir->values++, (ir_value)(value))
#define T(t)        (ir->maker->types[t])

static struct ir *llvm_begin(struct ir_maker *maker, const char *arguments)
{
    struct ir *ir = base_calloc(1, sizeof *ir);
    ir->kind = &ir_llvm;
    ir->maker = maker;
    (void)snprintf(ir->name, sizeof ir->name, "r%u", maker->number++);
    ir->module = llvm.ModuleCreateWithNameInContext(ir->name, maker->context);
    llvm.SetTarget(ir->module, maker->triple);
    LLVMTypeRef types[ARGUMENTS_MAX];
    for (; arguments[ir->argument_count]; ir->argument_count++)
        types[ir->argument_count] =
            maker->types[arguments[ir->argument_count] == 'p' ? IR_POINTER : IR_I64];
    ir->type = llvm.FunctionType(maker->types[IR_NOTHING], types, ir->argument_count, false);
    ir->function = llvm.AddFunction(ir->module, ir->name, ir->type);
    unsigned nounwind = llvm.GetEnumAttributeKindForName("nounwind", 8);
    llvm.AddAttributeAtIndex(ir->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             llvm.CreateEnumAttribute(maker->context, nounwind, 0));
    ir->builder = llvm.CreateBuilderInContext(maker->context);
    ir->entry = llvm.CreateBuilderInContext(maker->context);
    LLVMBasicBlockRef entry = llvm.AppendBasicBlockInContext(maker->context, ir->function, "");
    ir->first = llvm.AppendBasicBlockInContext(maker->context, ir->function, "");
    llvm.PositionBuilderAtEnd(ir->entry, entry);
    llvm.PositionBuilderAtEnd(ir->builder, ir->first);
    return ir;
}

static bool run_passes(struct ir *ir)
{
    LLVMPassBuilderOptionsRef options = llvm.CreatePassBuilderOptions();
    bool bad = failed(llvm.RunPasses(ir->module, "function(mem2reg,early-cse,simplifycfg)",
                                     ir->maker->machine, options));
    llvm.DisposePassBuilderOptions(options);
    return !bad;
}

static void *address(LLVMOrcExecutorAddress entry)
{
    void *at;
    memcpy(&at, &entry, sizeof at); /* both 64 bits */
    return at;
}

static struct ir_code *llvm_finish(struct ir *ir)
{
    struct ir_maker *maker = ir->maker;
    struct ir_code *code = NULL;
    llvm.BuildBr(ir->entry, ir->first);
    llvm.DisposeBuilder(ir->builder);
    llvm.DisposeBuilder(ir->entry);
    bool good = run_passes(ir);
    if (!good) {
        llvm.DisposeModule(ir->module);
    } else {
        LLVMOrcJITDylibRef library = llvm.OrcLLJITGetMainJITDylib(maker->jit);
        LLVMOrcResourceTrackerRef tracker = llvm.OrcJITDylibCreateResourceTracker(library);
        LLVMOrcThreadSafeModuleRef module =
            llvm.OrcCreateNewThreadSafeModule(ir->module, maker->shared);
        LLVMOrcExecutorAddress entry = 0;
        if (failed(llvm.OrcLLJITAddLLVMIRModuleWithRT(maker->jit, tracker, module)) ||
            failed(llvm.OrcLLJITLookup(maker->jit, &entry, ir->name))) {
            llvm.OrcReleaseResourceTracker(tracker);
        } else {
            code = base_calloc(1, sizeof *code);
            *code = (struct ir_code){&ir_llvm, tracker, address(entry), 4096 + 16 * ir->values};
        }
    }
    free(ir);
    return code;
}

static void *llvm_code_entry(const struct ir_code *code)
{
    return code->entry;
}

static void *llvm_code_target(const struct ir_code *code)
{
    return code->entry;
}

static size_t llvm_code_size(const struct ir_code *code)
{
    return code->size;
}

static void llvm_code_free(struct ir_maker *maker, struct ir_code *code)
{
    (void)maker;
    (void)failed(llvm.OrcResourceTrackerRemove(code->tracker));
    llvm.OrcReleaseResourceTracker(code->tracker);
    free(code);
}

/* --- Values ---------------------------------------------------------------------------------- */

static ir_value llvm_argument(struct ir *ir, unsigned n)
{
    return (ir_value)llvm.GetParam(ir->function, n);
}

static ir_value llvm_const(struct ir *ir, enum ir_type type, uint64_t value)
{
    return (ir_value)llvm.ConstInt(T(type), value, false);
}

static ir_value llvm_address(struct ir *ir, const void *p)
{
    return (ir_value)llvm.ConstIntToPtr(llvm.ConstInt(T(IR_I64), (uintptr_t)p, false),
                                        T(IR_POINTER));
}

static ir_value llvm_op(struct ir *ir, enum ir_binary op, ir_value a, ir_value b)
{
    typedef LLVMValueRef build(LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *);
    build *const builds[] = {
        [IR_ADD] = llvm.BuildAdd,   [IR_SUB] = llvm.BuildSub,   [IR_MUL] = llvm.BuildMul,
        [IR_AND] = llvm.BuildAnd,   [IR_OR] = llvm.BuildOr,     [IR_XOR] = llvm.BuildXor,
        [IR_SHL] = llvm.BuildShl,   [IR_LSHR] = llvm.BuildLShr, [IR_ASHR] = llvm.BuildAShr,
        [IR_UDIV] = llvm.BuildUDiv, [IR_SDIV] = llvm.BuildSDiv, [IR_FADD] = llvm.BuildFAdd,
        [IR_FSUB] = llvm.BuildFSub, [IR_FMUL] = llvm.BuildFMul, [IR_FDIV] = llvm.BuildFDiv,
    };
    return MADE(builds[op](ir->builder, V(a), V(b), ""));
}

static ir_value llvm_test(struct ir *ir, enum ir_test test, ir_value a, ir_value b)
{
    static const LLVMIntPredicate predicates[] = {
        [IR_EQ] = LLVMIntEQ,   [IR_NE] = LLVMIntNE,   [IR_ULT] = LLVMIntULT, [IR_UGE] = LLVMIntUGE,
        [IR_UGT] = LLVMIntUGT, [IR_SLT] = LLVMIntSLT, [IR_SGT] = LLVMIntSGT};
    return MADE(llvm.BuildICmp(ir->builder, predicates[test], V(a), V(b), ""));
}

static ir_value llvm_order(struct ir *ir, enum ir_order order, ir_value a, ir_value b)
{
    static const LLVMRealPredicate predicates[] = {[IR_LESS] = LLVMRealOLT,
                                                   [IR_GREATER] = LLVMRealOGT,
                                                   [IR_SAME] = LLVMRealOEQ,
                                                   [IR_UNORDERED] = LLVMRealUNO};
    return MADE(llvm.BuildFCmp(ir->builder, predicates[order], V(a), V(b), ""));
}

static ir_value llvm_select(struct ir *ir, ir_value condition, ir_value a, ir_value b)
{
    return MADE(llvm.BuildSelect(ir->builder, V(condition), V(a), V(b), ""));
}

static ir_value llvm_compare(struct ir *ir, bool is_signed, ir_value a, ir_value b)
{
    bool is_float = llvm.TypeOf(V(a)) == T(IR_F64);
    ir_value less =
        is_float ? llvm_order(ir, IR_LESS, a, b) : llvm_test(ir, is_signed ? IR_SLT : IR_ULT, a, b);
    ir_value more = is_float ? llvm_order(ir, IR_GREATER, a, b)
                             : llvm_test(ir, is_signed ? IR_SGT : IR_UGT, a, b);
    ir_value other = llvm_select(ir, more, llvm_const(ir, IR_I32, 4), llvm_const(ir, IR_I32, 2));
    return llvm_select(ir, less, llvm_const(ir, IR_I32, 8), other);
}

static ir_value llvm_convert(struct ir *ir, enum ir_convert how, enum ir_type to, ir_value v)
{
    typedef LLVMValueRef build(LLVMBuilderRef, LLVMValueRef, LLVMTypeRef, const char *);
    build *const builds[] = {
        [IR_ZEXT] = llvm.BuildZExt,        [IR_SEXT] = llvm.BuildSExt,
        [IR_TRUNC] = llvm.BuildTrunc,      [IR_BITS] = llvm.BuildBitCast,
        [IR_WIDEN] = llvm.BuildFPExt,      [IR_NARROW] = llvm.BuildFPTrunc,
        [IR_TO_SIGNED] = llvm.BuildFPToSI, [IR_FROM_SIGNED] = llvm.BuildSIToFP,
    };
    return MADE(builds[how](ir->builder, V(v), T(to), ""));
}

static ir_value llvm_negate(struct ir *ir, ir_value v)
{
    return MADE(llvm.BuildFNeg(ir->builder, V(v), ""));
}

static ir_value intrinsic(struct ir *ir, const char *name, unsigned count, LLVMValueRef *arguments)
{
    LLVMTypeRef type = llvm.TypeOf(arguments[0]), all[3];
    LLVMValueRef function = llvm.GetIntrinsicDeclaration(
        ir->module, llvm.LookupIntrinsicID(name, strlen(name)), &type, 1);
    for (unsigned i = 0; i < count; i++)
        all[i] = llvm.TypeOf(arguments[i]);
    return MADE(llvm.BuildCall2(ir->builder, llvm.FunctionType(type, all, count, false), function,
                                arguments, count, ""));
}

static ir_value llvm_fma(struct ir *ir, ir_value x, ir_value y, ir_value z)
{
    return intrinsic(ir, "llvm.fma", 3, (LLVMValueRef[]){V(x), V(y), V(z)});
}

static ir_value llvm_swap(struct ir *ir, ir_value v)
{
    if (llvm.TypeOf(V(v)) != T(IR_F64))
        return intrinsic(ir, "llvm.bswap", 1, (LLVMValueRef[]){V(v)});
    return llvm_convert(ir, IR_BITS, IR_F64, llvm_swap(ir, llvm_convert(ir, IR_BITS, IR_I64, v)));
}

static ir_value llvm_leading_zeros(struct ir *ir, ir_value v)
{
    return intrinsic(ir, "llvm.ctlz", 2, (LLVMValueRef[]){V(v), llvm.ConstInt(T(IR_I1), 0, false)});
}

static ir_value llvm_rotate(struct ir *ir, ir_value v, ir_value left)
{
    return intrinsic(ir, "llvm.fshl", 3, (LLVMValueRef[]){V(v), V(v), V(left)});
}

/* --- Memory and variables -------------------------------------------------------------------- */

static LLVMValueRef place(struct ir *ir, LLVMBuilderRef builder, ir_value base, ir_value index,
                          uint64_t offset)
{
    LLVMValueRef at = V(base);
    if (index) {
        LLVMValueRef by = V(index);
        at = llvm.BuildGEP2(builder, T(IR_I8), at, &by, 1, "");
    }
    if (offset) {
        LLVMValueRef by = llvm.ConstInt(T(IR_I64), offset, false);
        at = llvm.BuildGEP2(builder, T(IR_I8), at, &by, 1, "");
    }
    return at;
}

static ir_value llvm_offset(struct ir *ir, ir_value base, ir_value by)
{
    return MADE(place(ir, ir->builder, base, by, 0));
}

static ir_value llvm_load(struct ir *ir, enum ir_type type, ir_value base, ir_value index,
                          uint64_t offset)
{
    LLVMValueRef load =
        llvm.BuildLoad2(ir->builder, T(type), place(ir, ir->builder, base, index, offset), "");
    llvm.SetAlignment(load, 1);
    return MADE(load);
}

static void llvm_store(struct ir *ir, ir_value v, ir_value base, ir_value index, uint64_t offset)
{
    LLVMValueRef store =
        llvm.BuildStore(ir->builder, V(v), place(ir, ir->builder, base, index, offset));
    llvm.SetAlignment(store, 1);
    ir->values++;
}

static void llvm_increment(struct ir *ir, ir_value base, uint64_t offset)
{
    ir_value n = llvm_load(ir, IR_I64, base, NULL, offset);
    llvm_store(ir, llvm_op(ir, IR_ADD, n, llvm_const(ir, IR_I64, 1)), base, NULL, offset);
}

/* A variable is LLVM's stack slot under another name. */
static ir_variable llvm_variable_new(struct ir *ir, enum ir_type type, ir_value base,
                                     uint64_t offset)
{
    LLVMValueRef slot = llvm.BuildAlloca(ir->entry, T(type), "");
    LLVMValueRef first =
        llvm.BuildLoad2(ir->entry, T(type), place(ir, ir->entry, base, NULL, offset), "");
    llvm.SetAlignment(first, 1);
    llvm.BuildStore(ir->entry, first, slot);
    return (ir_variable)slot;
}

/* `first` must be an argument or a constant. */
static ir_variable llvm_variable_of(struct ir *ir, ir_value first)
{
    LLVMValueRef slot = llvm.BuildAlloca(ir->entry, llvm.TypeOf(V(first)), "");
    llvm.BuildStore(ir->entry, V(first), slot);
    return (ir_variable)slot;
}

static ir_value llvm_get(struct ir *ir, enum ir_type type, ir_variable variable)
{
    return (ir_value)llvm.BuildLoad2(ir->builder, T(type), (LLVMValueRef)variable, "");
}

static void llvm_set(struct ir *ir, ir_variable variable, ir_value v)
{
    llvm.BuildStore(ir->builder, V(v), (LLVMValueRef)variable);
}

static void llvm_reload(struct ir *ir, enum ir_type type, ir_variable variable, ir_value base,
                        uint64_t offset)
{
    llvm_set(ir, variable, llvm_load(ir, type, base, NULL, offset));
}

/* --- Flow ------------------------------------------------------------------------------------ */

static ir_block llvm_block_new(struct ir *ir)
{
    return (ir_block)llvm.AppendBasicBlockInContext(ir->maker->context, ir->function, "");
}

static ir_block llvm_anchor_new(struct ir *ir, uint64_t weight)
{
    (void)weight;
    return llvm_block_new(ir);
}

static void llvm_place(struct ir *ir, ir_block block)
{
    llvm.PositionBuilderAtEnd(ir->builder, B(block));
}

static ir_block llvm_here(struct ir *ir)
{
    return (ir_block)llvm.GetInsertBlock(ir->builder);
}

static void llvm_jump(struct ir *ir, ir_block block)
{
    llvm.BuildBr(ir->builder, B(block));
}

static void llvm_branch(struct ir *ir, ir_value condition, ir_block yes, ir_block no,
                        enum ir_odds odds)
{
    LLVMValueRef branch = llvm.BuildCondBr(ir->builder, V(condition), B(yes), B(no));
    if (odds != IR_EVEN) llvm.SetMetadata(branch, ir->maker->prof, ir->maker->odds[odds]);
}

static void llvm_return(struct ir *ir)
{
    llvm.BuildRetVoid(ir->builder);
}

static ir_value llvm_call_keeping(struct ir *ir, const void *function, ir_value argument)
{
    LLVMValueRef value = V(argument);
    LLVMTypeRef type = llvm.FunctionType(T(IR_I1), &ir->maker->types[IR_POINTER], 1, false);
    LLVMValueRef call =
        llvm.BuildCall2(ir->builder, type, V(llvm_address(ir, function)), &value, 1, "");
#ifdef __x86_64__
    llvm.SetInstructionCallConv(call, PRESERVE_ALL);
#endif
    return MADE(call);
}

static void llvm_go(struct ir *ir, ir_value function, const ir_value *arguments)
{
    LLVMValueRef values[ARGUMENTS_MAX];
    for (unsigned i = 0; i < ir->argument_count; i++)
        values[i] = V(arguments[i]);
    LLVMValueRef call =
        llvm.BuildCall2(ir->builder, ir->type, V(function), values, ir->argument_count, "");
    llvm.SetTailCallKind(call, LLVMTailCallKindMustTail);
    llvm.BuildRetVoid(ir->builder);
}

const struct ir_kind ir_llvm = {
    .unavailable = llvm_unavailable,
    .maker_new = llvm_maker_new,
    .nanoseconds = 700000,
    .first_nanoseconds = 40000000,
    .patience = 50000,
    .most_blocks = 24,
    .most_instructions = 240,
    .maker_free = llvm_maker_free,
    .begin = llvm_begin,
    .finish = llvm_finish,
    .code_entry = llvm_code_entry,
    .code_target = llvm_code_target,
    .code_size = llvm_code_size,
    .code_free = llvm_code_free,
    .argument = llvm_argument,
    .constant = llvm_const,
    .address = llvm_address,
    .op = llvm_op,
    .test = llvm_test,
    .order = llvm_order,
    .compare = llvm_compare,
    .select = llvm_select,
    .convert = llvm_convert,
    .negate = llvm_negate,
    .fma = llvm_fma,
    .swap = llvm_swap,
    .leading_zeros = llvm_leading_zeros,
    .rotate = llvm_rotate,
    .offset = llvm_offset,
    .load = llvm_load,
    .store = llvm_store,
    .increment = llvm_increment,
    .variable_new = llvm_variable_new,
    .variable_of = llvm_variable_of,
    .get = llvm_get,
    .set = llvm_set,
    .reload = llvm_reload,
    .block_new = llvm_block_new,
    .anchor_new = llvm_anchor_new,
    .place = llvm_place,
    .here = llvm_here,
    .jump = llvm_jump,
    .branch = llvm_branch,
    .leave = llvm_return,
    .call_keeping = llvm_call_keeping,
    .go = llvm_go,
};
