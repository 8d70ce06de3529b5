/* What -finstrument-functions calls at the beginning and the end of every function, inlined ones included: in a
 * recorded run a function that has no code of its own becomes a region where it was inlined. */
#include "chiliad.h"

void __cyg_profile_func_enter(void *function, void *site) __attribute__((no_instrument_function));
void __cyg_profile_func_exit(void *function, void *site) __attribute__((no_instrument_function));

void __cyg_profile_func_enter(void *function, void *site)
{
    (void)site;
    if (chiliad_is_here()) (void)chiliad_callthru(CHILIAD_FUNCTION_ENTER, (long)function, 1);
}

void __cyg_profile_func_exit(void *function, void *site)
{
    (void)site;
    if (chiliad_is_here()) (void)chiliad_callthru(CHILIAD_FUNCTION_LEAVE, (long)function, 1);
}
