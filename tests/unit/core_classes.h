/* The class of every instruction, by name, as the 440's manual and the two-pipe FPU's tables have
 * it: written down apart from src/machine/isa/isa.def. A name stands for its form with a point at
 * the end, too. test_core_qemu.c counts by it.
 */
#ifndef TEST_CORE_CLASSES_H
#define TEST_CORE_CLASSES_H

#include <stdio.h>
#include <string.h>

#include "machine/isa/isa.h"

static const struct {
    enum isa_class klass;
    const char *names;
} core_classes[] = {
    {ISA_CLASS_NONE, " callthru "},
    {ISA_CLASS_ADD_SUB,
     " addi addis addic subfic add addo addc addco adde addeo addme addmeo addze addzeo "
     " subf subfo subfc subfco subfe subfeo subfme subfmeo subfze subfzeo neg nego "},
    {ISA_CLASS_LOGICAL,
     " ori oris xori xoris andi. andis. and andc eqv nand nor or orc xor cntlzw extsb extsh "
     " dlmzb "},
    {ISA_CLASS_SHROTMK, " rlwimi rlwinm rlwnm slw srw sraw srawi "},
    {ISA_CLASS_MULT_DIV,
     " mulli mullw mullwo divw divwo divwu divwuo mulhw mulhwu mulhhwu mulhhw mulchwu "
     " mulchw mullhwu mullhw machhwu machhwuo machhw machhwo machhwsu machhwsuo machhws "
     " machhwso nmachhw nmachhwo nmachhws nmachhwso macchwu macchwuo macchw macchwo "
     " macchwsu macchwsuo macchws macchwso nmacchw nmacchwo nmacchws nmacchwso maclhwu "
     " maclhwuo maclhw maclhwo maclhwsu maclhwsuo maclhws maclhwso nmaclhw nmaclhwo "
     " nmaclhws nmaclhwso "},
    {ISA_CLASS_BRANCH, " b bl ba bla bc bcl bca bcla bclr bclrl bcctr bcctrl "},
    {ISA_CLASS_TLB_OP, " tlbre tlbwe tlbsx tlbsync "},
    {ISA_CLASS_PROCESS_CONTROL,
     " sc rfi rfci rfmci isync crand crandc creqv crnand crnor cror crorc crxor mcrf mcrxr "
     " mfcr mtcrf mfspr mtspr mftb mfmsr mtmsr wrtee wrteei mfdcr mtdcr "},
    {ISA_CLASS_COMPARE, " cmpi cmpli cmp cmpl "},
    {ISA_CLASS_TRAP, " twi tw "},
    {ISA_CLASS_OTHER, " isel nop.reserved "},
    {ISA_CLASS_LOAD,
     " lbz lbzu lbzx lbzux lhz lhzu lhzx lhzux lha lhau lhax lhaux lwz lwzu lwzx lwzux "
     " lhbrx lwbrx lwarx lmw lswi lswx "},
    {ISA_CLASS_STORE,
     " stb stbu stbx stbux sth sthu sthx sthux stw stwu stwx stwux sthbrx stwbrx stwcx. "
     " stmw stswi stswx "},
    {ISA_CLASS_DCACHE_OP, " dcba dcbf dcbi dcbst dcbt dcbtst dcbz dccci dcread "},
    {ISA_CLASS_ICACHE_OP, " icbi icbt iccci icread "},
    {ISA_CLASS_SYNC, " msync mbar "},
    {ISA_CLASS_FP_ADD_SUB_1, " fadd fadds fsub fsubs "},
    {ISA_CLASS_FP_MULT_1, " fmul fmuls "},
    {ISA_CLASS_FP_FMA_2, " fmadd fmadds fmsub fmsubs fnmadd fnmadds fnmsub fnmsubs "},
    {ISA_CLASS_FP_DIV_1, " fdiv fdivs "},
    {ISA_CLASS_FP_OTHER_1,
     " fsqrt fsqrts fres frsqrte fsel frsp fctiw fctiwz fctid fctidz fcfid fmr fneg fabs "
     " fnabs fcmpu fcmpo mffs mcrfs mtfsf mtfsfi mtfsb0 mtfsb1 fsmr fscmp fsabs fsneg "
     " fsnabs fsmtp fsmfp "},
    {ISA_CLASS_FP_ADD_SUB_2, " fpadd fpsub "},
    {ISA_CLASS_FP_MULT_2, " fpmul fxmul fxpmul fxsmul "},
    {ISA_CLASS_FP_FMA_4,
     " fpmadd fxmadd fxcpmadd fxcsmadd fpnmadd fxnmadd fxcpnmadd fxcsnmadd fpmsub fxmsub "
     " fxcpmsub fxcsmsub fpnmsub fxnmsub fxcpnmsub fxcsnmsub fxcpnpma fxcsnpma fxcpnsma "
     " fxcsnsma fxcxma fxcxnpma fxcxnsma fxcxnms "},
    {ISA_CLASS_FP_OTHER_2,
     " fpsel fpre fprsqrte fpmr fpabs fpneg fprsp fpnabs fxmr fpctiw fpctiwz "},
    {ISA_CLASS_FP_LOAD_SINGLE, " lfs lfsu lfsx lfsux lfssx lfssux "},
    {ISA_CLASS_FP_LOAD_DOUBLE, " lfd lfdu lfdx lfdux lfsdx lfsdux "},
    {ISA_CLASS_FP_LOAD_PAIR, " lfxsx lfxsux lfpsx lfpsux "},
    {ISA_CLASS_FP_LOAD_QUAD, " lfxdx lfxdux lfpdx lfpdux "},
    {ISA_CLASS_FP_STORE_SINGLE, " stfs stfsu stfsx stfsux stfiwx stfssx stfssux "},
    {ISA_CLASS_FP_STORE_DOUBLE, " stfd stfdu stfdx stfdux stfsdx stfsdux "},
    {ISA_CLASS_FP_STORE_PAIR, " stfpiwx stfxsx stfxsux stfpsx stfpsux "},
    {ISA_CLASS_FP_STORE_QUAD, " stfxdx stfxdux stfpdx stfpdux "},
};

static inline enum isa_class core_class_of(enum isa_id id)
{
    char name[40];
    (void)snprintf(name, sizeof name, " %s ", isa_row(id)->name);
    for (int point = 0; point < 2; point++) {
        for (unsigned i = 0; i < sizeof core_classes / sizeof *core_classes; i++)
            if (strstr(core_classes[i].names, name)) return core_classes[i].klass;
        char *end = name + strlen(name) - 2;
        if (*end != '.') break;
        end[0] = ' ';
        end[1] = 0;
    }
    return ISA_CLASS_COUNT;
}

#endif
