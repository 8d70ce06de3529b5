# The operating system: a second thread that shares memory with the first, futexes, a signal handler, pages mapped and given
# back, a child process, output.
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
        .macro  call number
        li      0, \number
        sc
        .endm
        .set    EXIT, 1
        .set    FORK, 2
        .set    WRITE, 4
        .set    KILL, 37
        .set    GETPID, 20
        .set    MUNMAP, 91
        .set    MMAP, 90
        .set    WAIT4, 114
        .set    CLONE, 120
        .set    RT_SIGRETURN, 172
        .set    RT_SIGACTION, 173
        .set    FUTEX, 221
        .set    EXIT_GROUP, 234

        .text
        function _start
        bl      signals
        bl      pages
        bl      process
        bl      threads
        li      3, 1
        address 4, text
        li      5, 5
        call    WRITE
        li      3, 0
        call    EXIT_GROUP
        end     _start

# SIGUSR1 to oneself, three times
        function signals
        li      3, 10
        address 4, action
        li      5, 0
        li      6, 8
        call    RT_SIGACTION
        li      31, 3
1:      call    GETPID
        li      4, 10
        call    KILL
        addic.  31, 31, -1
        bne     1b
        blr
        end     signals

        function handler
        address 4, caught
        lwz     5, 0(4)
        addi    5, 5, 1
        stw     5, 0(4)
        blr
        end     handler

# 64 KB mapped, touched and unmapped, twice
        function pages
        li      31, 2
1:      li      3, 0
        lis     4, 1
        li      5, 3                    # read, write
        li      6, 0x22                 # private, anonymous
        li      7, -1
        li      8, 0
        call    MMAP
        mr      30, 3
        li      6, 16
        mtctr   6
2:      lwz     7, 0(3)
        stw     6, 4(3)
        addi    3, 3, 4096
        bdnz    2b
        mr      3, 30
        lis     4, 1
        call    MUNMAP
        addic.  31, 31, -1
        bne     1b
        blr
        end     pages

# A child that writes to its copy of a page and ends
        function process
        call    FORK
        cmpwi   3, 0
        bne     1f
        address 4, caught
        li      5, 1000
        mtctr   5
2:      lwz     6, 0(4)
        addi    6, 6, 1
        stw     6, 0(4)
        bdnz    2b
        li      3, 7
        call    EXIT_GROUP
1:      li      4, 0
        li      5, 0
        li      6, 0
        call    WAIT4
        blr
        end     process

# Both add to one counter under a lock; the second wakes the first with a futex when it has done
        function threads
        mflr    29
        lis     3, 0x0001
        ori     3, 3, 0x0F00            # VM, FS, FILES, SIGHAND, THREAD
        address 4, stack_end
        li      5, 0
        li      6, 0
        li      7, 0
        call    CLONE
        cmpwi   3, 0
        bne     1f
        bl      work
        address 4, done
        li      5, 1
        stw     5, 0(4)
        mr      3, 4
        li      4, 1                    # wake
        li      5, 1
        call    FUTEX
        li      3, 0
        call    EXIT
1:      bl      work
2:      address 3, done
        lwz     4, 0(3)
        cmpwi   4, 0
        bne     3f
        li      4, 0                    # wait
        li      5, 0
        li      6, 0
        call    FUTEX
        b       2b
3:      mtlr    29
        blr
        end     threads

        function work
        address 4, lock
        li      5, 400
        mtctr   5
1:      lwarx   6, 0, 4
        cmpwi   6, 0
        bne     1b
        li      7, 1
        stwcx.  7, 0, 4
        bne     1b
        isync
        lwz     6, 64(4)
        addi    6, 6, 1
        stw     6, 64(4)
        sync
        li      7, 0
        stw     7, 0(4)
        bdnz    1b
        blr
        end     work

        .data
        .balign 4
action: .long   handler, 0, 0, 0, 0
text:   .ascii  "done\n"
        .balign 128
lock:   .space  128
caught: .long   0
done:   .long   0
        .bss
        .balign 4096
        .space  8192
stack_end:
        .space  64
