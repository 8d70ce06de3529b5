/* What the program runs on and what it is: machine, component, program, libraries, memory, devices.
 *
 * Sizes of caches are parameters of the machine file, asked of the simulator. Programs and libraries are found through
 * the dynamic linker's list, which static programs have too; sizes of memory through /proc/self/maps.
 */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "papi_impl.h"

#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

PAPI_component_info_t papi_component;
static PAPI_hw_info_t hardware;

/* --- The machine -------------------------------------------------------------------------------------------------- */

static bool parameter(const char *key, char text[PAPI_MIN_STR_LEN])
{
    return chiliad_callthru(CHILIAD_PARAMETER, (long)key, (long)text) == 0;
}

static int number(const char *key)
{
    char text[PAPI_MIN_STR_LEN];
    return parameter(key, text) ? (int)strtoul(text, NULL, 10) : 0;
}

unsigned papi_clock_mhz(void)
{
    return hardware.clock_mhz > 0 ? (unsigned)hardware.clock_mhz : 1;
}

static int policy(const char *section)
{
    char key[PAPI_MIN_STR_LEN], text[PAPI_MIN_STR_LEN];
    (void)snprintf(key, sizeof key, "%s.policy", section);
    if (!parameter(key, text)) return PAPI_MH_TYPE_UNKNOWN;
    return strcmp(text, "lru") == 0 ? PAPI_MH_TYPE_LRU : strcmp(text, "round-robin") == 0 ? PAPI_MH_TYPE_FIFO : 0;
}

static PAPI_mh_cache_info_t cache(const char *section, int type)
{
    char key[PAPI_MIN_STR_LEN];
    PAPI_mh_cache_info_t info = {.type = type | policy(section)};
    (void)snprintf(key, sizeof key, "%s.size", section);
    info.size = number(key);
    (void)snprintf(key, sizeof key, "%s.line", section);
    info.line_size = number(key);
    (void)snprintf(key, sizeof key, "%s.ways", section);
    info.associativity = number(key);
    if (info.line_size) info.num_lines = info.size / info.line_size;
    return info;
}

/* L1 of each core, its prefetch buffer, and the L3 that they share. */
static void load_hierarchy(PAPI_mh_info_t *memory)
{
    char write[PAPI_MIN_STR_LEN];
    bool back = parameter("l1d.write", write) && strcmp(write, "back") == 0;
    memory->levels = number("l3.size") ? 3 : 2;
    memory->level[0].cache[0] = cache("l1i", PAPI_MH_TYPE_INST);
    memory->level[0].cache[1] = cache("l1d", PAPI_MH_TYPE_DATA | (back ? PAPI_MH_TYPE_WB : PAPI_MH_TYPE_WT));
    memory->level[0].tlb[0] = (PAPI_mh_tlb_info_t){PAPI_MH_TYPE_UNIFIED, number("tlb.entries"), number("tlb.page"), 0};
    memory->level[0].tlb[0].associativity = memory->level[0].tlb[0].num_entries;
    PAPI_mh_cache_info_t buffer = cache("l2", PAPI_MH_TYPE_UNIFIED | PAPI_MH_TYPE_PREF);
    buffer.num_lines = buffer.associativity = number("l2.entries");
    buffer.size = buffer.num_lines * buffer.line_size;
    memory->level[1].cache[0] = buffer;
    memory->level[2].cache[0] = cache("l3", PAPI_MH_TYPE_UNIFIED | PAPI_MH_TYPE_WB);
}

static void load_hardware(void)
{
    PAPI_hw_info_t *h = &hardware;
    char text[PAPI_MIN_STR_LEN] = "";
    *h = (PAPI_hw_info_t){.threads = 1, .sockets = 1, .nnodes = 1, .vendor = PAPI_VENDOR_IBM, .virtualized = 1};
    h->ncpu = h->totalcpus = h->cores = number("machine.cores");
    h->clock_mhz = h->cpu_max_mhz = h->cpu_min_mhz = number("machine.clock_mhz");
    h->mhz = (float)h->clock_mhz;
    h->revision = 1;
    (void)strcpy(h->vendor_string, "IBM");
    (void)parameter("machine.text", text);
    (void)snprintf(h->model_string, sizeof h->model_string, "%s", text);
    (void)strcpy(h->virtual_vendor_string, "Chiliad");
    load_hierarchy(&h->mem_hierarchy);
}

const PAPI_hw_info_t *PAPI_get_hardware_info(void)
{
    return papi_is_up() ? &hardware : (papi_return(PAPI_ENOINIT), NULL);
}

/* --- The component ------------------------------------------------------------------------------------------------ */

static void load_component(void)
{
    PAPI_component_info_t *c = &papi_component;
    static char unit[] = "chiliad";
    *c =
        (PAPI_component_info_t){.name = "chiliad",
                                .short_name = "chiliad",
                                .description = "Every event of the simulated node, exactly",
                                .version = "1.0",
                                .support_version = "n/a",
                                .kernel_version = "n/a",
                                .initialized = 1,
                                .default_domain = PAPI_DOM_USER,
                                .available_domains = PAPI_DOM_ALL,
                                .default_granularity = PAPI_GRN_THR,
                                .available_granularities = PAPI_GRN_THR | PAPI_GRN_PROC | PAPI_GRN_SYS,
                                .hardware_intr_sig = SIGXCPU,
                                .pmu_names = {unit},
                                .hardware_intr = 1,
                                .precise_intr = 1,
                                .kernel_multiplex = 1,
                                .fast_counter_read = 1,
                                .fast_real_timer = 1,
                                .inherit = 1};
    c->num_native_events = (int)papi_native_count();
    c->num_preset_events = (int)papi_preset_available();
    c->num_cntrs = c->num_mpx_cntrs = (int)chiliad_callthru(CHILIAD_EVENTS, 0, 0);
    if (!papi_options.disabled) return;
    c->disabled = PAPI_ECMP_DISABLED;
    (void)strcpy(c->disabled_reason, "Component disabled by user");
}

void papi_info_load(void)
{
    load_hardware();
    load_component();
}

int PAPI_num_components(void)
{
    return papi_is_up() ? 1 : papi_return(PAPI_ENOINIT);
}

int PAPI_num_cmp_hwctrs(int cidx)
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    return cidx == 0 ? papi_component.num_cntrs : papi_return(PAPI_ENOCMP);
}

int PAPI_num_hwctrs(void)
{
    return PAPI_num_cmp_hwctrs(0);
}

const PAPI_component_info_t *PAPI_get_component_info(int cidx)
{
    return cidx == 0 ? &papi_component : NULL;
}

int PAPI_get_component_index(const char *name)
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    return name && strcmp(name, papi_component.name) == 0 ? 0 : papi_return(PAPI_ENOCMP);
}

int PAPI_disable_component(int cidx)
{
    if (papi_is_up()) return papi_return(PAPI_ENOINIT); /* too late */
    if (cidx != 0) return papi_return(PAPI_ENOCMP);
    papi_options.disabled = true;
    return PAPI_OK;
}

int PAPI_disable_component_by_name(const char *name)
{
    if (papi_is_up()) return papi_return(PAPI_ENOINIT);
    return name && strcmp(name, "chiliad") == 0 ? PAPI_disable_component(0) : papi_return(PAPI_ENOCMP);
}

/* --- The program and its libraries -------------------------------------------------------------------------------- */

static void map_object(const struct dl_phdr_info *object, PAPI_address_map_t *map)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        char *start = (char *)(object->dlpi_addr + part->p_vaddr);
        if (part->p_type != PT_LOAD) continue;
        if (part->p_flags & PF_X) {
            if (!map->text_start) map->text_start = start;
            map->text_end = start + part->p_filesz;
        }
        if (part->p_flags & PF_W) {
            map->data_start = start;
            map->data_end = map->bss_start = start + part->p_filesz;
            map->bss_end = start + part->p_memsz;
        }
    }
}

/* The program itself is first and has no name; its kernel's page has none that one could open. */
static bool is_library(const struct dl_phdr_info *object)
{
    return object->dlpi_name && strchr(object->dlpi_name, '/');
}

static int find_program(struct dl_phdr_info *object, size_t size, void *context)
{
    PAPI_exe_info_t *info = context;
    (void)size;
    map_object(object, &info->address_info);
    return 1; /* no more */
}

const PAPI_exe_info_t *PAPI_get_executable_info(void)
{
    static PAPI_exe_info_t info;
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT), NULL;
    memset(&info, 0, sizeof info);
    ssize_t length = readlink("/proc/self/exe", info.fullname, sizeof info.fullname - 1);
    info.fullname[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(info.fullname, '/');
    (void)snprintf(info.address_info.name, sizeof info.address_info.name, "%s", slash ? slash + 1 : info.fullname);
    (void)dl_iterate_phdr(find_program, &info);
    return &info;
}

static int count_library(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size;
    *(int *)context += is_library(object);
    return 0;
}

static int add_library(struct dl_phdr_info *object, size_t size, void *context)
{
    PAPI_shlib_info_t *info = context;
    (void)size;
    if (!is_library(object)) return 0;
    PAPI_address_map_t *map = &info->map[info->count++];
    (void)snprintf(map->name, sizeof map->name, "%s", object->dlpi_name);
    map_object(object, map);
    return 0;
}

const PAPI_shlib_info_t *PAPI_get_shared_lib_info(void)
{
    static PAPI_shlib_info_t info;
    int count = 0;
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT), NULL;
    (void)dl_iterate_phdr(count_library, &count);
    free(info.map);
    info.count = 0;
    info.map = calloc((size_t)count + 1, sizeof *info.map);
    if (!info.map) return papi_return(PAPI_ENOMEM), NULL;
    (void)dl_iterate_phdr(add_library, &info);
    return &info;
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */

int PAPI_get_dmem_info(PAPI_dmem_info_t *dest)
{
    static long long peak;
    char line[PAPI_2MAX_STR_LEN], rights[8];
    unsigned long from, to;
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    if (!dest) return papi_return(PAPI_EINVAL);
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps) return papi_return(PAPI_ESYS);
    *dest = (PAPI_dmem_info_t){.pagesize = sysconf(_SC_PAGESIZE)};
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) != 3) continue;
        long long kilobytes = (long long)(to - from) / 1024;
        dest->size += kilobytes;
        if (strchr(rights, 'x')) dest->text += kilobytes;
        if (strstr(line, "[heap]")) dest->heap += kilobytes;
        if (strstr(line, "[stack]")) dest->stack += kilobytes;
    }
    (void)fclose(maps);
    if (dest->size > peak) peak = dest->size;
    dest->resident = dest->size; /* nothing is ever paged out */
    dest->peak = dest->high_water_mark = peak;
    return PAPI_OK;
}

/* --- Devices: the node's processor is the only one ---------------------------------------------------------------- */

static const char device;

int PAPI_enum_dev_type(int enum_modifier, void **handle)
{
    if (!handle) return papi_return(PAPI_EINVAL);
    bool first = !*handle;
    *handle = first && (enum_modifier == PAPI_DEV_TYPE_ENUM__FIRST || enum_modifier & PAPI_DEV_TYPE_ENUM__CPU)
                  ? (void *)&device
                  : NULL;
    return *handle ? PAPI_OK : PAPI_EINVAL;
}

int PAPI_get_dev_type_attr(void *handle, PAPI_dev_type_attr_e attr, void *value)
{
    if (handle != &device || !value) return papi_return(PAPI_EINVAL);
    switch (attr) {
    case PAPI_DEV_TYPE_ATTR__INT_PAPI_ID: *(int *)value = PAPI_DEV_TYPE_ID__CPU; break;
    case PAPI_DEV_TYPE_ATTR__INT_VENDOR_ID: *(int *)value = hardware.vendor; break;
    case PAPI_DEV_TYPE_ATTR__CHAR_NAME: *(const char **)value = hardware.vendor_string; break;
    case PAPI_DEV_TYPE_ATTR__INT_COUNT: *(int *)value = 1; break;
    case PAPI_DEV_TYPE_ATTR__CHAR_STATUS: *(const char **)value = "Device Initialized"; break;
    default: return papi_return(PAPI_EINVAL);
    }
    return PAPI_OK;
}

/* The attributes of caches come in fours: L1I, L1D, L2, L3. */
static bool cache_attribute(unsigned attr, unsigned *value)
{
    const PAPI_mh_info_t *m = &hardware.mem_hierarchy;
    const PAPI_mh_cache_info_t *caches[] = {&m->level[0].cache[0], &m->level[0].cache[1], &m->level[1].cache[0],
                                            &m->level[2].cache[0]};
    unsigned at = attr - PAPI_DEV_ATTR__CPU_UINT_L1I_CACHE_SIZE;
    if (attr < PAPI_DEV_ATTR__CPU_UINT_L1I_CACHE_SIZE || at >= 16) return false;
    const PAPI_mh_cache_info_t *one = caches[at % 4];
    const int facts[] = {one->size, one->line_size, one->num_lines, one->associativity};
    *value = (unsigned)facts[at / 4];
    return true;
}

int PAPI_get_dev_attr(void *handle, int id, PAPI_dev_attr_e attr, void *value)
{
    if (handle != &device || !value) return papi_return(PAPI_EINVAL);
    if (cache_attribute(attr, value)) return PAPI_OK;
    switch (attr) {
    case PAPI_DEV_ATTR__CPU_CHAR_NAME: *(const char **)value = hardware.model_string; break;
    case PAPI_DEV_ATTR__CPU_UINT_SOCKET_COUNT:
    case PAPI_DEV_ATTR__CPU_UINT_NUMA_COUNT: *(unsigned *)value = 1; break;
    case PAPI_DEV_ATTR__CPU_UINT_CORE_COUNT:
    case PAPI_DEV_ATTR__CPU_UINT_THREAD_COUNT:
    case PAPI_DEV_ATTR__CPU_UINT_THR_PER_NUMA: *(unsigned *)value = (unsigned)hardware.ncpu; break;
    case PAPI_DEV_ATTR__CPU_UINT_FAMILY:
    case PAPI_DEV_ATTR__CPU_UINT_MODEL:
    case PAPI_DEV_ATTR__CPU_UINT_STEPPING: *(unsigned *)value = 0; break;
    case PAPI_DEV_ATTR__CPU_UINT_NUMA_MEM_SIZE:
        *(unsigned *)value = (unsigned)(sysconf(_SC_PHYS_PAGES) * (sysconf(_SC_PAGESIZE) / 1024) / 1024);
        break;
    case PAPI_DEV_ATTR__CPU_UINT_THR_NUMA_AFFINITY: *(unsigned *)value = 0; break;
    default: return papi_return(PAPI_EINVAL);
    }
    (void)id;
    return PAPI_OK;
}
