/* Misses of the common kind without a call of C: what cache_quick.c does at once for a load or a store whose line is
 * not free, written for the registers of translated code (jit_fast_flow.c). All that is seldom so, it asks
 * cache_load_quick and cache_store_quick for.
 *
 * In: the address in eax, the core's cache_front in r11, lines in r15, the time in r13. Out: the carry is set when the
 * access is counted and may be done, and the time has what it cost as far as that is known; else eax is what the model
 * said (CACHE_ELSE, or a stall with CACHE_HEARD). rcx, rdx, rsi, r8 and r11 are lost, all others kept.
 */
#include "jit/jit_miss.h"

#ifdef JIT_MISSES

#include "cache/cache_front.h"

/* Places of members, for the assembler, by the same names. */
#define TEXT(x)          #x
#define HAS(name, value) ".equ " name ", " TEXT(value) "\n"

_Static_assert(CACHE_LOAD == 1 && CACHE_STORE == 2 && CACHE_HERE == 16 && CACHE_OPEN == 32, "they stand below");
_Static_assert(QUICK_LOAD == 1 && QUICK_STORE == 2 && CACHE_GRANULE_BITS == 5, "as above");
_Static_assert(MISS_STORE == 1 << 30 && MISS_HERE == CACHE_HERE << 25 && sizeof(cache_miss) == 8, "as above");

/* clang-format off */
__asm__(HAS("NEXT_MISS", FRONT_NEXT_MISS)
        HAS("FULL", FRONT_FULL)
        HAS("LOAD_PAGES", FRONT_LOAD_PAGES)
        HAS("STORE_PAGES", FRONT_STORE_PAGES)
        HAS("VIEW", FRONT_VIEW)
        HAS("NEXT_OPEN", FRONT_NEXT_OPEN)
        HAS("SET_MASK", FRONT_SET_MASK)
        HAS("TURN", FRONT_TURN)
        HAS("LINE", FRONT_LINE)
        HAS("AT", FRONT_AT)
        HAS("FIRST", TURN_FIRST)
        HAS("MASK", TURN_MASK)
        HAS("NEXT", TURN_NEXT)
        HAS("LAST", TURN_LAST)
        HAS("OPENED", OPEN_AT)
        HAS("OPEN_AFTER", OPEN_NEXT)
        HAS("OPENED_LINE", OPEN_LINE)

        /* The page in ecx, if such accesses are quick in it (else: on at 1); eax: the line's number among the space's;
         * rdx: its byte. */
        ".macro look pages, quick\n"
        "   mov %eax, %ecx\n"
        "   shr $12, %ecx\n"
        "   mov \\pages(%r11), %rdx\n"
        "   mov (%rdx,%rcx,4), %ecx\n"
        "   shr $5, %eax\n"
        "   lea -2(%r15,%rax), %rdx\n"
        "   test $\\quick, %cl\n"
        "   jz 1f\n"
        ".endm\n"

        /* The miss in ecx is noted, and that is all; when there is no room for more, it goes on at 2. */
        ".macro note\n"
        "   mov NEXT_MISS(%r11), %rsi\n"
        "   mov %ecx, (%rsi)\n"
        "   mov %r13d, 4(%rsi)\n"
        "   add $8, %rsi\n"
        "   mov %rsi, NEXT_MISS(%r11)\n"
        "   cmp FULL(%r11), %rsi\n" /* below: the carry is set */
        "   jae 2f\n"
        "   ret\n"
        ".endm\n"

        /* Calls C with rdi of r11, and keeps what it may change and nobody has given up. Its answer is added to the
         * time, or passed on if it is negative. */
        ".macro answer function\n"
        "   push %rdi\n"
        "   push %r9\n"
        "   push %r10\n"
        "   mov %r11, %rdi\n"
        "   call \\function\n"
        "   pop %r10\n"
        "   pop %r9\n"
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
        "   lea 2(%rdx), %rsi\n"
        "   sub %r15, %rsi\n"
        "   shl $5, %esi\n"
        "   mov %r13, %rdx\n"
        "   answer \\function\n"
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
        "   and $-128, %ecx\n"
        "   add %eax, %ecx\n" /* the line */
        "   and SET_MASK(%r11), %eax\n"
        "   shl $4, %eax\n" /* its turn */
        "   mov TURN+NEXT(%r11,%rax), %esi\n"
        "   cmp TURN+LAST(%r11,%rax), %esi\n"
        "   je 1f\n"
        "   mov AT(%r11,%rsi,8), %r8\n" /* the byte of the line that goes */
        "   test %r8, %r8\n"
        "   jz 1f\n"
        "   mov %rdx, AT(%r11,%rsi,8)\n"
        "   mov %ecx, LINE(%r11,%rsi,4)\n"
        "   andb $~17, (%r8)\n"
        "   orb $17, (%rdx)\n"
        "   inc %esi\n"
        "   and TURN+MASK(%r11,%rax), %esi\n"
        "   or TURN+FIRST(%r11,%rax), %esi\n"
        "   mov %esi, TURN+NEXT(%r11,%rax)\n"
        "   note\n"
        "1: otherwise cache_load_quick\n"
        "2: answer cache_settle_front\n"
        ".size jit_miss_load, . - jit_miss_load\n"

        ".p2align 4\n"
        ".globl jit_miss_store\n"
        ".hidden jit_miss_store\n"
        ".type jit_miss_store, @function\n"
        "jit_miss_store:\n"
        "   look STORE_PAGES, 2\n"
        "   and $-128, %ecx\n"
        "   add %eax, %ecx\n" /* the line */
        "   movzbl (%rdx), %eax\n"
        "   test $32, %al\n" /* it is open */
        "   jnz 1f\n"
        "   mov NEXT_OPEN(%r11), %rsi\n"
        "   mov OPENED(%rsi), %r8\n" /* the byte of the one that is closed */
        "   test %r8, %r8\n"
        "   jz 1f\n"
        "   andb $~34, (%r8)\n"
        "   mov %rdx, OPENED(%rsi)\n"
        "   mov %ecx, OPENED_LINE(%rsi)\n"
        "   mov OPEN_AFTER(%rsi), %rsi\n"
        "   mov %rsi, NEXT_OPEN(%r11)\n"
        "   orb $34, (%rdx)\n"
        "   and $16, %eax\n" /* whether it is in L1D */
        "   shl $25, %eax\n"
        "   lea (1 << 30)(%rcx,%rax), %ecx\n"
        "   note\n"
        "1: otherwise cache_store_quick\n"
        "2: answer cache_settle_front\n"
        ".size jit_miss_store, . - jit_miss_store\n"
        ".purgem look\n"
        ".purgem note\n"
        ".purgem answer\n"
        ".purgem otherwise\n");
/* clang-format on */

#endif
