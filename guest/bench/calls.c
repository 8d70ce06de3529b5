/* Nothing but calls: Fibonacci numbers by recursion, seven instructions a call and its return. */
#include <stdio.h>

static __attribute__((noipa)) unsigned fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(void)
{
    printf("%u\n", fibonacci(32));
    return 0;
}
