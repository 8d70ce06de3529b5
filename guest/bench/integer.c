/* An integer loop: a checksum and a sieve, about 600 million instructions. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    static uint8_t sieve[1 << 16];
    uint32_t hash = 1, primes = 0;
    for (int round = 0; round < 60; round++) {
        memset(sieve, 1, sizeof sieve);
        for (uint32_t i = 2; i * i < sizeof sieve; i++)
            for (uint32_t k = i * i; sieve[i] && k < sizeof sieve; k += i)
                sieve[k] = 0;
        for (uint32_t i = 2; i < sizeof sieve; i++)
            primes += sieve[i];
        for (uint32_t i = 0; i < 1000000; i++)
            hash = (hash ^ (hash >> 5) ^ i) * 2654435761u + sieve[i & 0xFFFF];
    }
    printf("%u %u\n", hash, primes);
    return 0;
}
