# Data accesses whose level of the hierarchy is known by reading them: L1 D has 32 KiB in lines of 32 bytes, L3 has lines of
# 128 bytes. tests/cmd/test_levels has the sums.
        .globl  _start
        .text
# walk: loads a word of each line of 32 KiB in order. The first walk misses L1 with all 1,024; 256 of these are the first
# use of a line of L3 that came from DDR, the other 768 find theirs in the prefetch buffer. The second walk hits L1.
_start: lis     %r9, a@ha
        la      %r9, a@l(%r9)
        li      %r10, 2
1:      li      %r3, 1024
        mtctr   %r3
        mr      %r8, %r9
2:      lwz     %r4, 0(%r8)
        addi    %r8, %r8, 32
        bdnz    2b
        addic.  %r10, %r10, -1
        bne     1b
# hop: a word of each of 2,048 lines of L3, 512 bytes apart, in an order that is no stream. They are more than L1 and the
# prefetch buffer hold, so the first round loads all of them from DDR, the second all of them from L3. Every fourth line of
# L3 is in one of its four directories: 0 of bank 0.
        lis     %r9, b@ha
        la      %r9, b@l(%r9)
        li      %r10, 2
3:      li      %r3, 2048
        mtctr   %r3
        li      %r5, 0
4:      slwi    %r6, %r5, 9
        lwzx    %r4, %r9, %r6
        mulli   %r5, %r5, 773
        addi    %r5, %r5, 1
        clrlwi  %r5, %r5, 21
        bdnz    4b
        addic.  %r10, %r10, -1
        bne     3b
# put: a store to each of 512 lines that no load touched, 512 bytes apart. Without allocation they go into L3; with it, L1
# fills 512 lines, each the first use of a line of L3 that came from DDR.
        lis     %r8, c@ha
        la      %r8, c@l(%r8)
        li      %r3, 512
        mtctr   %r3
5:      stw     %r4, 0(%r8)
        addi    %r8, %r8, 512
        bdnz    5b
        li      %r0, 1
        li      %r3, 0
        sc
        .bss
        .balign 131072
a:      .space  32768
        .balign 131072
b:      .space  1048576
c:      .space  262144
