# Calls: nested, recursive, through pointers, in place of a return; branches on the count, on conditions, over a table.
        .macro  function name
        .globl  \name
        .type   \name, @function
\name:
        .endm
        .macro  end name
        .size   \name, . - \name
        .endm
        .macro  enter
        stwu    1, -32(1)
        mflr    0
        stw     0, 36(1)
        stmw    28, 12(1)
        .endm
        .macro  leave
        lmw     28, 12(1)
        lwz     0, 36(1)
        mtlr    0
        addi    1, 1, 32
        .endm

        .text
        function _start
        li      30, 0
        li      31, 100
1:      mr      3, 31
        bl      outer
        addic.  31, 31, -1
        bne     1b
        li      3, 11
        bl      fibonacci
        mr      30, 3
        li      3, 300
        bl      cases
        xor     3, 3, 30
        rlwinm  3, 3, 0, 26, 31
        li      0, 1
        sc
        end     _start

        function outer
        enter
        mr      31, 3
        bl      inner
        add     3, 3, 31
        bl      tail
        lis     4, inner@ha
        la      4, inner@l(4)
        mtctr   4
        bctrl
        leave
        blr
        end     outer

        function inner
        mulli   3, 3, 13
        srawi   3, 3, 2
        cmpwi   3, 0
        bnelr
        addi    3, 3, 1
        blr
        end     inner

        function tail
        addi    3, 3, 3
        b       inner
        end     tail

        function fibonacci
        cmplwi  3, 2
        bltlr
        enter
        mr      31, 3
        addi    3, 31, -1
        bl      fibonacci
        mr      30, 3
        addi    3, 31, -2
        bl      fibonacci
        add     3, 3, 30
        leave
        blr
        end     fibonacci

# r3 steps of a machine whose next state a table gives
        function cases
        enter
        mtctr   3
        li      3, 0
        li      31, 0
        lis     30, table@ha
        la      30, table@l(30)
        mfctr   29
1:      rlwinm  4, 31, 2, 28, 29
        lwzx    4, 30, 4
        mtctr   4
        bctr
zero:   addi    3, 3, 5
        addi    31, 31, 3
        b       next
one:    crxor   6, 6, 6
        mfcr    5
        xor     3, 3, 5
        addi    31, 31, 1
        b       next
two:    addc    3, 3, 29
        addze   3, 3
        addi    31, 31, 2
        b       next
three:  neg     3, 3
        isel    3, 3, 29, 2
        addi    31, 31, 1
next:   addic.  29, 29, -1
        bne     1b
        leave
        blr
        end     cases

        .data
        .balign 4
table:  .long   zero, one, two, three
