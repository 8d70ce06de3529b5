/* Codes, names and texts of events. A native code is PAPI_NATIVE_MASK and the event's index in the simulator's list;
 * the list is read once. Ids to which the machine assigns no event have names here too, BGP_RESERVED_92 for id 92, so
 * that all ids can be in a set; they count 0, and enumerating passes them over.
 */
#include "papi_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct chiliad_event *events;
    uint32_t count, named;
    uint32_t *by_name; /* indices, by name */
    struct papi_formula presets[PAPI_MAX_PRESET_EVENTS];
    unsigned available;
} names;

/* --- Native events ------------------------------------------------------------------------------------------------ */

static int compare_names(const void *a, const void *b)
{
    return strcmp(names.events[*(const uint32_t *)a].name, names.events[*(const uint32_t *)b].name);
}

const struct chiliad_event *papi_native(uint32_t event)
{
    return event < names.count ? &names.events[event] : NULL;
}

unsigned papi_native_count(void)
{
    return names.named;
}

unsigned papi_preset_available(void)
{
    return names.available;
}

static bool find_exactly(const char *name, uint32_t *event)
{
    uint32_t low = 0, high = names.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(name, names.events[names.by_name[middle]].name);
        if (order == 0) {
            *event = names.by_name[middle];
            return true;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

/* A native event by name. "chiliad:::" and "chiliad::" name the component; "PNE_" is what PAPI's Blue Gene/P port put
 * before the machine's names. */
static bool find_native(const char *name, uint32_t *event)
{
    static const char *const before[] = {"chiliad:::", "chiliad::", "PNE_"};
    for (unsigned i = 0; i < sizeof before / sizeof *before; i++)
        if (strncmp(name, before[i], strlen(before[i])) == 0) name += strlen(before[i]);
    return find_exactly(name, event);
}

/* --- Formulas ----------------------------------------------------------------------------------------------------- */

/* Names with blanks between, "-" before a name that is subtracted. False when one of them does not exist here. */
static bool parse_formula(const char *text, struct papi_formula *formula)
{
    formula->count = 0;
    while (text && *text) {
        char word[PAPI_MIN_STR_LEN];
        size_t length = strcspn(text, " ");
        int weight = *text == '-' ? -1 : 1;
        (void)snprintf(word, sizeof word, "%.*s", (int)length, text);
        if (formula->count == PAPI_MAX_INFO_TERMS ||
            !find_exactly(word + (weight < 0), &formula->terms[formula->count].event)) {
            formula->count = 0;
            return false;
        }
        formula->terms[formula->count++].weight = weight;
        text += length + strspn(text + length, " ");
    }
    return formula->count != 0;
}

static void load_presets(void)
{
    names.available = 0;
    for (unsigned i = 0; i < papi_preset_count; i++) {
        const struct papi_preset *preset = &papi_presets[i];
        struct papi_formula *formula = &names.presets[i];
        if (parse_formula(preset->any, formula) || parse_formula(preset->bgp, formula) ||
            parse_formula(preset->bgl, formula))
            names.available++;
    }
}

int papi_names_load(void)
{
    if (names.events) return PAPI_OK;
    names.count = (uint32_t)chiliad_callthru(CHILIAD_EVENTS, 0, 0);
    names.events = calloc(names.count, sizeof *names.events);
    names.by_name = calloc(names.count, sizeof *names.by_name);
    if (!names.events || !names.by_name) return PAPI_ENOMEM;
    for (uint32_t i = 0; i < names.count; i++) {
        struct chiliad_event *event = &names.events[i];
        (void)chiliad_callthru(CHILIAD_EVENT, (long)i, (long)event);
        names.named += event->kind != CHILIAD_EVENT_RESERVED;
        if (event->kind == CHILIAD_EVENT_RESERVED)
            (void)snprintf(event->name, sizeof event->name, "BGP_RESERVED_%u", (unsigned)event->id);
        names.by_name[i] = i;
    }
    qsort(names.by_name, names.count, sizeof *names.by_name, compare_names);
    load_presets();
    return PAPI_OK;
}

int papi_formula_of(int code, struct papi_formula *formula)
{
    if (IS_NATIVE(code)) {
        uint32_t event = (uint32_t)code & PAPI_UE_AND_MASK;
        if (event >= names.count) return PAPI_ENOEVNT;
        *formula = (struct papi_formula){.count = 1, .terms = {{event, 1}}};
        return PAPI_OK;
    }
    if (!IS_PRESET(code)) return PAPI_ENOEVNT;
    unsigned index = (unsigned)code & PAPI_PRESET_AND_MASK;
    if (index >= papi_preset_count) return PAPI_ENOTPRESET;
    *formula = names.presets[index];
    return formula->count ? PAPI_OK : PAPI_ENOEVNT;
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

int PAPI_query_event(int EventCode)
{
    struct papi_formula formula;
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    return papi_return(papi_formula_of(EventCode, &formula));
}

int PAPI_query_named_event(const char *EventName)
{
    int code, status = PAPI_event_name_to_code(EventName, &code);
    return status ? status : PAPI_query_event(code);
}

int PAPI_event_name_to_code(const char *in, int *out)
{
    uint32_t event;
    if (!in || !out) return papi_return(PAPI_EINVAL);
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    for (unsigned i = 0; i < papi_preset_count; i++) {
        if (strcmp(in, papi_presets[i].name) != 0) continue;
        *out = papi_presets[i].index | PAPI_PRESET_MASK;
        return PAPI_OK;
    }
    if (!find_native(in, &event)) return papi_return(PAPI_ENOEVNT);
    *out = (int)event | PAPI_NATIVE_MASK;
    return PAPI_OK;
}

int PAPI_event_code_to_name(int EventCode, char *out)
{
    if (!out) return papi_return(PAPI_EINVAL);
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    if (IS_PRESET(EventCode)) {
        unsigned index = (unsigned)EventCode & PAPI_PRESET_AND_MASK;
        if (index >= papi_preset_count) return papi_return(PAPI_ENOTPRESET);
        (void)snprintf(out, PAPI_MAX_STR_LEN, "%s", papi_presets[index].name);
        return PAPI_OK;
    }
    const struct chiliad_event *event = papi_native((uint32_t)EventCode & PAPI_UE_AND_MASK);
    if (!IS_NATIVE(EventCode) || !event) return papi_return(PAPI_ENOEVNT);
    (void)snprintf(out, PAPI_MAX_STR_LEN, "%s", event->name);
    return PAPI_OK;
}

static bool preset_fits(unsigned index, int modifier)
{
    if (modifier == PAPI_ENUM_EVENTS || modifier == PAPI_ENUM_FIRST) return true;
    if (modifier == PAPI_PRESET_ENUM_AVAIL) return names.presets[index].count != 0;
    return (papi_presets[index].type & (1u << modifier)) && names.presets[index].count;
}

static int enum_preset(int *code, int modifier)
{
    if (modifier < PAPI_ENUM_EVENTS || modifier > PAPI_PRESET_ENUM_FP) return PAPI_EINVAL;
    unsigned index = (unsigned)*code & PAPI_PRESET_AND_MASK;
    index = modifier == PAPI_ENUM_FIRST ? 0 : index + 1;
    while (index < papi_preset_count && !preset_fits(index, modifier))
        index++;
    if (index >= papi_preset_count) return modifier == PAPI_ENUM_FIRST ? PAPI_ENOEVNT : PAPI_EINVAL;
    *code = (int)index | PAPI_PRESET_MASK;
    return PAPI_OK;
}

static int enum_native(int *code, int modifier)
{
    if (modifier != PAPI_ENUM_EVENTS && modifier != PAPI_ENUM_FIRST) return PAPI_EINVAL; /* no unit masks */
    uint32_t event = (uint32_t)*code & PAPI_UE_AND_MASK;
    event = modifier == PAPI_ENUM_FIRST ? 0 : event + 1;
    while (event < names.count && names.events[event].kind == CHILIAD_EVENT_RESERVED)
        event++;
    if (event >= names.count) return PAPI_ENOEVNT;
    *code = (int)event | PAPI_NATIVE_MASK;
    return PAPI_OK;
}

int PAPI_enum_cmp_event(int *EventCode, int modifier, int cidx)
{
    if (!EventCode) return papi_return(PAPI_EINVAL);
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    if (cidx != 0) return papi_return(PAPI_ENOCMP);
    if (papi_options.disabled) return papi_return(PAPI_ENOCMP);
    /* The end, or no unit masks, is no error to be printed: listings come there for every event. */
    if (IS_PRESET(*EventCode)) return enum_preset(EventCode, modifier);
    if (IS_NATIVE(*EventCode)) return enum_native(EventCode, modifier);
    return papi_return(IS_USER_DEFINED(*EventCode) ? PAPI_ENOEVNT : PAPI_EINVAL);
}

int PAPI_enum_event(int *EventCode, int modifier)
{
    return PAPI_enum_cmp_event(EventCode, modifier, 0);
}

int PAPI_get_event_component(int EventCode)
{
    char name[PAPI_MAX_STR_LEN];
    return PAPI_event_code_to_name(EventCode, name) == PAPI_OK ? 0 : papi_return(PAPI_ENOCMP);
}

/* --- What is known of an event ------------------------------------------------------------------------------------ */

static const char *const exactness[] = {"nothing drives this event on this machine yet; it counts 0",
                                        "depends on modelling choices (docs/model.md)",
                                        "exact: defined by the program and the architecture"};

static void copy(char *to, size_t size, const char *text)
{
    (void)snprintf(to, size, "%s", text ? text : "");
}

static int info_of_native(uint32_t index, PAPI_event_info_t *info)
{
    const struct chiliad_event *event = papi_native(index);
    if (!event) return PAPI_ENOEVNT;
    copy(info->symbol, sizeof info->symbol, event->name);
    (void)snprintf(info->short_descr, sizeof info->short_descr, "%.63s", event->text);
    copy(info->long_descr, sizeof info->long_descr, event->text);
    copy(info->note, sizeof info->note, exactness[event->exactness]);
    copy(info->name[0], sizeof info->name[0], event->name);
    info->code[0] = index | (unsigned)PAPI_NATIVE_MASK;
    info->count = 1;
    info->location = event->kind == CHILIAD_EVENT_OWN ? PAPI_LOCATION_CPU : PAPI_LOCATION_PACKAGE;
    return PAPI_OK;
}

static bool takes_off(const struct papi_formula *formula)
{
    for (unsigned i = 0; i < formula->count; i++)
        if (formula->terms[i].weight < 0) return true;
    return false;
}

/* PAPI's postfix notation: N0|N1|+|N2|-| */
static void put_postfix(const struct papi_formula *formula, char *to, size_t size)
{
    size_t used = 0;
    for (unsigned i = 0; i < formula->count && used < size; i++) {
        const char *sign = i == 0 ? "" : formula->terms[i].weight < 0 ? "-|" : "+|";
        used += (size_t)snprintf(to + used, size - used, "N%u|%s", i, sign);
    }
}

static int info_of_preset(unsigned index, PAPI_event_info_t *info)
{
    if (index >= papi_preset_count) return PAPI_ENOTPRESET;
    const struct papi_preset *preset = &papi_presets[index];
    const struct papi_formula *formula = &names.presets[index];
    copy(info->symbol, sizeof info->symbol, preset->name);
    copy(info->short_descr, sizeof info->short_descr, preset->short_text);
    copy(info->long_descr, sizeof info->long_descr, preset->text);
    copy(info->note, sizeof info->note, preset->note);
    info->event_type = preset->type;
    info->count = formula->count;
    for (unsigned i = 0; i < formula->count; i++) {
        info->code[i] = formula->terms[i].event | (unsigned)PAPI_NATIVE_MASK;
        copy(info->name[i], sizeof info->name[i], papi_native(formula->terms[i].event)->name);
    }
    copy(info->derived, sizeof info->derived,
         formula->count < 2   ? "NOT_DERIVED"
         : takes_off(formula) ? "DERIVED_POSTFIX"
                              : "DERIVED_ADD");
    if (takes_off(formula)) put_postfix(formula, info->postfix, sizeof info->postfix);
    return PAPI_OK;
}

int PAPI_get_event_info(int EventCode, PAPI_event_info_t *info)
{
    if (!info) return papi_return(PAPI_EINVAL);
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    memset(info, 0, sizeof *info);
    info->event_code = (unsigned)EventCode;
    if (IS_PRESET(EventCode)) return papi_return(info_of_preset((unsigned)EventCode & PAPI_PRESET_AND_MASK, info));
    if (IS_NATIVE(EventCode)) return papi_return(info_of_native((uint32_t)EventCode & PAPI_UE_AND_MASK, info));
    return papi_return(PAPI_ENOEVNT);
}
