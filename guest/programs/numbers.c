/* Integer and floating-point arithmetic, printed: multiplication, division, 64-bit, conversions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 11;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

int main(void)
{
    uint64_t state = 42, mix = 0;
    for (int i = 0; i < 20000; i++) {
        uint64_t a = next(&state), b = next(&state) % 1000 + 1;
        mix =
            mix * 31 + a / b + a % b + (uint64_t)((int64_t)(a << 11) / (int32_t)b) + (a << (b & 63)) + (a >> (b & 31));
    }
    printf("mix %" PRIx64 "\n", mix);
    static double values[1000];
    for (int i = 0; i < 1000; i++)
        values[i] = (double)(int64_t)next(&state) / 1e15 - 4;
    qsort(values, 1000, sizeof *values, compare);
    double sum = 0, product = 1;
    float single = 0;
    for (int i = 0; i < 1000; i++) {
        sum += values[i] * i;
        product *= 1 + values[i] / 1000;
        single += (float)values[i] / 3;
    }
    printf("%.17g %.17g %.9g %.17g %.17g\n", sum, product, (double)single, values[0], values[999]);
    printf("%a %a %d %d\n", 1.0 / 3, 5e-324, (int)-2.75, (int)(unsigned char)300.0);
    char text[64];
    snprintf(text, sizeof text, "%d %s %c %5.2f", -17, "string", 'x', 3.14159);
    printf("%s %zu %ld %g\n", text, strlen(text), strtol("0x7fff", NULL, 0), strtod("1e-310", NULL));
    return 0;
}
