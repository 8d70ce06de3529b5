# Functions whose instructions can be counted by hand, for tests of call paths.
#
#   leaf        4 instructions, no access
#   twice       10, a store with update, a store, a load; calls leaf twice
#   jumper      2, then leaf in its place (a tail call)
#   down(n)     n > 0: 11, a store with update, a store, a load, and down(n - 1); n = 0: 3
#   through     11, a store with update, a store, a load; calls leaf through CTR and returns through LR
        .text
        .globl leaf, twice, jumper, down, through
        .type leaf, @function
leaf:   addi    3, 3, 1
        addi    3, 3, 1
        addi    3, 3, 1
        blr
        .size leaf, . - leaf

        .type twice, @function
twice:  stwu    1, -16(1)
        mflr    0
        stw     0, 20(1)
        bl      leaf
        bl      leaf
        lwz     0, 20(1)
        mtlr    0
        addi    1, 1, 16
        nop
        blr
        .size twice, . - twice

        .type jumper, @function
jumper: addi    3, 3, 1
        b       leaf
        .size jumper, . - jumper

        .type down, @function
down:   cmpwi   3, 0
        beq     1f
        stwu    1, -16(1)
        mflr    0
        stw     0, 20(1)
        addi    3, 3, -1
        bl      down
        lwz     0, 20(1)
        mtlr    0
        addi    1, 1, 16
1:      blr
        .size down, . - down

        .type through, @function
through:
        stwu    1, -16(1)
        mflr    0
        stw     0, 20(1)
        lis     4, leaf@ha
        addi    4, 4, leaf@l
        mtctr   4
        bctrl
        lwz     0, 20(1)
        mtlr    0
        addi    1, 1, 16
        blr
        .size through, . - through
        .section .note.GNU-stack, "", @progbits
