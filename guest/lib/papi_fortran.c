/* PAPI as Fortran calls it, PAPIF_*: names with an underscore at the end, arguments by address, the result in the last
 * one, strings as in fortran.h. The names and arguments are those of PAPI 7.0; docs/man/papi.md says where it was
 * unclear what they are. Overflow and profiles have no Fortran form.
 */
#include "papi_impl.h"

#include "fortran.h"

/* FORTRAN(name, arguments) { ... }: a subroutine. Its prototype is in no header, for C does not call it. */
#define FORTRAN(name, ...)                                                                                             \
    void papif_##name##_(__VA_ARGS__);                                                                                 \
    void papif_##name##_(__VA_ARGS__)

/* Names of events, messages, regions: longer ones are cut off. */
enum { TEXT = PAPI_HUGE_STR_LEN };

static const char *text(char buffer[TEXT], const char *string, size_t length)
{
    return fortran_text(buffer, TEXT, string, length);
}

/* --- The library -------------------------------------------------------------------------------------------------- */

/* The version goes in and comes out. */
FORTRAN(library_init, int *check)
{
    *check = PAPI_library_init(*check);
}

FORTRAN(is_initialized, int *level)
{
    *level = PAPI_is_initialized();
}

FORTRAN(shutdown, void)
{
    PAPI_shutdown();
}

FORTRAN(set_debug, const int *level, int *check)
{
    *check = PAPI_set_debug(*level);
}

FORTRAN(perror, const char *message, size_t length)
{
    char copy[TEXT];
    PAPI_perror(text(copy, message, length));
}

FORTRAN(num_hwctrs, int *count)
{
    *count = PAPI_num_hwctrs();
}

FORTRAN(num_cmp_hwctrs, const int *cidx, int *count)
{
    *count = PAPI_num_cmp_hwctrs(*cidx);
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

FORTRAN(query_event, const int *event, int *check)
{
    *check = PAPI_query_event(*event);
}

FORTRAN(query_named_event, const char *name, int *check, size_t length)
{
    char copy[TEXT];
    *check = PAPI_query_named_event(text(copy, name, length));
}

FORTRAN(event_code_to_name, const int *event, char *name, int *check, size_t length)
{
    char copy[TEXT] = "";
    *check = PAPI_event_code_to_name(*event, copy);
    fortran_fill(name, length, copy);
}

FORTRAN(event_name_to_code, const char *name, int *event, int *check, size_t length)
{
    char copy[TEXT];
    *check = PAPI_event_name_to_code(text(copy, name, length), event);
}

FORTRAN(enum_event, int *event, const int *modifier, int *check)
{
    *check = PAPI_enum_event(event, *modifier);
}

/* The flag is 1 for a derived event. */
FORTRAN(get_event_info, const int *event, char *symbol, char *long_text, char *short_text, int *count, char *note,
        int *flags, int *check, size_t symbol_length, size_t long_length, size_t short_length, size_t note_length)
{
    PAPI_event_info_t info;
    *check = PAPI_get_event_info(*event, &info);
    if (*check) return;
    fortran_fill(symbol, symbol_length, info.symbol);
    fortran_fill(long_text, long_length, info.long_descr);
    fortran_fill(short_text, short_length, info.short_descr);
    fortran_fill(note, note_length, info.note);
    *count = (int)info.count;
    *flags = info.count > 1 ? PAPI_DERIVED : 0;
}

/* --- Event sets --------------------------------------------------------------------------------------------------- */

FORTRAN(create_eventset, int *set, int *check)
{
    *check = PAPI_create_eventset(set);
}

FORTRAN(cleanup_eventset, const int *set, int *check)
{
    *check = PAPI_cleanup_eventset(*set);
}

FORTRAN(destroy_eventset, int *set, int *check)
{
    *check = PAPI_destroy_eventset(set);
}

FORTRAN(assign_eventset_component, const int *set, const int *cidx, int *check)
{
    *check = PAPI_assign_eventset_component(*set, *cidx);
}

FORTRAN(add_event, const int *set, const int *event, int *check)
{
    *check = PAPI_add_event(*set, *event);
}

FORTRAN(add_named_event, const int *set, const char *name, int *check, size_t length)
{
    char copy[TEXT];
    *check = PAPI_add_named_event(*set, text(copy, name, length));
}

FORTRAN(add_events, const int *set, int *events, const int *count, int *check)
{
    *check = PAPI_add_events(*set, events, *count);
}

FORTRAN(remove_event, const int *set, const int *event, int *check)
{
    *check = PAPI_remove_event(*set, *event);
}

FORTRAN(remove_named_event, const int *set, const char *name, int *check, size_t length)
{
    char copy[TEXT];
    *check = PAPI_remove_named_event(*set, text(copy, name, length));
}

FORTRAN(remove_events, const int *set, int *events, const int *count, int *check)
{
    *check = PAPI_remove_events(*set, events, *count);
}

FORTRAN(list_events, const int *set, int *events, int *count, int *check)
{
    *check = PAPI_list_events(*set, events, count);
}

FORTRAN(num_events, const int *set, int *count)
{
    *count = PAPI_num_events(*set);
}

FORTRAN(state, const int *set, int *status, int *check)
{
    *check = PAPI_state(*set, status);
}

FORTRAN(multiplex_init, int *check)
{
    *check = PAPI_multiplex_init();
}

FORTRAN(set_multiplex, const int *set, int *check)
{
    *check = PAPI_set_multiplex(*set);
}

FORTRAN(get_multiplex, const int *set, int *check)
{
    *check = PAPI_get_multiplex(*set);
}

/* --- Counting ----------------------------------------------------------------------------------------------------- */

FORTRAN(start, const int *set, int *check)
{
    *check = PAPI_start(*set);
}

FORTRAN(stop, const int *set, long long *values, int *check)
{
    *check = PAPI_stop(*set, values);
}

FORTRAN(read, const int *set, long long *values, int *check)
{
    *check = PAPI_read(*set, values);
}

FORTRAN(read_ts, const int *set, long long *values, long long *cycles, int *check)
{
    *check = PAPI_read_ts(*set, values, cycles);
}

FORTRAN(accum, const int *set, long long *values, int *check)
{
    *check = PAPI_accum(*set, values);
}

FORTRAN(reset, const int *set, int *check)
{
    *check = PAPI_reset(*set);
}

FORTRAN(write, const int *set, long long *values, int *check)
{
    *check = PAPI_write(*set, values);
}

/* --- Options ------------------------------------------------------------------------------------------------------ */

FORTRAN(get_clockrate, int *mhz)
{
    *mhz = PAPI_get_opt(PAPI_CLOCKRATE, NULL);
}

FORTRAN(set_domain, const int *domain, int *check)
{
    *check = PAPI_set_domain(*domain);
}

FORTRAN(set_cmp_domain, const int *domain, const int *cidx, int *check)
{
    *check = PAPI_set_cmp_domain(*domain, *cidx);
}

FORTRAN(set_event_domain, const int *set, const int *domain, int *check)
{
    PAPI_option_t option = {.domain = {.eventset = *set, .domain = *domain}};
    *check = PAPI_set_opt(PAPI_DOMAIN, &option);
}

/* PAPI_DEFDOM asks for that of new sets, PAPI_DOMAIN for that of this one. */
FORTRAN(get_domain, const int *set, int *domain, const int *mode, int *check)
{
    PAPI_option_t option = {.domain = {.eventset = *set}};
    *check = *mode == PAPI_DOMAIN ? PAPI_get_opt(PAPI_DOMAIN, &option) : *mode == PAPI_DEFDOM ? PAPI_OK : PAPI_EINVAL;
    if (*check == PAPI_OK) *domain = *mode == PAPI_DOMAIN ? option.domain.domain : PAPI_get_opt(PAPI_DEFDOM, NULL);
}

FORTRAN(set_granularity, const int *granularity, int *check)
{
    *check = PAPI_set_granularity(*granularity);
}

FORTRAN(set_cmp_granularity, const int *granularity, const int *cidx, int *check)
{
    *check = PAPI_set_cmp_granularity(*granularity, *cidx);
}

/* PAPI_DEFGRN asks for that of new sets, PAPI_GRANUL for that of this one. */
FORTRAN(get_granularity, const int *set, int *granularity, const int *mode, int *check)
{
    PAPI_option_t option = {.granularity = {.eventset = *set}};
    *check = *mode == PAPI_GRANUL ? PAPI_get_opt(PAPI_GRANUL, &option) : *mode == PAPI_DEFGRN ? PAPI_OK : PAPI_EINVAL;
    if (*check == PAPI_OK)
        *granularity = *mode == PAPI_GRANUL ? option.granularity.granularity : PAPI_get_opt(PAPI_DEFGRN, NULL);
}

/* Its arguments have no place for a set, and without one there is nothing that could inherit: PAPI_ENOEVST. */
FORTRAN(set_inherit, const int *inherit, int *check)
{
    PAPI_option_t option = {.inherit = {.eventset = PAPI_NULL, .inherit = *inherit}};
    *check = PAPI_set_opt(PAPI_INHERIT, &option);
}

FORTRAN(get_preload, char *variable, int *check, size_t length)
{
    PAPI_option_t option = {0};
    *check = PAPI_get_opt(PAPI_PRELOAD, &option);
    if (*check == PAPI_OK) fortran_fill(variable, length, option.preload.lib_preload_env);
}

/* --- Threads ------------------------------------------------------------------------------------------------------ */

/* An integer function without arguments is to Fortran what C has here. */
FORTRAN(thread_init, unsigned long (*id)(void), int *check)
{
    *check = PAPI_thread_init(id);
}

FORTRAN(thread_id, unsigned long *id)
{
    *id = PAPI_thread_id();
}

FORTRAN(register_thread, int *check)
{
    *check = PAPI_register_thread();
}

FORTRAN(unregister_thread, int *check)
{
    *check = PAPI_unregister_thread();
}

/* PAPI has it by this name too. */
FORTRAN(unregster_thread, int *check)
{
    *check = PAPI_unregister_thread();
}

FORTRAN(lock, const int *lock, int *check)
{
    *check = PAPI_lock(*lock);
}

FORTRAN(unlock, const int *lock, int *check)
{
    *check = PAPI_unlock(*lock);
}

/* --- Time and rates ----------------------------------------------------------------------------------------------- */

FORTRAN(get_real_cyc, long long *cycles)
{
    *cycles = PAPI_get_real_cyc();
}

FORTRAN(get_real_nsec, long long *time)
{
    *time = PAPI_get_real_nsec();
}

FORTRAN(get_real_usec, long long *time)
{
    *time = PAPI_get_real_usec();
}

FORTRAN(get_virt_cyc, long long *cycles)
{
    *cycles = PAPI_get_virt_cyc();
}

FORTRAN(get_virt_usec, long long *time)
{
    *time = PAPI_get_virt_usec();
}

FORTRAN(flips_rate, const int *event, float *rtime, float *ptime, long long *count, float *rate, int *check)
{
    *check = PAPI_flips_rate(*event, rtime, ptime, count, rate);
}

FORTRAN(flops_rate, const int *event, float *rtime, float *ptime, long long *count, float *rate, int *check)
{
    *check = PAPI_flops_rate(*event, rtime, ptime, count, rate);
}

FORTRAN(ipc, float *rtime, float *ptime, long long *count, float *rate, int *check)
{
    *check = PAPI_ipc(rtime, ptime, count, rate);
}

FORTRAN(epc, const int *event, float *rtime, float *ptime, long long *reference, long long *core, long long *count,
        float *rate, int *check)
{
    *check = PAPI_epc(*event, rtime, ptime, reference, core, count, rate);
}

FORTRAN(rate_stop, int *check)
{
    *check = PAPI_rate_stop();
}

/* --- What the program runs on ------------------------------------------------------------------------------------- */

FORTRAN(get_hardware_info, int *ncpu, int *nnodes, int *totalcpus, int *vendor, char *vendor_name, int *model,
        char *model_name, float *revision, float *mhz, size_t vendor_length, size_t model_length)
{
    static const PAPI_hw_info_t none;
    const PAPI_hw_info_t *info = PAPI_get_hardware_info();
    if (!info) info = &none;
    *ncpu = info->ncpu;
    *nnodes = info->nnodes;
    *totalcpus = info->totalcpus;
    *vendor = info->vendor;
    fortran_fill(vendor_name, vendor_length, info->vendor_string);
    *model = info->model;
    fortran_fill(model_name, model_length, info->model_string);
    *revision = info->revision;
    *mhz = info->mhz;
}

FORTRAN(get_exe_info, char *full_name, char *name, long long *text_start, long long *text_end, long long *data_start,
        long long *data_end, long long *bss_start, long long *bss_end, int *check, size_t full_length, size_t length)
{
    PAPI_option_t option = {0};
    *check = PAPI_get_opt(PAPI_EXEINFO, &option);
    if (*check != PAPI_OK) return;
    const PAPI_address_map_t *map = &option.exe_info->address_info;
    fortran_fill(full_name, full_length, option.exe_info->fullname);
    fortran_fill(name, length, map->name);
    *text_start = (unsigned long)map->text_start;
    *text_end = (unsigned long)map->text_end;
    *data_start = (unsigned long)map->data_start;
    *data_end = (unsigned long)map->data_end;
    *bss_start = (unsigned long)map->bss_start;
    *bss_end = (unsigned long)map->bss_end;
}

_Static_assert(sizeof(PAPI_dmem_info_t) == PAPIF_DMEM_MAXVAL * sizeof(long long), "its values, numbered");

FORTRAN(get_dmem_info, long long values[PAPIF_DMEM_MAXVAL], int *check)
{
    PAPI_dmem_info_t info;
    *check = PAPI_get_dmem_info(&info);
    if (*check == PAPI_OK) memcpy(values, &info, sizeof info);
}

/* The type of devices that PAPIF_enum_dev_type found last is kept here; programs get 0 for it, as PAPI gives them. */
static void *device_type;

FORTRAN(enum_dev_type, const int *modifier, int *handle, int *check)
{
    *check = PAPI_enum_dev_type(*modifier, &device_type);
    *handle = 0;
}

/* An attribute that is a text goes into the string, and the value stays as it is; one that is a number the other way.
 */
FORTRAN(get_dev_type_attr, int *handle, const int *attribute, int *value, char *string, int *check, size_t length)
{
    bool is_text = *attribute == PAPI_DEV_TYPE_ATTR__CHAR_NAME || *attribute == PAPI_DEV_TYPE_ATTR__CHAR_STATUS;
    const char *words = "";
    *handle = 0;
    *check = PAPI_get_dev_type_attr(device_type, (PAPI_dev_type_attr_e)*attribute, is_text ? (void *)&words : value);
    if (*check == PAPI_OK && is_text) fortran_fill(string, length, words);
}

FORTRAN(get_dev_attr, int *handle, const int *id, const int *attribute, int *value, char *string, int *check,
        size_t length)
{
    bool is_text = *attribute == PAPI_DEV_ATTR__CPU_CHAR_NAME;
    const char *words = "";
    *handle = 0;
    *check = PAPI_get_dev_attr(device_type, *id, (PAPI_dev_attr_e)*attribute, is_text ? (void *)&words : value);
    if (*check == PAPI_OK && is_text) fortran_fill(string, length, words);
}

/* --- Regions ------------------------------------------------------------------------------------------------------ */

FORTRAN(hl_region_begin, const char *region, int *check, size_t length)
{
    char copy[TEXT];
    *check = PAPI_hl_region_begin(text(copy, region, length));
}

FORTRAN(hl_read, const char *region, int *check, size_t length)
{
    char copy[TEXT];
    *check = PAPI_hl_read(text(copy, region, length));
}

FORTRAN(hl_region_end, const char *region, int *check, size_t length)
{
    char copy[TEXT];
    *check = PAPI_hl_region_end(text(copy, region, length));
}

FORTRAN(hl_stop, int *check)
{
    *check = PAPI_hl_stop();
}
