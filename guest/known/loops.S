# Loops whose counts are known by reading them: N iterations each, then exit. Assembled with -DN=...; the analytic
# numbers are beside the loops and in tests/cmd/test_counts.
	.globl	_start
	.text
_start:
	lis	%r9, data@ha
	la	%r9, data@l(%r9)          # 2 instructions: 2 adds
	lis	%r3, N@h
	ori	%r3, %r3, N@l             # 2: 1 add, 1 logical
	mtctr	%r3                       # 1: control

1:	lwz	%r4, 0(%r9)               # integer load
	addi	%r4, %r4, 1               # add
	stw	%r4, 0(%r9)               # integer store
	lfd	%f1, 8(%r9)               # FP load, double
	fmadd	%f2, %f1, %f1, %f2        # FMA
	fadd	%f3, %f3, %f1             # FP add
	stfs	%f1, 16(%r9)              # FP store, single
	rlwinm	%r5, %r4, 3, 0, 28        # shift
	mullw	%r6, %r5, %r4             # multiply
	bdnz	1b                        # branch: 10 instructions an iteration

	li	%r0, 1                    # 1 add
	li	%r3, 0                    # 1 add
	sc                                # 1: control; 3 instructions
	.data
	.balign	16
data:	.long	0, 0
	.double	1.5
	.long	0
