/* Names of symbols as people wrote them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/name.h"
#include "random.h"

static void is(const char *symbol, const char *expected)
{
    char *written = name_written(symbol);
    if (expected) {
        assert_non_null(written);
        assert_string_equal(written, expected);
    } else {
        assert_null(written);
    }
    free(written);
}

static void names_of_cpp(void **unused)
{
    (void)unused;
    is("_ZN4grid4normEi", "grid::norm(int)");
    is("_ZNK4grid5FieldIdEdvEd", "grid::Field<double>::operator/(double) const");
    is("_Z5applyIZ4mainEUliE_EiT_i", "apply<main::{lambda(int)#1}>(main::{lambda(int)#1}, int)");
    is("_ZN4grid4normEi.constprop.0", "grid::norm(int) [clone .constprop.0]");
    is("_ZTV5Shape", "vtable for Shape");
}

static void names_of_fortran_modules(void **unused)
{
    (void)unused;
    is("__grid_MOD_smooth", "grid::smooth");
    is("__a_b_MOD_c_d", "a_b::c_d");
    is("___MOD_x", NULL);
}

static void other_names_stay(void **unused)
{
    (void)unused;
    is("main", NULL);
    is("", NULL);
    is("_", NULL);
    is("_Z", NULL);
    is("_ZN4grid4normE!", NULL);
    is("__libc_start_main", NULL);
    is("solve_", NULL);
}

/* Each argument is a pair of the one before: the name doubles with every eleven characters. */
static void a_name_that_would_fill_the_memory_stays(void **unused)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char symbol[1000] = "_Z1f1pI1aS0_E";
    (void)unused;
    is(symbol, "f(p<a, a>)");
    for (unsigned i = 1; i < sizeof digits - 1; i++) {
        size_t used = strlen(symbol);
        (void)snprintf(symbol + used, sizeof symbol - used, "S_IS%c_S%c_E", digits[i], digits[i]);
        if (i == 1) is(symbol, "f(p<a, a>, p<p<a, a>, p<a, a> >)");
    }
    is(symbol, NULL); /* 2^36 characters */
}

static void random_names_do_no_harm(void **unused)
{
    static const char letters[] = "_ZNKSTIELPRFabcdtsvi0123456789_MOD.";
    uint64_t state = 5;
    (void)unused;
    for (unsigned i = 0; i < 20000; i++) {
        char symbol[64] = "_Z";
        unsigned length = 2 + (unsigned)random_below(&state, 60);
        for (unsigned k = 2; k < length; k++)
            symbol[k] = letters[random_below(&state, sizeof letters - 1)];
        free(name_written(symbol));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_cpp),
        cmocka_unit_test(names_of_fortran_modules),
        cmocka_unit_test(other_names_stay),
        cmocka_unit_test(a_name_that_would_fill_the_memory_stays),
        cmocka_unit_test(random_names_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
