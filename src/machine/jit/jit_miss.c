/* The fast path of misses in assembler, for the registers of translated code (jit_layout.c): what
 * cache_fast.c does at once for a load or a store whose line byte has no set bit. Rare cases call
 * cache_load_fast and cache_store_fast. docs/fast-path.md has the contract.
 *
 * In: eax, the line's number in the address space; above it the low bits of an address that is not
 * aligned (cache_lines), so that the lookup finds no page. r11: the core's cache_fast. r15: line
 * bytes (LINES_BIAS). r13: the time. Out: carry set: the access is counted and may be done, and the
 * time includes its stall as far as that is known. Carry clear: eax is the result of the model,
 * CACHE_SLOW or a stall with CACHE_NOTIFY. Clobbers rdx, r8, r9, r10, r11.
 */
#include "machine/jit/jit_miss.h"

#ifdef JIT_MISSES

#include "machine/cache/cache_fast.h"

/* Offsets of members, for the assembler: .equ NAME, offset. */
#define OFFSET(name, structure, member)                                                            \
    __asm__ volatile(".equ " #name ", %c0" : : "i"(offsetof(struct structure, member)))

_Static_assert(CACHE_LOAD == 1 && CACHE_STORE == 2 && CACHE_IN_L1D == 16 && CACHE_OPEN == 128 &&
                   CACHE_CONTENDED == 32,
               "the assembler has them as numbers");
_Static_assert(CACHE_GRANULES == 1 << 27 && CACHE_SLOW == UINT32_MAX, "likewise");
_Static_assert(FAST_LOAD == 1 && FAST_STORE == 2 && CACHE_GRANULE_BITS == 5, "likewise");
_Static_assert(MISS_STORE == 1 << 30 && MISS_IN_L1D == CACHE_IN_L1D << 25 &&
                   sizeof(cache_miss) == 8,
               "likewise");

/* Holds the assembler, never called: in a function the compiler fills in the offsets. */
static __attribute__((naked, used, noinline)) void miss_code(void)
{
    OFFSET(NEXT_MISS, cache_fast, next_miss);
    OFFSET(FULL, cache_fast, full);
    OFFSET(LOAD_PAGES, cache_fast, load_pages);
    OFFSET(STORE_PAGES, cache_fast, store_pages);
    OFFSET(VIEW, cache_fast, view);
    OFFSET(NEXT_OPEN, cache_fast, next_open);
    OFFSET(SET_MASK, cache_fast, set_mask);
    OFFSET(NO_AT, cache_fast, no_at);
    OFFSET(NO_SET, cache_fast, no_set);
    OFFSET(SETS, cache_fast, round_robin);
    OFFSET(LINE, cache_fast, line);
    OFFSET(AT, cache_fast, at);
    OFFSET(AFTER, cache_fast, after);
    OFFSET(NEXT, round_robin, next_victim);
    OFFSET(WRAP, round_robin, wrap_way);
    OFFSET(OPENED, open_line, at);
    OFFSET(OPEN_AFTER, open_line, next);
    OFFSET(OPENED_LINE, open_line, line);
    __asm__ volatile(".equ BIAS, %c0" : : "i"(LINES_BIAS));
    /* clang-format off */
    __asm__ volatile(
        /* r8d: the page, if it has the right; else jumps to 1. rdx: the line's byte. */
        ".macro lookup pages, right\n"
        "   mov %eax, %r8d\n"
        "   shr $7, %r8d\n"
        "   mov \\pages(%r11), %rdx\n"
        "   mov (%rdx,%r8,4), %r8d\n"
        "   lea -BIAS(%r15,%rax), %rdx\n"
        "   test $\\right, %r8b\n"
        "   jz 1f\n"
        ".endm\n"

        /* The set in eax replaces its next victim by the line in r8d, whose byte is at rdx; rare cases: `else`. */
        ".macro replace else\n"
        "   mov SETS+NEXT(%r11,%rax,8), %r9d\n"
        "   cmp SETS+WRAP(%r11,%rax,8), %r9d\n"
        "   je \\else\n"
        "   mov AT(%r11,%r9,8), %r10\n" /* the byte of the victim */
        "   test %r10, %r10\n"
        "   jz \\else\n"
        "   mov %rdx, AT(%r11,%r9,8)\n"
        "   mov %r8d, LINE(%r11,%r9,4)\n"
        "   andb $~17, (%r10)\n"
        "   orb $17, (%rdx)\n"
        "   movzwl AFTER(%r11,%r9,2), %r9d\n"
        "   mov %r9d, SETS+NEXT(%r11,%rax,8)\n"
        ".endm\n"

        /* Writes the miss in r8d to the list at r9. */
        ".macro note\n"
        "   mov %r8d, (%r9)\n"
        "   mov %r13d, 4(%r9)\n"
        ".endm\n"

        /* Returns with carry, or jumps to 2 when the list, which ends at r9, is full. */
        ".macro done\n"
        "   cmp FULL(%r11), %r9\n" /* below: the carry is set */
        "   jae 2f\n"
        "   ret\n"
        ".endm\n"

        /* Appends the miss in r8d to the list, then the same. */
        ".macro note_done\n"
        "   mov NEXT_MISS(%r11), %r9\n"
        "   note\n"
        "   add $8, %r9\n"
        "   mov %r9, NEXT_MISS(%r11)\n"
        "   done\n"
        ".endm\n"

        /* Calls a C function with r11, r9 and rdx; saves the other caller-saved registers. Adds its result to the time;
         * a negative one is returned, carry clear. */
        ".macro call_c function\n"
        "   push %rdi\n"
        "   push %rsi\n"
        "   push %rcx\n"
        "   mov %r11, %rdi\n"
        "   mov %r9, %rsi\n"
        "   call \\function\n"
        "   pop %rcx\n"
        "   pop %rsi\n"
        "   pop %rdi\n"
        "   test %eax, %eax\n" /* clears the carry */
        "   js 9f\n"
        "   add %rax, %r13\n"
        "   stc\n"
        "9: ret\n"
        ".endm\n"

        /* The rare case: calls C with the view, the address (of the line) and the time. */
        ".macro rare_case function\n"
        "   mov VIEW(%r11), %r11\n"
        "   lea BIAS(%rdx), %r9\n"
        "   sub %r15, %r9\n"
        "   cmp $(1 << 27), %r9d\n" /* below: the carry is set */
        "   jae 8f\n"
        "   shl $5, %r9d\n"
        "   mov %r13, %rdx\n"
        "   call_c \\function\n"
        "8: mov $-1, %eax\n" /* not aligned: CACHE_SLOW */
        "   ret\n"
        ".endm\n"

        ".text\n"
        ".p2align 4\n"
        ".globl jit_miss_load\n"
        ".hidden jit_miss_load\n"
        ".type jit_miss_load, @function\n"
        "jit_miss_load:\n"
        "   lookup LOAD_PAGES, 1\n"
        "   testb $(16 | 32), (%rdx)\n" /* the page has been out of the TLB; the line is contended */
        "   jnz 1f\n"
        "   and $-128, %r8d\n"
        "   add %eax, %r8d\n" /* the line */
        "   and SET_MASK(%r11), %eax\n"
        "   replace 1f\n"
        "   note_done\n"
        "1: rare_case cache_load_fast\n"
        "2: call_c cache_drain_fast\n"
        ".size jit_miss_load, . - jit_miss_load\n"

        /* The branch-free probe, for an unpredictable load. On a hit it changes the byte, set and list entry that are
         * never read, instead of branching around the changes. */
        ".p2align 4\n"
        ".globl jit_miss_probe\n"
        ".hidden jit_miss_probe\n"
        ".type jit_miss_probe, @function\n"
        "jit_miss_probe:\n"
        "   lookup LOAD_PAGES, 1\n"
        "   and $-128, %r8d\n"
        "   add %eax, %r8d\n" /* the line */
        "   and SET_MASK(%r11), %eax\n"
        "   movzbl (%rdx), %r9d\n"
        "   test $32, %r9b\n" /* the line is contended */
        "   jnz 4f\n"
        "   and $17, %r9d\n"
        "   cmp $16, %r9d\n" /* the page has been out of the TLB */
        "   je 1f\n"
        "   test $1, %r9b\n"
        "   mov NEXT_MISS(%r11), %r9\n"
        "   lea 8(%r9), %r10\n"
        "   cmovnz %r9, %r10\n"
        "   cmovnz NO_SET(%r11), %eax\n"
        "   cmovnz NO_AT(%r11), %rdx\n"
        "   note\n"
        "   mov %r10, NEXT_MISS(%r11)\n"
        "   replace 3f\n"
        "   mov NEXT_MISS(%r11), %r9\n"
        "   done\n"
        "3: subq $8, NEXT_MISS(%r11)\n" /* a rare case: not a miss yet */
        "   jmp 4f\n"
        "1: testb $1, (%rdx)\n"
        "   jz 4f\n"
        "   stc\n"
        "   ret\n"
        "4: rare_case cache_load_fast\n"
        "2: call_c cache_drain_fast\n"
        ".size jit_miss_probe, . - jit_miss_probe\n"

        ".p2align 4\n"
        ".globl jit_miss_store\n"
        ".hidden jit_miss_store\n"
        ".type jit_miss_store, @function\n"
        "jit_miss_store:\n"
        "   lookup STORE_PAGES, 2\n"
        "   and $-128, %r8d\n"
        "   add %eax, %r8d\n" /* the line */
        "   movzbl (%rdx), %eax\n"
        "   test $(32 | 128), %al\n" /* whether it is contended or open, */
        "   jnz 1f\n"
        "   and $16, %eax\n" /* and in L1D */
        "   mov NEXT_OPEN(%r11), %r9\n"
        "   mov OPENED(%r9), %r10\n" /* the byte of the one that is closed */
        "   test %r10, %r10\n"
        "   jz 1f\n"
        "   andb $~130, (%r10)\n"
        "   mov %rdx, OPENED(%r9)\n"
        "   mov %r8d, OPENED_LINE(%r9)\n"
        "   mov OPEN_AFTER(%r9), %r9\n"
        "   mov %r9, NEXT_OPEN(%r11)\n"
        "   orb $130, (%rdx)\n"
        "   shl $25, %eax\n"
        "   lea (1 << 30)(%r8,%rax), %r8d\n"
        "   note_done\n"
        "1: rare_case cache_store_fast\n"
        "2: call_c cache_drain_fast\n"
        ".size jit_miss_store, . - jit_miss_store\n"
        ".purgem lookup\n"
        ".purgem replace\n"
        ".purgem note\n"
        ".purgem done\n"
        ".purgem note_done\n"
        ".purgem call_c\n"
        ".purgem rare_case\n");
    /* clang-format on */
}

#endif
