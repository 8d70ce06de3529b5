/* libm, which executes the xo-583 forms of mffs on every processor. */
#include <fenv.h>
#include <math.h>
#include <stdio.h>

int main(void)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    for (int m = 0; m < 4; m++) {
        fesetround(modes[m]);
        volatile double x = 1.25, y = 10;
        printf("%a %a %a %a %a\n", sin(x), exp(-x), pow(x, y), atan2(x, -y), 1 / y);
        printf("%a %a %ld %a\n", sqrt(y), nearbyint(x * y), lrint(x * y), fma(x, y, 1e-30));
    }
    fesetround(FE_TONEAREST);
    feclearexcept(FE_ALL_EXCEPT);
    volatile double zero = 0;
    volatile double result = 1 / zero;
    printf("%g raised %d %d\n", result, fetestexcept(FE_DIVBYZERO) != 0, fetestexcept(FE_INVALID) != 0);
    return 0;
}
