/* The transform with both pipes: a complex number is a register pair, loaded and stored as a quadword. binutils does
 * not know FP2, so its instructions are words, with the numbers of src/machine/isa/isa.def. */

    .macro  lfpdx   t, a, b
    .long   0x7C00039C | \t << 21 | \a << 16 | \b << 11
    .endm
    .macro  stfpdx  s, a, b
    .long   0x7C00079C | \s << 21 | \a << 16 | \b << 11
    .endm
    .macro  fxpmul  t, a, c                 /* (aP cP, aP cS) */
    .long   0x00000014 | \t << 21 | \a << 16 | \c << 6
    .endm
    .macro  fxcxnpma t, a, c, b             /* (bP - aS cS, bS + aS cP) */
    .long   0x1000003A | \t << 21 | \a << 16 | \b << 11 | \c << 6
    .endm
    .macro  fpadd   t, a, b
    .long   0x00000018 | \t << 21 | \a << 16 | \b << 11
    .endm
    .macro  fpsub   t, a, b
    .long   0x0000001A | \t << 21 | \a << 16 | \b << 11
    .endm

/* t = root b into f\t, root in f\root, b in f\b; a + t into f\b, a - t into f\a */
    .macro  product t, root, b
    fxpmul  \t, \root, \b
    fxcxnpma \t, \root, \b, \t
    .endm
    .macro  sums    a, b, t
    fpadd   \b, \a, \t
    fpsub   \a, \a, \t
    .endm

/* r3 data, r4 roots, r5 n, r6 swaps, r7 how many */
    .globl  fft
    .type   fft, @function
fft:
    cmpwi   7, 0
    beq     passes
    mtctr   7
swap:
    lwz     8, 0(6)
    lwz     9, 4(6)
    addi    6, 6, 8
    lfpdx   0, 3, 8
    lfpdx   1, 3, 9
    stfpdx  1, 3, 8
    stfpdx  0, 3, 9
    bdnz    swap

/* r0 16, r5 bytes of all, r8 bytes of half a group, r9 bytes from root to root, r12 the end */
passes:
    li      0, 16
    slwi    5, 5, 4
    add     12, 3, 5
    li      8, 16
    srwi    9, 5, 1
    srwi    11, 5, 5                        /* the first pass: n/2 groups of one butterfly */
    mtctr   11
    mr      6, 3
    lfpdx   1, 0, 4
first:
    lfpdx   0, 6, 0
    lfpdx   3, 0, 6
    product 2, 1, 0
    sums    3, 0, 2
    stfpdx  0, 0, 6
    stfpdx  3, 6, 0
    addi    6, 6, 32
    bdnz    first

/* The others: two butterflies at a time, so that one computes while the other loads and stores. */
pass:
    slwi    8, 8, 1
    srwi    9, 9, 1
    cmplw   8, 5
    bgelr
    mr      6, 3                            /* a */
group:
    add     7, 6, 8                         /* b */
    mr      10, 4                           /* root */
    srwi    11, 8, 5
    mtctr   11
butterflies:
    lfpdx   0, 0, 7
    lfpdx   1, 0, 10
    lfpdx   4, 7, 0
    lfpdx   5, 10, 9
    product 2, 1, 0
    lfpdx   3, 0, 6
    product 6, 5, 4
    lfpdx   7, 6, 0
    sums    3, 0, 2
    sums    7, 4, 6
    stfpdx  0, 0, 6
    stfpdx  3, 0, 7
    stfpdx  4, 6, 0
    stfpdx  7, 7, 0
    add     10, 10, 9
    add     10, 10, 9
    addi    6, 6, 32
    addi    7, 7, 32
    bdnz    butterflies
    add     6, 6, 8                         /* over the b's */
    cmplw   6, 12
    blt     group
    b       pass
    .size   fft, . - fft
    .section .note.GNU-stack, "", @progbits
