/* Two arrays walked with different strides, three times: what misses L1, and where it is found, can be worked out.
 * a: 64 KB by 32 bytes, b: 128 KB by 256; both are more than L1 holds, so that every pass misses every time. The pass
 * is the category. Without a C library, so that nothing else is loaded to speak of. */
#include <chiliad/monitor.h>

enum { PAGES_A = 16, PAGES_B = 32, STRIDE_A = 32, STRIDE_B = 256, PASSES = 3 };

static volatile char a[PAGES_A << 12] __attribute__((aligned(4096)));
static volatile char b[PAGES_B << 12] __attribute__((aligned(4096)));

__attribute__((noinline)) static void walk_a(void)
{
    for (unsigned i = 0; i < sizeof a; i += STRIDE_A)
        (void)a[i];
}

__attribute__((noinline)) static void walk_b(void)
{
    for (unsigned i = 0; i < sizeof b; i += STRIDE_B)
        (void)b[i];
}

void _start(void);
void _start(void)
{
    for (unsigned pass = 1; pass <= PASSES; pass++) {
        chiliad_category(pass);
        walk_a();
        walk_b();
    }
    register unsigned r0 __asm__("r0") = 1;
    register unsigned r3 __asm__("r3") = 0;
    __asm__ volatile("sc" : "+r"(r0), "+r"(r3));
    __builtin_unreachable();
}
