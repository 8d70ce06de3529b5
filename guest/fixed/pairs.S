# Floating point: scalar and in pairs, with the latencies of chains, divisions, conversions, comparisons, exceptions and the
# status register. Instructions of pairs are words: binutils does not know them (src/machine/isa/isa.def).
        .macro  function name
        .globl  \name
        .type   \name, @function
\name:
        .endm
        .macro  end name
        .size   \name, . - \name
        .endm
        .macro  pair    xo, t, a, c, b
        .long   \xo << 1 | \t << 21 | \a << 16 | \b << 11 | \c << 6
        .endm
        .macro  lfpdux  t, a, b
        .long   0x7C0003DC | \t << 21 | \a << 16 | \b << 11
        .endm
        .macro  stfpdux s, a, b
        .long   0x7C0007DC | \s << 21 | \a << 16 | \b << 11
        .endm

        .text
        function _start
        bl      scalar
        bl      daxpy
        bl      complex
        bl      status
        li      0, 1
        li      3, 0
        sc
        end     _start

# Chains of adds and multiplies, independent ones, a division, conversions
        function scalar
        lis     4, numbers@ha
        la      4, numbers@l(4)
        lfd     1, 0(4)
        lfd     2, 8(4)
        lfd     3, 16(4)
        fmr     8, 1
        fmr     9, 2
        li      5, 500
        mtctr   5
1:      fadd    8, 8, 1
        fmadd   8, 8, 2, 3
        fmul    9, 9, 2
        fnmsub  10, 1, 2, 3
        fadds   11, 1, 3
        fmuls   12, 11, 2
        fdiv    13, 1, 2
        fdivs   14, 3, 2
        fctiwz  15, 13
        stfd    15, 32(4)
        lwz     6, 36(4)
        frsp    16, 10
        fabs    17, 10
        fsel    18, 10, 1, 2
        fcmpu   1, 13, 14
        ble     1, 2f
        fneg    3, 3
2:      fres    19, 2
        frsqrte 20, 2
        bdnz    1b
        blr
        end     scalar

# 48 KB of pairs: y += a x
        function daxpy
        lis     4, vectors@ha
        la      4, vectors@l(4)
        addis   5, 4, 1
        lis     3, numbers@ha
        la      3, numbers@l(3)
        li      6, 16
        li      7, 0
        li      8, 1536
        mtctr   8
        addi    4, 4, -16
        addi    5, 5, -16
        lfpdux  1, 3, 7
1:      lfpdux  2, 4, 6
        lfpdux  3, 5, 7
        lfpdux  3, 5, 6
        pair    16, 4, 1, 2, 3          # fpmadd
        stfpdux 4, 5, 7
        bdnz    1b
        blr
        end     daxpy

# The cross and copy forms, moves between the halves
        function complex
        li      5, 400
        mtctr   5
1:      pair    8, 4, 1, 2, 0           # fpmul
        pair    17, 5, 1, 2, 4          # fxmadd
        pair    18, 6, 1, 2, 5          # fxcpmadd
        pair    31, 7, 1, 2, 6          # fxcsnmsub
        pair    12, 8, 4, 0, 5          # fpadd
        pair    13, 9, 8, 0, 6          # fpsub
        pair    14, 10, 0, 0, 2         # fpre
        pair    15, 11, 0, 0, 2         # fprsqrte
        pair    5, 12, 8, 9, 10         # fpsel
        bdnz    1b
        blr
        end     complex

# Invalid operations, a division by zero, an overflow; the status register read and written
        function status
        lis     4, numbers@ha
        la      4, numbers@l(4)
        lfd     1, 0(4)
        lfd     2, 24(4)
        fsub    3, 1, 1
        li      5, 50
        mtctr   5
1:      fdiv    4, 1, 3
        fdiv    5, 3, 3
        fmul    6, 2, 2
        fcmpo   2, 5, 1
        mffs    7
        mtfsb0  3
        mcrfs   3, 3
        mtfsfi  7, 0
        mtfsf   255, 3
        bdnz    1b
        blr
        end     status

        .data
        .balign 16
numbers:
        .double 1.5, 3.25, -0.75, 1e300
        .double 0, 0
        .bss
        .balign 4096
vectors:
        .space  128 << 10
