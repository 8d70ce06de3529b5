/* Options: domains, granularity, attaching, multiplexing. The component says that it cannot attach: a set counts
 * its own thread, process or node. Multiplexing needs no turns, for all events of a set count all the time; so what it
 * promises holds, and its interval has no meaning. There are no timers for overflows: they are exact.
 */
#include "papi_impl.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

enum { DOMAINS = PAPI_DOM_ALL };
enum { GRANULARITIES = PAPI_GRN_THR | PAPI_GRN_PROC | PAPI_GRN_SYS };

static bool is_granularity(int granularity)
{
    return granularity > 0 && (granularity & ~GRANULARITIES) == 0 && (granularity & (granularity - 1)) == 0;
}

/* A set that can be changed. */
static int find_set(int number, struct papi_set **set)
{
    *set = papi_set_find(number);
    if (!*set) return PAPI_ENOEVST;
    return (*set)->state & PAPI_RUNNING ? PAPI_EISRUN : PAPI_OK;
}

/* --- Domain and granularity --------------------------------------------------------------------------------------- */

int PAPI_set_cmp_domain(int domain, int cidx)
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    if (cidx != 0) return papi_return(PAPI_ENOCMP);
    if (domain <= 0 || domain & ~DOMAINS) return papi_return(PAPI_EINVAL);
    papi_options.domain = domain;
    return PAPI_OK;
}

int PAPI_set_domain(int domain)
{
    return PAPI_set_cmp_domain(domain, 0);
}

int PAPI_set_cmp_granularity(int granularity, int cidx)
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    if (cidx != 0) return papi_return(PAPI_ENOCMP);
    if (!is_granularity(granularity)) return papi_return(PAPI_EINVAL);
    papi_options.granularity = granularity;
    return PAPI_OK;
}

int PAPI_set_granularity(int granularity)
{
    return PAPI_set_cmp_granularity(granularity, 0);
}

static int set_domain(const PAPI_domain_option_t *option)
{
    struct papi_set *set;
    int status = find_set(option->eventset, &set);
    if (status) return status;
    if (set->component < 0) return PAPI_ENOCMP;
    if (option->domain <= 0 || option->domain & ~DOMAINS) return PAPI_EINVAL_DOM;
    set->domain = option->domain;
    return PAPI_OK;
}

static int set_granularity(const PAPI_granularity_option_t *option)
{
    struct papi_set *set;
    int status = find_set(option->eventset, &set);
    if (status) return status;
    if (set->component < 0) return PAPI_ENOCMP;
    if (!is_granularity(option->granularity)) return PAPI_EINVAL;
    set->granularity = option->granularity;
    return PAPI_OK;
}

static int set_inherit(const PAPI_inherit_option_t *option)
{
    struct papi_set *set;
    int status = find_set(option->eventset, &set);
    if (status) return status;
    if (set->component < 0) return PAPI_ENOCMP;
    if (option->inherit != PAPI_INHERIT_ALL && option->inherit != PAPI_INHERIT_NONE) return PAPI_EINVAL;
    set->inherit = option->inherit;
    return PAPI_OK;
}

/* --- Attaching ---------------------------------------------------------------------------------------------------- */

static int attach(int number, unsigned long tid)
{
    struct papi_set *set;
    int status = find_set(number, &set);
    if (status) return status;
    if (set->component < 0) return PAPI_ENOCMP;
    const struct papi_thread *thread = papi_thread_get();
    if (!thread) return PAPI_ENOMEM;
    if (tid != (unsigned long)thread->tid) return PAPI_ECMP;
    set->attached = tid;
    return PAPI_OK;
}

static int detach(int number)
{
    struct papi_set *set;
    int status = find_set(number, &set);
    if (status) return status;
    if (!set->attached) return PAPI_EINVAL;
    set->attached = 0;
    return PAPI_OK;
}

int PAPI_attach(int EventSet, unsigned long tid)
{
    return papi_return(papi_is_up() ? attach(EventSet, tid) : PAPI_ENOINIT);
}

int PAPI_detach(int EventSet)
{
    return papi_return(papi_is_up() ? detach(EventSet) : PAPI_ENOINIT);
}

/* --- Multiplexing ------------------------------------------------------------------------------------------------- */

static int set_multiplex(const PAPI_multiplex_option_t *option)
{
    struct papi_set *set;
    int status = find_set(option->eventset, &set);
    if (status) return status;
    if (set->component < 0) return PAPI_ENOCMP;
    if (set->state & PAPI_MULTIPLEXING) return PAPI_EINVAL;
    if (set->state & PAPI_OVERFLOWING) return PAPI_EINVAL;
    if (option->ns > 0) set->multiplex_ns = option->ns;
    set->state |= PAPI_MULTIPLEXING;
    return PAPI_OK;
}

int PAPI_multiplex_init(void)
{
    return papi_return(papi_is_up() ? PAPI_OK : PAPI_ENOINIT);
}

int PAPI_set_multiplex(int EventSet)
{
    PAPI_option_t option = {.multiplex = {.eventset = EventSet, .ns = papi_options.multiplex_ns}};
    return PAPI_set_opt(PAPI_MULTIPLEX, &option);
}

int PAPI_get_multiplex(int EventSet)
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    const struct papi_set *set = papi_set_find(EventSet);
    if (!set) return papi_return(PAPI_ENOEVST);
    return set->state & PAPI_MULTIPLEXING ? 1 : 0;
}

/* --- Options ------------------------------------------------------------------------------------------------------ */

static int set_debug(const PAPI_debug_option_t *option)
{
    if (option->level < PAPI_QUIET || option->level > PAPI_VERB_ESTOP) return PAPI_EINVAL;
    papi_options.debug = option->level;
    papi_options.debug_handler = option->handler;
    return PAPI_OK;
}

static int set_option(int option, PAPI_option_t *ptr)
{
    switch (option) {
    case PAPI_DEBUG: return set_debug(&ptr->debug);
    case PAPI_MULTIPLEX: return set_multiplex(&ptr->multiplex);
    case PAPI_DEF_MPX_NS:
        if (ptr->multiplex.ns < 0) return PAPI_EINVAL;
        papi_options.multiplex_ns = ptr->multiplex.ns;
        return PAPI_OK;
    case PAPI_DEFDOM: return PAPI_set_cmp_domain(ptr->defdomain.domain, ptr->defdomain.def_cidx);
    case PAPI_DOMAIN: return set_domain(&ptr->domain);
    case PAPI_DEFGRN: return PAPI_set_cmp_granularity(ptr->defgranularity.granularity, ptr->defgranularity.def_cidx);
    case PAPI_GRANUL: return set_granularity(&ptr->granularity);
    case PAPI_INHERIT: return set_inherit(&ptr->inherit);
    case PAPI_ATTACH: return attach(ptr->attach.eventset, ptr->attach.tid);
    case PAPI_DETACH: return detach(ptr->attach.eventset);
    case PAPI_DEF_ITIMER:
    case PAPI_DEF_ITIMER_NS: return PAPI_ENOSUPP;
    case PAPI_CPU_ATTACH: return papi_set_find(ptr->cpu.eventset) ? PAPI_ECMP : PAPI_ENOEVST;
    case PAPI_DATA_ADDRESS:
    case PAPI_INSTR_ADDRESS: return PAPI_ECMP;
    case PAPI_USER_EVENTS_FILE: return PAPI_ENOSUPP;
    default: return PAPI_EINVAL;
    }
}

int PAPI_set_opt(int option, PAPI_option_t *ptr)
{
    if (option != PAPI_DEBUG && !papi_is_up()) return papi_return(PAPI_ENOINIT);
    if (!ptr) return papi_return(PAPI_EINVAL);
    return papi_return(set_option(option, ptr));
}

/* Numbers that need no place to be put. */
static int get_number(int option)
{
    switch (option) {
    case PAPI_CLOCKRATE: return (int)papi_clock_mhz();
    case PAPI_MAX_HWCTRS:
    case PAPI_MAX_MPX_CTRS: return papi_component.num_cntrs;
    case PAPI_MAX_CPUS: return PAPI_get_hardware_info()->ncpu;
    case PAPI_LIB_VERSION: return PAPI_VERSION;
    case PAPI_DEBUG: return papi_options.debug;
    case PAPI_DEFDOM: return papi_options.domain;
    case PAPI_DEFGRN: return papi_options.granularity;
    case PAPI_DEF_MPX_NS: return papi_options.multiplex_ns;
    case PAPI_DEF_ITIMER:
    case PAPI_DEF_ITIMER_NS: return PAPI_ENOSUPP;
    case PAPI_PRELOAD:
    case PAPI_SHLIBINFO:
    case PAPI_HWINFO:
    case PAPI_EXEINFO: return PAPI_EINVAL;
    default: return PAPI_EINVAL;
    }
}

/* Options of a set. */
static int get_of_set(int option, PAPI_option_t *ptr)
{
    int number = option == PAPI_DOMAIN || option == PAPI_GRANUL ? ptr->domain.eventset : ptr->multiplex.eventset;
    const struct papi_set *set = papi_set_find(number);
    if (!set) return PAPI_ENOEVST;
    switch (option) {
    case PAPI_DOMAIN: ptr->domain.domain = set->domain; return PAPI_OK;
    case PAPI_GRANUL: ptr->granularity.granularity = set->granularity; return PAPI_OK;
    case PAPI_INHERIT: ptr->inherit.inherit = set->inherit; return PAPI_OK;
    case PAPI_ATTACH:
    case PAPI_DETACH: ptr->attach.tid = set->attached; return set->attached != 0;
    default:
        ptr->multiplex.ns = set->multiplex_ns;
        ptr->multiplex.flags = PAPI_MULTIPLEX_DEFAULT;
        return (set->state & PAPI_MULTIPLEXING) != 0;
    }
}

static int get_option(int option, PAPI_option_t *ptr)
{
    switch (option) {
    case PAPI_DOMAIN:
    case PAPI_GRANUL:
    case PAPI_INHERIT:
    case PAPI_ATTACH:
    case PAPI_DETACH:
    case PAPI_MULTIPLEX: return get_of_set(option, ptr);
    case PAPI_DEBUG: ptr->debug = (PAPI_debug_option_t){papi_options.debug, papi_options.debug_handler}; break;
    case PAPI_DEFDOM: ptr->defdomain.domain = papi_options.domain; break;
    case PAPI_DEFGRN: ptr->defgranularity.granularity = papi_options.granularity; break;
    case PAPI_DEF_MPX_NS: ptr->multiplex.ns = papi_options.multiplex_ns; break;
    case PAPI_PRELOAD:
        ptr->preload = (PAPI_preload_info_t){.lib_preload_env = "LD_PRELOAD",
                                             .lib_preload_sep = ' ',
                                             .lib_dir_env = "LD_LIBRARY_PATH",
                                             .lib_dir_sep = ':'};
        break;
    case PAPI_HWINFO: ptr->hw_info = (PAPI_hw_info_t *)PAPI_get_hardware_info(); break;
    case PAPI_EXEINFO: ptr->exe_info = (PAPI_exe_info_t *)PAPI_get_executable_info(); break;
    case PAPI_SHLIBINFO: ptr->shlib_info = (PAPI_shlib_info_t *)PAPI_get_shared_lib_info(); break;
    case PAPI_COMPONENTINFO: ptr->cmp_info = &papi_component; break;
    case PAPI_DATA_ADDRESS:
    case PAPI_INSTR_ADDRESS: return PAPI_ECMP;
    default: return get_number(option);
    }
    return PAPI_OK;
}

int PAPI_get_opt(int option, PAPI_option_t *ptr)
{
    if (option != PAPI_DEBUG && option != PAPI_LIB_VERSION && !papi_is_up()) return papi_return(PAPI_ENOINIT);
    return papi_return(ptr ? get_option(option, ptr) : get_number(option));
}

int PAPI_get_cmp_opt(int option, PAPI_option_t *ptr, int cidx)
{
    if (cidx != 0) return papi_return(papi_is_up() ? PAPI_ENOCMP : PAPI_ENOINIT);
    return PAPI_get_opt(option, ptr);
}
