/* Misses of the common kind without a call of C: what cache_fast.c does at once for a load or a
 * store whose line is not free, written for the registers of translated code (jit_layout.c). All
 * that is seldom so, it asks cache_load_fast and cache_store_fast for.
 *
 * In: in eax the number of the line of the access, among those of the space, with low bits of the
 * address above it that say that it is not aligned (cache_lines), which finds no page; the core's
 * cache_fast in r11, lines in r15 (LINES_BIAS), the time in r13. Out: the carry is set when the
 * access is counted and may be done, and the time has what it cost as far as that is known; else
 * eax is what the model said (CACHE_SLOW, or a stall with CACHE_NOTIFY). rdx, r8, r9, r10 and r11
 * are lost, all others kept.
 */
#include "machine/jit/jit_miss.h"

#ifdef JIT_MISSES

#include "machine/cache/cache_fast.h"

/* Places of members, for the assembler, by the same names. */
#define TEXT(x)          #x
#define HAS(name, value) ".equ " name ", " TEXT(value) "\n"

_Static_assert(CACHE_LOAD == 1 && CACHE_STORE == 2 && CACHE_IN_L1D == 16 && CACHE_OPEN == 128,
               "they stand below");
_Static_assert(CACHE_GRANULES == 1 << 27 && CACHE_SLOW == UINT32_MAX, "as above");
_Static_assert(FAST_LOAD == 1 && FAST_STORE == 2 && CACHE_GRANULE_BITS == 5, "as above");
_Static_assert(MISS_STORE == 1 << 30 && MISS_IN_L1D == CACHE_IN_L1D << 25 &&
                   sizeof(cache_miss) == 8,
               "as above");

/* clang-format off */
__asm__(HAS("NEXT_MISS", FAST_NEXT_MISS)
        HAS("FULL", FAST_FULL)
        HAS("LOAD_PAGES", FAST_LOAD_PAGES)
        HAS("STORE_PAGES", FAST_STORE_PAGES)
        HAS("VIEW", FAST_VIEW)
        HAS("NEXT_OPEN", FAST_NEXT_OPEN)
        HAS("SET_MASK", FAST_SET_MASK)
        HAS("NO_AT", FAST_NO_AT)
        HAS("NO_SET", FAST_NO_SET)
        HAS("SETS", FAST_ROUND_ROBIN)
        HAS("LINE", FAST_LINE)
        HAS("AT", FAST_AT)
        HAS("AFTER", FAST_AFTER)
        HAS("NEXT", ROUND_ROBIN_NEXT)
        HAS("WRAP", ROUND_ROBIN_WRAP)
        HAS("OPENED", OPEN_AT)
        HAS("OPEN_AFTER", OPEN_NEXT)
        HAS("OPENED_LINE", OPEN_LINE)
        HAS("BIAS", LINES_BIAS)

        /* The page in r8d, if such accesses are quick in it (else: on at 1); rdx: the line's byte. */
        ".macro look pages, quick\n"
        "   mov %eax, %r8d\n"
        "   shr $7, %r8d\n"
        "   mov \\pages(%r11), %rdx\n"
        "   mov (%rdx,%r8,4), %r8d\n"
        "   lea -BIAS(%r15,%rax), %rdx\n"
        "   test $\\quick, %r8b\n"
        "   jz 1f\n"
        ".endm\n"

        /* The set in eax takes the line in r8d, whose byte is at rdx, in its turn. If that is not plain: on at `else`. */
        ".macro replace else\n"
        "   mov SETS+NEXT(%r11,%rax,8), %r9d\n"
        "   cmp SETS+WRAP(%r11,%rax,8), %r9d\n"
        "   je \\else\n"
        "   mov AT(%r11,%r9,8), %r10\n" /* the byte of the line that goes */
        "   test %r10, %r10\n"
        "   jz \\else\n"
        "   mov %rdx, AT(%r11,%r9,8)\n"
        "   mov %r8d, LINE(%r11,%r9,4)\n"
        "   andb $~17, (%r10)\n"
        "   orb $17, (%rdx)\n"
        "   movzwl AFTER(%r11,%r9,2), %r9d\n"
        "   mov %r9d, SETS+NEXT(%r11,%rax,8)\n"
        ".endm\n"

        /* The miss in r8d is noted; r9: where. */
        ".macro note\n"
        "   mov %r8d, (%r9)\n"
        "   mov %r13d, 4(%r9)\n"
        ".endm\n"

        /* That was all. When there is no room for more than r9 says, it goes on at 2. */
        ".macro done\n"
        "   cmp FULL(%r11), %r9\n" /* below: the carry is set */
        "   jae 2f\n"
        "   ret\n"
        ".endm\n"

        /* Likewise of a miss that is still to be noted. */
        ".macro note_done\n"
        "   mov NEXT_MISS(%r11), %r9\n"
        "   note\n"
        "   add $8, %r9\n"
        "   mov %r9, NEXT_MISS(%r11)\n"
        "   done\n"
        ".endm\n"

        /* Calls C with r11, r9 and rdx, and keeps what it may change and nobody has given up. Its answer is added to the
         * time, or passed on if it is negative. */
        ".macro answer function\n"
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

        /* Seldom so: C is asked, with the view, the address (of the line) and the time. */
        ".macro otherwise function\n"
        "   mov VIEW(%r11), %r11\n"
        "   lea BIAS(%rdx), %r9\n"
        "   sub %r15, %r9\n"
        "   cmp $(1 << 27), %r9d\n" /* below: the carry is set */
        "   jae 8f\n"
        "   shl $5, %r9d\n"
        "   mov %r13, %rdx\n"
        "   answer \\function\n"
        "8: mov $-1, %eax\n" /* not aligned: CACHE_SLOW */
        "   ret\n"
        ".endm\n"

        ".text\n"
        ".p2align 4\n"
        ".globl jit_miss_load\n"
        ".hidden jit_miss_load\n"
        ".type jit_miss_load, @function\n"
        "jit_miss_load:\n"
        "   look LOAD_PAGES, 1\n"
        "   testb $16, (%rdx)\n" /* the page has been out of the TLB */
        "   jnz 1f\n"
        "   and $-128, %r8d\n"
        "   add %eax, %r8d\n" /* the line */
        "   and SET_MASK(%r11), %eax\n"
        "   replace 1f\n"
        "   note_done\n"
        "1: otherwise cache_load_fast\n"
        "2: answer cache_drain_fast\n"
        ".size jit_miss_load, . - jit_miss_load\n"

        /* The same for a load that may be free, of which nobody knows without looking. What it would change is changed
         * then, too, but for no line: no branch depends on it. */
        ".p2align 4\n"
        ".globl jit_miss_probe\n"
        ".hidden jit_miss_probe\n"
        ".type jit_miss_probe, @function\n"
        "jit_miss_probe:\n"
        "   look LOAD_PAGES, 1\n"
        "   and $-128, %r8d\n"
        "   add %eax, %r8d\n" /* the line */
        "   and SET_MASK(%r11), %eax\n"
        "   movzbl (%rdx), %r9d\n"
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
        "3: subq $8, NEXT_MISS(%r11)\n" /* it is not so plain, and no miss yet */
        "   jmp 4f\n"
        "1: testb $1, (%rdx)\n"
        "   jz 4f\n"
        "   stc\n"
        "   ret\n"
        "4: otherwise cache_load_fast\n"
        "2: answer cache_drain_fast\n"
        ".size jit_miss_probe, . - jit_miss_probe\n"

        ".p2align 4\n"
        ".globl jit_miss_store\n"
        ".hidden jit_miss_store\n"
        ".type jit_miss_store, @function\n"
        "jit_miss_store:\n"
        "   look STORE_PAGES, 2\n"
        "   and $-128, %r8d\n"
        "   add %eax, %r8d\n" /* the line */
        "   movzbl (%rdx), %eax\n"
        "   and $(16 | 128), %al\n" /* whether it is in L1D, */
        "   js 1f\n"                /* and open */
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
        "1: otherwise cache_store_fast\n"
        "2: answer cache_drain_fast\n"
        ".size jit_miss_store, . - jit_miss_store\n"
        ".purgem look\n"
        ".purgem replace\n"
        ".purgem note\n"
        ".purgem done\n"
        ".purgem note_done\n"
        ".purgem answer\n"
        ".purgem otherwise\n");
/* clang-format on */

#endif
