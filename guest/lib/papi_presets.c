/* PAPI's presets on this machine: what each means and which native events it is the sum of.
 *
 * Formulas are over names. The simulator's own counters (BGL_INST and so on) exist on both machines and are kept per
 * thread, so whatever happens in a core comes from them. L3 is shared: its presets come from the machine's own events
 * and count the whole node. A preset without a formula has no wire in the model: nothing predicts branches, nothing
 * distinguishes single from double precision, and a pipe's idle cycles are not counted.
 *
 * Decisions: an FMA is two operations (PAPI_FP_OPS) and one instruction; a divide is one operation, not the 13 of
 * PAPI's Blue Gene/P port. L2 is the core's prefetch buffer; its hits and misses are of reads, those for code included.
 * The clock never changes, so reference cycles are cycles.
 */
#include "papi_impl.h"

#include <stddef.h>

#define L3_READS                                                                                                       \
    "BGP_L3_M0_RD0_SINGLE_LINE_DELIVERED_L2 BGP_L3_M0_RD1_SINGLE_LINE_DELIVERED_L2 "                                   \
    "BGP_L3_M1_RD0_SINGLE_LINE_DELIVERED_L2 BGP_L3_M1_RD1_SINGLE_LINE_DELIVERED_L2 "                                   \
    "BGP_L3_M0_RD0_BURST_DELIVERED_L2 BGP_L3_M0_RD1_BURST_DELIVERED_L2 "                                               \
    "BGP_L3_M1_RD0_BURST_DELIVERED_L2 BGP_L3_M1_RD1_BURST_DELIVERED_L2"
#define L3_WRITES                                                                                                      \
    "BGP_L3_M0_W0_DEPOSIT_REQUESTS BGP_L3_M0_W1_DEPOSIT_REQUESTS "                                                     \
    "BGP_L3_M1_W0_DEPOSIT_REQUESTS BGP_L3_M1_W1_DEPOSIT_REQUESTS"
#define L3_READ_MISSES(sign)                                                                                           \
    sign "BGP_L3_M0_RD0_DIR0_MISS_OR_LOCKDOWN " sign "BGP_L3_M0_RD0_DIR1_MISS_OR_LOCKDOWN " sign                       \
         "BGP_L3_M0_RD1_DIR0_MISS_OR_LOCKDOWN " sign "BGP_L3_M0_RD1_DIR1_MISS_OR_LOCKDOWN " sign                       \
         "BGP_L3_M1_RD0_DIR0_MISS_OR_LOCKDOWN " sign "BGP_L3_M1_RD0_DIR1_MISS_OR_LOCKDOWN " sign                       \
         "BGP_L3_M1_RD1_DIR0_MISS_OR_LOCKDOWN " sign "BGP_L3_M1_RD1_DIR1_MISS_OR_LOCKDOWN"
#define L3_LOOKUPS "BGP_L3_M0_DIR0_LOOKUPS BGP_L3_M0_DIR1_LOOKUPS BGP_L3_M1_DIR0_LOOKUPS BGP_L3_M1_DIR1_LOOKUPS"
#define L3_MISSES  "BGP_L3_M0_MH_ALLOCATION_REQUESTS BGP_L3_M1_MH_ALLOCATION_REQUESTS"

#define NOTE_NODE "Counts the whole node: L3 is shared."
#define NOTE_CODE "Reads for code are included: the buffer does not distinguish them."

#define L1           (PAPI_PRESET_BIT_CACH | PAPI_PRESET_BIT_L1)
#define L2           (PAPI_PRESET_BIT_CACH | PAPI_PRESET_BIT_L2)
#define L3           (PAPI_PRESET_BIT_CACH | PAPI_PRESET_BIT_L3)
#define TLB          PAPI_PRESET_BIT_TLB
#define CND          PAPI_PRESET_BIT_CND
#define IDL          PAPI_PRESET_BIT_IDL
#define MSC          PAPI_PRESET_BIT_MSC
#define MEM          PAPI_PRESET_BIT_MEM
#define INS          PAPI_PRESET_BIT_INS
#define BR           PAPI_PRESET_BIT_BR
#define FP           (PAPI_PRESET_BIT_INS | PAPI_PRESET_BIT_FP)
#define ROW(id, ...) [PAPI_##id##_idx] = {PAPI_##id##_idx, "PAPI_" #id, __VA_ARGS__}

/* ROW(name, type, short text, text, formula of any machine, of bgp, of bgl, note) */
const struct papi_preset papi_presets[] = {
    ROW(L1_DCM, L1, "L1 data cache misses", "Lookups that missed in the first-level cache, data side",
        "BGL_D1_L_MISS BGL_D1_S_MISS", NULL, NULL, NULL),
    ROW(L1_ICM, L1, "L1 instr cache misses", "Lookups that missed in the first-level cache, instruction side",
        "BGL_I1_MISS", NULL, NULL, NULL),
    ROW(L2_DCM, L2, "L2 data cache misses", "Lookups that missed in the second-level cache, data side", "BGL_L2_MISS",
        NULL, NULL, NOTE_CODE),
    ROW(L2_ICM, L2, "L2 instr cache misses", "Lookups that missed in the second-level cache, instruction side", NULL,
        NULL, NULL, NULL),
    ROW(L3_DCM, L3, "L3 data cache misses", "Lookups that missed in the third-level cache, data side", NULL, NULL, NULL,
        NULL),
    ROW(L3_ICM, L3, "L3 instr cache misses", "Lookups that missed in the third-level cache, instruction side", NULL,
        NULL, NULL, NULL),
    ROW(L1_TCM, L1, "L1 total cache misses", "Lookups that missed in the first-level cache, data plus instruction side",
        "BGL_D1_L_MISS BGL_D1_S_MISS BGL_I1_MISS", NULL, NULL, NULL),
    ROW(L2_TCM, L2, "L2 total cache misses",
        "Lookups that missed in the second-level cache, data plus instruction side", "BGL_L2_MISS", NULL, NULL, NULL),
    ROW(L3_TCM, L3, "L3 total cache misses", "Lookups that missed in the third-level cache, data plus instruction side",
        NULL, L3_MISSES, "BGL_UPC_L3_CACHE_MISS_DATA_WILL_BE_REQED_DDR", NOTE_NODE),
    ROW(CA_SNP, CND, "Snoops", "Snoop requests seen", "BGL_SNOOP", NULL, NULL, NULL),
    ROW(CA_SHR, CND, "Shared line requests", "Asks to own a line that others share", NULL, NULL, NULL, NULL),
    ROW(CA_CLN, CND, "Clean line requests", "Asks to own a line that no cache has dirtied", NULL, NULL, NULL, NULL),
    ROW(CA_INV, CND, "Line invalidations", "Asks to drop a line elsewhere", "BGL_SNOOP", NULL, NULL, NULL),
    ROW(CA_ITV, CND, "Line interventions", "Asks answered by another cache instead of memory", NULL, NULL, NULL, NULL),
    ROW(L3_LDM, L3, "L3 load misses", "Load lookups that missed the third-level cache", NULL, L3_READ_MISSES(""),
        "BGL_UPC_L3_MSHNDLR_TOOK_REQ_RDQ0 BGL_UPC_L3_MSHNDLR_TOOK_REQ_RDQ1", NOTE_NODE),
    ROW(L3_STM, L3, "L3 store misses", "Store lookups that missed the third-level cache", NULL,
        L3_MISSES " " L3_READ_MISSES("-"), "BGL_UPC_L3_MSHNDLR_TOOK_REQ_WRBUF", NOTE_NODE),
    ROW(BRU_IDL, IDL, "Branch idle cycles", "Cycles in which no branch unit had work", NULL, NULL, NULL, NULL),
    ROW(FXU_IDL, IDL, "Integer idle cycles", "Cycles in which no integer unit had work", NULL, NULL, NULL, NULL),
    ROW(FPU_IDL, IDL, "FPU idle cycles", "Cycles in which no floating-point unit had work", NULL, NULL, NULL, NULL),
    ROW(LSU_IDL, IDL, "Load/store idle cycles", "Cycles in which no load/store unit had work", NULL, NULL, NULL, NULL),
    ROW(TLB_DM, TLB, "Data TLB misses", "Data-side translation misses", "BGL_DTLB_MISS", NULL, NULL, NULL),
    ROW(TLB_IM, TLB, "Instr TLB misses", "Instruction-side translation misses", "BGL_ITLB_MISS", NULL, NULL, NULL),
    ROW(TLB_TL, TLB, "Total TLB misses", "Translation misses of both sides", "BGL_DTLB_MISS BGL_ITLB_MISS", NULL, NULL,
        NULL),
    ROW(L1_LDM, L1, "L1 load misses", "Load lookups that missed the first-level cache", "BGL_D1_L_MISS", NULL, NULL,
        NULL),
    ROW(L1_STM, L1, "L1 store misses", "Store lookups that missed the first-level cache", "BGL_D1_S_MISS", NULL, NULL,
        NULL),
    ROW(L2_LDM, L2, "L2 load misses", "Load lookups that missed the second-level cache", "BGL_L2_MISS", NULL, NULL,
        NOTE_CODE),
    ROW(L2_STM, L2, "L2 store misses", "Store lookups that missed the second-level cache", NULL, NULL, NULL, NULL),
    ROW(BTAC_M, BR, "Branch target misses", "Misses in the branch target address cache", NULL, NULL, NULL, NULL),
    ROW(PRF_DM, MSC, "Data prefetch misses", "Data prefetches that missed", "BGL_L2_PREFETCH", NULL, NULL,
        "Lines that L2 asked of L3 ahead of use."),
    ROW(L3_DCH, L3, "L3 data cache hits", "Lookups that hit in the third-level cache, data side", NULL, NULL, NULL,
        NULL),
    ROW(TLB_SD, TLB, "TLB shootdowns", "Translations thrown away on request of another processor", NULL, NULL, NULL,
        NULL),
    ROW(CSR_FAL, MSC, "Failed store conditionals", "Store-conditionals that failed", NULL, NULL, NULL, NULL),
    ROW(CSR_SUC, MSC, "Good store conditionals", "Store-conditionals that succeeded", NULL, NULL, NULL, NULL),
    ROW(CSR_TOT, MSC, "Total store conditionals", "Store-conditionals, failed or not", NULL, NULL, NULL, NULL),
    ROW(MEM_SCY, MEM, "Stalled memory cycles", "Cycles stalled on any memory access", "BGL_STALL_LOAD BGL_STALL_STORE",
        NULL, NULL, NULL),
    ROW(MEM_RCY, MEM, "Stalled read cycles", "Cycles stalled on memory reads", "BGL_STALL_LOAD", NULL, NULL, NULL),
    ROW(MEM_WCY, MEM, "Stalled write cycles", "Cycles stalled on memory writes", "BGL_STALL_STORE", NULL, NULL, NULL),
    ROW(STL_ICY, IDL, "No instr issued", "Cycles in which nothing was issued", NULL, NULL, NULL, NULL),
    ROW(FUL_ICY, IDL, "Max instr issued", "Cycles in which the issue width was fully used", NULL, NULL, NULL, NULL),
    ROW(STL_CCY, IDL, "No instr done", "Cycles in which nothing completed", NULL, NULL, NULL, NULL),
    ROW(FUL_CCY, IDL, "Max instr done", "Cycles in which the completion width was fully used", NULL, NULL, NULL, NULL),
    ROW(HW_INT, MSC, "Hardware interrupts", "External interrupts taken", NULL, NULL, NULL, NULL),
    ROW(BR_UCN, BR, "Uncond branches", "Branches that are always taken", "BGL_BRANCH -BGL_BR_COND", NULL, NULL, NULL),
    ROW(BR_CN, BR, "Cond branches", "Branches that depend on a condition", "BGL_BR_COND", NULL, NULL, NULL),
    ROW(BR_TKN, BR, "Cond branches taken", "Conditional branches that were taken", NULL, NULL, NULL, NULL),
    ROW(BR_NTK, BR, "Cond branches not taken", "Conditional branches that fell through", NULL, NULL, NULL, NULL),
    ROW(BR_MSP, BR, "Cond branches mispredicted", "Conditional branches predicted wrongly", NULL, NULL, NULL, NULL),
    ROW(BR_PRC, BR, "Cond branches predicted", "Conditional branches predicted rightly", NULL, NULL, NULL, NULL),
    ROW(FMA_INS, FP, "FMAs done", "Fused multiply-add instructions finished", "BGL_FMA", NULL, NULL, NULL),
    ROW(TOT_IIS, INS, "Instr issued", "Instructions issued, finished or not", "BGL_INST", NULL, NULL, NULL),
    ROW(TOT_INS, INS, "Instr completed", "Instructions finished", "BGL_INST", NULL, NULL, NULL),
    ROW(INT_INS, INS, "Integer instr", "Integer instructions", "BGL_INT_ALU BGL_INT_MUL", NULL, NULL, NULL),
    ROW(FP_INS, FP, "FP instr", "Floating-point instructions (a vector one counts once)", "BGL_FP_INST", NULL, NULL,
        NULL),
    ROW(LD_INS, INS, "Loads", "Load instructions", "BGL_LOAD BGL_FP_LOAD", NULL, NULL, NULL),
    ROW(SR_INS, INS, "Stores", "Store instructions", "BGL_STORE BGL_FP_STORE", NULL, NULL, NULL),
    ROW(BR_INS, BR, "Branches", "Branch instructions of every kind", "BGL_BRANCH", NULL, NULL, NULL),
    ROW(VEC_INS, INS, "Vector instr", "Vector instructions of any type", "BGL_FP_PAIR BGL_FP_QUAD", NULL, NULL, NULL),
    ROW(RES_STL, IDL, "Stalled cycles", "Cycles stalled for want of any resource",
        "BGL_STALL_LOAD BGL_STALL_STORE BGL_STALL_FETCH BGL_STALL_TLB", NULL, NULL, NULL),
    ROW(FP_STAL, IDL, "Stalled FP cycles", "Cycles the floating-point side was stalled", NULL, NULL, NULL, NULL),
    ROW(TOT_CYC, MSC, "Cycles", "Processor cycles", "BGL_CYCLES", NULL, NULL,
        "Cycles in which the thread ran, waiting for memory included."),
    ROW(LST_INS, INS, "Loads and stores", "Loads plus stores finished", "BGL_LOAD BGL_FP_LOAD BGL_STORE BGL_FP_STORE",
        NULL, NULL, NULL),
    ROW(SYC_INS, INS, "Sync instr", "Synchronising instructions finished", "BGL_SYNC", NULL, NULL, NULL),
    ROW(L1_DCH, L1, "L1 data cache hits", "Lookups that hit in the first-level cache, data side", "BGL_D1_HIT", NULL,
        NULL, NULL),
    ROW(L2_DCH, L2, "L2 data cache hits", "Lookups that hit in the second-level cache, data side", "BGL_L2_HIT", NULL,
        NULL, NOTE_CODE),
    ROW(L1_DCA, L1, "L1 data cache accesses", "Lookups of any kind in the first-level cache, data side",
        "BGL_D1_HIT BGL_D1_L_MISS BGL_D1_S_MISS", NULL, NULL, NULL),
    ROW(L2_DCA, L2, "L2 data cache accesses", "Lookups of any kind in the second-level cache, data side",
        "BGL_D1_FILL BGL_L2_WRITE", NULL, NULL, NULL),
    ROW(L3_DCA, L3, "L3 data cache accesses", "Lookups of any kind in the third-level cache, data side", NULL, NULL,
        NULL, NULL),
    ROW(L1_DCR, L1, "L1 data cache reads", "Read lookups in the first-level cache, data side", "BGL_LOAD BGL_FP_LOAD",
        NULL, NULL, NULL),
    ROW(L2_DCR, L2, "L2 data cache reads", "Read lookups in the second-level cache, data side", "BGL_D1_FILL", NULL,
        NULL, NULL),
    ROW(L3_DCR, L3, "L3 data cache reads", "Read lookups in the third-level cache, data side", NULL, NULL, NULL, NULL),
    ROW(L1_DCW, L1, "L1 data cache writes", "Write lookups in the first-level cache, data side",
        "BGL_STORE BGL_FP_STORE", NULL, NULL, NULL),
    ROW(L2_DCW, L2, "L2 data cache writes", "Write lookups in the second-level cache, data side", "BGL_L2_WRITE", NULL,
        NULL, NULL),
    ROW(L3_DCW, L3, "L3 data cache writes", "Write lookups in the third-level cache, data side", NULL, NULL, NULL,
        NULL),
    ROW(L1_ICH, L1, "L1 instr cache hits", "Lookups that hit in the first-level cache, instruction side",
        "BGL_I1_ACCESS -BGL_I1_MISS", NULL, NULL, NULL),
    ROW(L2_ICH, L2, "L2 instr cache hits", "Lookups that hit in the second-level cache, instruction side", NULL, NULL,
        NULL, NULL),
    ROW(L3_ICH, L3, "L3 instr cache hits", "Lookups that hit in the third-level cache, instruction side", NULL, NULL,
        NULL, NULL),
    ROW(L1_ICA, L1, "L1 instr cache accesses", "Lookups of any kind in the first-level cache, instruction side",
        "BGL_I1_ACCESS", NULL, NULL, NULL),
    ROW(L2_ICA, L2, "L2 instr cache accesses", "Lookups of any kind in the second-level cache, instruction side",
        "BGL_I1_MISS", NULL, NULL, NULL),
    ROW(L3_ICA, L3, "L3 instr cache accesses", "Lookups of any kind in the third-level cache, instruction side", NULL,
        NULL, NULL, NULL),
    ROW(L1_ICR, L1, "L1 instr cache reads", "Read lookups in the first-level cache, instruction side", "BGL_I1_ACCESS",
        NULL, NULL, NULL),
    ROW(L2_ICR, L2, "L2 instr cache reads", "Read lookups in the second-level cache, instruction side", "BGL_I1_MISS",
        NULL, NULL, NULL),
    ROW(L3_ICR, L3, "L3 instr cache reads", "Read lookups in the third-level cache, instruction side", NULL, NULL, NULL,
        NULL),
    ROW(L1_ICW, L1, "L1 instr cache writes", "Write lookups in the first-level cache, instruction side", NULL, NULL,
        NULL, NULL),
    ROW(L2_ICW, L2, "L2 instr cache writes", "Write lookups in the second-level cache, instruction side", NULL, NULL,
        NULL, NULL),
    ROW(L3_ICW, L3, "L3 instr cache writes", "Write lookups in the third-level cache, instruction side", NULL, NULL,
        NULL, NULL),
    ROW(L1_TCH, L1, "L1 total cache hits", "Lookups that hit in the first-level cache, data plus instruction side",
        "BGL_D1_HIT BGL_I1_ACCESS -BGL_I1_MISS", NULL, NULL, NULL),
    ROW(L2_TCH, L2, "L2 total cache hits", "Lookups that hit in the second-level cache, data plus instruction side",
        "BGL_L2_HIT", NULL, NULL, NULL),
    ROW(L3_TCH, L3, "L3 total cache hits", "Lookups that hit in the third-level cache, data plus instruction side",
        NULL, L3_LOOKUPS " -BGP_L3_M0_MH_ALLOCATION_REQUESTS -BGP_L3_M1_MH_ALLOCATION_REQUESTS", "BGL_UPC_L3_CACHE_HIT",
        NOTE_NODE),
    ROW(L1_TCA, L1, "L1 total cache accesses",
        "Lookups of any kind in the first-level cache, data plus instruction side",
        "BGL_D1_HIT BGL_D1_L_MISS BGL_D1_S_MISS BGL_I1_ACCESS", NULL, NULL, NULL),
    ROW(L2_TCA, L2, "L2 total cache accesses",
        "Lookups of any kind in the second-level cache, data plus instruction side", "BGL_L2_READ BGL_L2_WRITE", NULL,
        NULL, NULL),
    ROW(L3_TCA, L3, "L3 total cache accesses",
        "Lookups of any kind in the third-level cache, data plus instruction side", NULL, L3_READS " " L3_WRITES,
        "BGL_UPC_L3_CACHE_HIT BGL_UPC_L3_CACHE_MISS_DATA_ALRDY_WAY_DDR BGL_UPC_L3_CACHE_MISS_DATA_WILL_BE_REQED_DDR",
        NOTE_NODE),
    ROW(L1_TCR, L1, "L1 total cache reads", "Read lookups in the first-level cache, data plus instruction side",
        "BGL_LOAD BGL_FP_LOAD BGL_I1_ACCESS", NULL, NULL, NULL),
    ROW(L2_TCR, L2, "L2 total cache reads", "Read lookups in the second-level cache, data plus instruction side",
        "BGL_L2_READ", NULL, NULL, NULL),
    ROW(L3_TCR, L3, "L3 total cache reads", "Read lookups in the third-level cache, data plus instruction side", NULL,
        L3_READS, NULL, NOTE_NODE),
    ROW(L1_TCW, L1, "L1 total cache writes", "Write lookups in the first-level cache, data plus instruction side",
        "BGL_STORE BGL_FP_STORE", NULL, NULL, NULL),
    ROW(L2_TCW, L2, "L2 total cache writes", "Write lookups in the second-level cache, data plus instruction side",
        "BGL_L2_WRITE", NULL, NULL, NULL),
    ROW(L3_TCW, L3, "L3 total cache writes", "Write lookups in the third-level cache, data plus instruction side", NULL,
        L3_WRITES, "BGL_UPC_L3_WRQ0_DEP_DBUF BGL_UPC_L3_WRQ1_DEP_DBUF", NOTE_NODE),
    ROW(FML_INS, FP, "FP multiplies", "Floating-point multiplies", "BGL_FP_MULT", NULL, NULL, NULL),
    ROW(FAD_INS, FP, "FP adds", "Floating-point adds and subtracts", "BGL_FP_ADD", NULL, NULL, NULL),
    ROW(FDV_INS, FP, "FP divides", "Floating-point divides", "BGL_FP_DIV", NULL, NULL, NULL),
    ROW(FSQ_INS, FP, "FP square roots", "Floating-point square roots", NULL, NULL, NULL, NULL),
    ROW(FNV_INS, FP, "FP reciprocals", "Floating-point reciprocals", NULL, NULL, NULL, NULL),
    ROW(FP_OPS, FP, "FP operations", "Floating-point operations (an FMA counts two, a pair counts each lane)",
        "BGL_FLOP", NULL, NULL, "An FMA is two operations, a two-pipe FMA four, a divide one."),
    ROW(SP_OPS, FP, "SP operations", "Single-precision operations, each vector lane counted", NULL, NULL, NULL, NULL),
    ROW(DP_OPS, FP, "DP operations", "Double-precision operations, each vector lane counted", NULL, NULL, NULL, NULL),
    ROW(VEC_SP, FP, "SP vector instr", "Single-precision vector instructions", NULL, NULL, NULL, NULL),
    ROW(VEC_DP, FP, "DP vector instr", "Double-precision vector instructions", "BGL_FP_PAIR", NULL, NULL, NULL),
    ROW(REF_CYC, MSC, "Reference cycles", "Cycles of the constant-rate reference clock", "BGL_CYCLES", NULL, NULL,
        NULL),
};

const unsigned papi_preset_count = sizeof papi_presets / sizeof *papi_presets;
