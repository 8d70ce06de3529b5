# Loads and stores that hit and miss every level: streams, strides, irregular addresses, lines that two accesses share,
# the cache and reservation instructions. Each function is one kind, for the rows of a histogram.
        .macro  function name
        .globl  \name
        .type   \name, @function
\name:
        .endm
        .macro  end name
        .size   \name, . - \name
        .endm
        .macro  address register, symbol
        lis     \register, \symbol@ha
        la      \register, \symbol@l(\register)
        .endm

        .text
        function _start
        bl      stream
        bl      strides
        bl      irregular
        bl      widths
        bl      lines
        bl      reservations
        bl      stream
        li      0, 1
        li      3, 0
        sc
        end     _start

# 256 KB: stores in order, then loads in order with update
        function stream
        address 4, big
        lis     5, 1                    # 65,536 words
        mtctr   5
        addi    6, 4, -4
1:      stwu    5, 4(6)
        addi    5, 5, 7
        bdnz    1b
        lis     5, 1
        mtctr   5
        addi    6, 4, -4
        li      3, 0
2:      lwzu    7, 4(6)
        add     3, 3, 7
        bdnz    2b
        blr
        end     stream

# One word in each line of L1, then of L2, then of each page and one line more: 512 KB, forwards and backwards
        function strides
        address 4, big
        li      5, 16384
        mtctr   5
        mr      6, 4
1:      lwz     7, 0(6)
        addi    6, 6, 32
        bdnz    1b
        li      5, 4096
        mtctr   5
2:      addi    6, 6, -128
        lwz     7, 64(6)
        bdnz    2b
        li      5, 1600
        mtctr   5
        mr      6, 4
3:      lwz     7, 0(6)
        stw     5, 8(6)
        addi    6, 6, 4128
        bdnz    3b
        blr
        end     strides

# 30,000 words of 8 MB in no order: addresses from a linear congruential generator; half of them are stored to, by a branch
# that nothing can predict
        function irregular
        address 4, big
        lis     8, 0x41C6
        ori     8, 8, 0x4E6D
        li      9, 1
        li      5, 30000
        mtctr   5
1:      mullw   9, 9, 8
        addi    9, 9, 12345
        rlwinm  7, 9, 20, 9, 29         # 8 MB, a multiple of 4
        andis.  10, 9, 0x0040
        beq     2f
        lwzx    3, 4, 7
        b       3f
2:      stwx    9, 4, 7
3:      bdnz    1b
        blr
        end     irregular

# Bytes, halfwords, words, doubles, many words at once, reversed, over the end of a line
        function widths
        address 4, small
        li      5, 100
        mtctr   5
1:      lbz     6, 1(4)
        lha     7, 2(4)
        lhzu    8, 6(4)
        sthu    8, 2(4)
        stb     6, 5(4)
        lwz     9, 29(4)
        stw     9, 61(4)
        lwbrx   10, 0, 4
        sthbrx  10, 0, 4
        lfd     1, 8(4)
        stfd    1, 28(4)
        lfsu    2, 16(4)
        stfs    2, 4(4)
        lmw     25, 0(4)
        stmw    25, 36(4)
        lswi    11, 4, 8
        stswi   11, 4, 7
        bdnz    1b
        blr
        end     widths

# Lines that are zeroed, touched ahead, written back, thrown away; instructions fetched again
        function lines
        address 4, big
        li      5, 600
        mtctr   5
1:      dcbz    0, 4
        addi    6, 4, 2048
        dcbt    0, 6
        dcbtst  0, 6
        lwz     7, 0(4)
        stw     5, 16(4)
        dcbst   0, 4
        addi    4, 4, 32
        bdnz    1b
        address 4, big
        li      5, 300
        mtctr   5
2:      dcbf    0, 4
        lwz     7, 0(4)
        addi    4, 4, 64
        bdnz    2b
        address 4, lines
        icbi    0, 4
        sync
        isync
        blr
        end     lines

        function reservations
        address 4, small
        li      5, 200
        mtctr   5
1:      lwarx   6, 0, 4
        addi    6, 6, 1
        stwcx.  6, 0, 4
        bne-    1b
        mulhw   7, 6, 5
        divwu   8, 7, 6
        cntlzw  9, 8
        bdnz    1b
        blr
        end     reservations

        .data
        .type   small, @object
        .size   small, 4096
small:  .fill   1024, 4, 0x3F8CCCCD
        .bss
        .balign 4096
        .type   big, @object
        .size   big, 8 << 20
big:    .space  8 << 20
