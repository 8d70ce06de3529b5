/* Reads the functions of ELF files: from the symbol table, else the dynamic one, and for what is in
 * neither from the unwinding data (.eh_frame), which stripped programs keep and which says where
 * functions begin and end. */
#include "measure/observe/observe_symbols.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "measure/observe/observe_debug.h"
#include "machine/mem/mem.h"

struct entry {
    struct observe_symbol symbol;
    const struct observe_symbol *is; /* itself, or the function of which this is the cold part */
    unsigned rank;                   /* of several at one address the lowest counts */
    uint32_t end;                    /* of its section, for those without a size */
};

struct observe_object {
    struct observe_object *next;
    struct arena *arena; /* of the table that it is in */
    char *path, *host;
    struct os_image *image;
    struct entry *entries; /* sorted by address */
    size_t count, capacity;
    GElf_Phdr *segments;
    size_t segment_count;
    Dwfl *dwfl; /* for lines; opened at the first look-up */
    Dwfl_Module *module;
    bool lines_opened;
};

/* Symbols that are in no file's table. */
struct loose {
    struct loose *next;
    struct observe_symbol symbol;
};

struct observe_symbols {
    struct arena arena;
    struct observe_object *objects;
    struct loose *loose;
};

struct observe_symbols *observe_symbols_new(void)
{
    struct observe_symbols *symbols = base_calloc(1, sizeof *symbols);
    arena_init(&symbols->arena);
    return symbols;
}

void observe_symbols_free(struct observe_symbols *symbols)
{
    if (!symbols) return;
    while (symbols->objects) {
        struct observe_object *next = symbols->objects->next;
        if (symbols->objects->dwfl) dwfl_end(symbols->objects->dwfl);
        os_image_release(symbols->objects->image);
        free(symbols->objects->entries);
        free(symbols->objects->segments);
        free(symbols->objects);
        symbols->objects = next;
    }
    while (symbols->loose) {
        struct loose *next = symbols->loose->next;
        free(symbols->loose);
        symbols->loose = next;
    }
    arena_fini(&symbols->arena);
    free(symbols);
}

static char *keep(struct observe_symbols *symbols, const char *text)
{
    return name_printable(arena_strndup(&symbols->arena, text, strlen(text)));
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* --- Reading a file -------------------------------------------------------------------------- */

static struct entry *add(struct observe_object *object, const char *name, uint32_t address,
                         uint32_t size, unsigned rank)
{
    object->entries =
        base_grow(object->entries, &object->capacity, object->count + 1, sizeof *object->entries);
    struct entry *entry = &object->entries[object->count++];
    *entry = (struct entry){
        .symbol = {.name = name, .object = object, .address = address, .size = size}, .rank = rank};
    return entry;
}

/* Of several names for one address: few underscores in front, then short. */
static unsigned rank_of(const char *name)
{
    enum { LONG = 10000 };
    size_t length = strlen(name);
    return (unsigned)strspn(name, "_") % LONG * LONG +
           (unsigned)(length < LONG ? length : LONG - 1);
}

static bool is_code(Elf *elf, const GElf_Sym *symbol, uint32_t *end)
{
    GElf_Shdr header;
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    bool global = GELF_ST_BIND(symbol->st_info) != STB_LOCAL;
    if (type != STT_FUNC && !(type == STT_NOTYPE && global)) return false;
    Elf_Scn *section = symbol->st_shndx < SHN_LORESERVE ? elf_getscn(elf, symbol->st_shndx) : NULL;
    if (!symbol->st_shndx || !section || !gelf_getshdr(section, &header) ||
        !(header.sh_flags & SHF_EXECINSTR))
        return false;
    *end = (uint32_t)(header.sh_addr + header.sh_size);
    return symbol->st_value % 4 == 0;
}

static void read_table(struct observe_symbols *symbols, struct observe_object *object, Elf *elf,
                       Elf_Scn *section)
{
    GElf_Shdr header;
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || !gelf_getshdr(section, &header)) return;
    for (size_t i = 0; i < data->d_size / sizeof(Elf32_Sym); i++) {
        GElf_Sym symbol;
        uint32_t end;
        if (!gelf_getsym(data, (int)i, &symbol) || !is_code(elf, &symbol, &end)) continue;
        const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (!name || !*name) continue;
        add(object, keep(symbols, name), (uint32_t)symbol.st_value, (uint32_t)symbol.st_size,
            rank_of(name))
            ->end = end;
    }
}

static Elf_Scn *find_section(Elf *elf, uint32_t type, const char *name)
{
    size_t names = 0;
    GElf_Shdr header;
    if (elf_getshdrstrndx(elf, &names)) return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        if (!gelf_getshdr(section, &header) || (type != SHT_NULL && header.sh_type != type))
            continue;
        const char *is = elf_strptr(elf, names, header.sh_name);
        if (!name || (is && strcmp(is, name) == 0)) return section;
    }
    return NULL;
}

/* Frame descriptions as gcc writes them for PowerPC: 32-bit lengths, addresses relative to where
 * they stand. */
static void read_frames(struct observe_symbols *symbols, struct observe_object *object, Elf *elf)
{
    enum { SIZE = 4, POINTER = 8, RANGE = 12, FIELDS = 16 };
    GElf_Shdr header;
    Elf_Scn *section = find_section(elf, SHT_PROGBITS, ".eh_frame");
    Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    if (!data || !data->d_buf || !gelf_getshdr(section, &header)) return;
    const uint8_t *bytes = data->d_buf;
    for (size_t at = 0; at + FIELDS <= data->d_size;) {
        uint32_t length = mem_host_get32(bytes + at);
        if (length < RANGE || length > data->d_size - at - SIZE)
            break;                               /* the end, or nothing that we know */
        if (mem_host_get32(bytes + at + SIZE)) { /* not a common part */
            uint32_t address =
                (uint32_t)(header.sh_addr + at + POINTER) + mem_host_get32(bytes + at + POINTER);
            uint32_t size = mem_host_get32(bytes + at + RANGE);
            char name[300];
            (void)snprintf(name, sizeof name, "%.200s+0x%x", last_part(object->path), address);
            if (address % 4 == 0 && size)
                (void)add(object, keep(symbols, name), address, size, UINT32_MAX);
        }
        at += SIZE + length;
    }
}

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->symbol.address != y->symbol.address)
        return x->symbol.address < y->symbol.address ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return strcmp(x->symbol.name, y->symbol.name);
}

/* An unknown size reaches to the next symbol or to the end of the section. */
static void guess_size(struct entry *entry, uint32_t next)
{
    uint32_t end = next < entry->end ? next : entry->end;
    if (!entry->symbol.size && end > entry->symbol.address)
        entry->symbol.size = end - entry->symbol.address;
}

/* One for each address. What unwinding data adds inside a symbol goes. */
static void tidy(struct observe_object *object)
{
    size_t kept = 0;
    uint32_t covered = 0;
    if (object->count) qsort(object->entries, object->count, sizeof *object->entries, compare);
    for (size_t i = 0; i < object->count; i++) {
        struct entry *entry = &object->entries[i], *last = kept ? &object->entries[kept - 1] : NULL;
        bool inside = kept && entry->symbol.address < covered;
        if (last && last->symbol.address == entry->symbol.address) {
            if (!last->symbol.size) last->symbol.size = entry->symbol.size;
        } else if (!inside || entry->rank != UINT32_MAX) {
            if (last) guess_size(last, entry->symbol.address);
            object->entries[kept++] = *entry;
        }
        const struct observe_symbol *now = &object->entries[kept - 1].symbol;
        if (now->address + now->size > covered) covered = now->address + now->size;
    }
    if (kept) guess_size(&object->entries[kept - 1], UINT32_MAX);
    object->count = kept;
}

static const struct observe_symbol *find_entry(const struct observe_object *object,
                                               const char *name, size_t length)
{
    for (size_t i = 0; i < object->count; i++)
        if (strncmp(object->entries[i].symbol.name, name, length) == 0 &&
            !object->entries[i].symbol.name[length])
            return &object->entries[i].symbol;
    return NULL;
}

static void join_cold(struct observe_object *object)
{
    for (size_t i = 0; i < object->count; i++) {
        struct entry *entry = &object->entries[i];
        const char *cold = strstr(entry->symbol.name, ".cold");
        const struct observe_symbol *of =
            cold ? find_entry(object, entry->symbol.name, (size_t)(cold - entry->symbol.name))
                 : NULL;
        entry->is = of ? of : &entry->symbol;
    }
}

static void read_object(struct observe_symbols *symbols, struct observe_object *object)
{
    (void)elf_version(EV_CURRENT);
    Elf *elf = elf_begin(os_image_descriptor(object->image), ELF_C_READ, NULL);
    size_t count = 0;
    if (elf && elf_kind(elf) == ELF_K_ELF && elf_getphdrnum(elf, &count) == 0) {
        object->segments = base_calloc(count + 1, sizeof *object->segments);
        for (size_t i = 0; i < count; i++)
            if (gelf_getphdr(elf, (int)i, &object->segments[object->segment_count]))
                object->segment_count++;
        Elf_Scn *table = find_section(elf, SHT_SYMTAB, NULL);
        if (!table) table = find_section(elf, SHT_DYNSYM, NULL);
        if (table) read_table(symbols, object, elf, table);
        read_frames(symbols, object, elf);
        tidy(object);
        join_cold(object);
    }
    elf_end(elf);
}

static struct observe_object *object_get(struct observe_symbols *symbols,
                                         const struct os_object *mapped)
{
    for (struct observe_object *object = symbols->objects; object; object = object->next)
        if (object->image == mapped->image) return object;
    struct observe_object *object = base_calloc(1, sizeof *object);
    object->arena = &symbols->arena;
    object->path = keep(symbols, mapped->path);
    object->host = keep(symbols, mapped->host);
    object->image = os_image_share(mapped->image);
    object->next = symbols->objects;
    symbols->objects = object;
    read_object(symbols, object);
    return object;
}

const struct observe_object *observe_symbols_file(struct observe_symbols *symbols, const char *path,
                                                  struct os_image *image)
{
    return object_get(symbols, &(struct os_object){.path = path, .host = path, .image = image});
}

/* --- Asking ---------------------------------------------------------------------------------- */

/* The file that pc is of, and the address there. */
static struct observe_object *locate(struct observe_symbols *symbols, const struct os *os,
                                     const struct mem *mem, uint32_t pc, uint32_t *address)
{
    struct os_object mapped;
    if (!os_object_find(os, mem, pc, &mapped)) return NULL;
    struct observe_object *object = object_get(symbols, &mapped);
    uint64_t offset = pc - mapped.address + mapped.offset;
    for (size_t i = 0; i < object->segment_count; i++) {
        const GElf_Phdr *segment = &object->segments[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
        if (offset < segment->p_offset || offset - segment->p_offset >= segment->p_filesz) continue;
        *address = (uint32_t)(offset - segment->p_offset + segment->p_vaddr);
        return object;
    }
    return NULL;
}

bool observe_symbols_bias(struct observe_symbols *symbols, const struct os_object *mapped,
                          uint32_t *bias)
{
    const struct observe_object *object = object_get(symbols, mapped);
    for (size_t i = 0; i < object->segment_count; i++) {
        const GElf_Phdr *segment = &object->segments[i];
        uint64_t end = segment->p_offset + segment->p_filesz;
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
        if (mapped->offset >= end || mapped->offset + mapped->length <= segment->p_offset) continue;
        *bias = (uint32_t)(mapped->address - mapped->offset + segment->p_offset - segment->p_vaddr);
        return true;
    }
    return false;
}

void observe_symbols_each(struct observe_symbols *symbols, const struct os_object *mapped,
                          void (*report)(void *context, const char *name, uint32_t address,
                                         uint32_t size),
                          void *context)
{
    const struct observe_object *object = object_get(symbols, mapped);
    for (size_t i = 0; i < object->count; i++) {
        const struct entry *entry = &object->entries[i];
        if (!entry->symbol.size) continue;
        report(context, observe_symbols_name(entry->is), entry->symbol.address, entry->symbol.size);
    }
}

const struct observe_symbol *observe_symbols_find(struct observe_symbols *symbols,
                                                  const struct os *os, const struct mem *mem,
                                                  uint32_t pc, uint32_t *low, uint32_t *high,
                                                  uint32_t *start)
{
    uint32_t address;
    const struct observe_object *object = locate(symbols, os, mem, pc, &address);
    if (!object) return NULL;
    size_t from = 0, to = object->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (object->entries[middle].symbol.address <= address)
            from = middle + 1;
        else
            to = middle;
    }
    enum { NESTED = 16 }; /* entries inside a function */
    for (size_t i = from; i-- > 0 && from - i <= NESTED;) {
        const struct entry *entry = &object->entries[i];
        if (address - entry->symbol.address >= entry->symbol.size) continue;
        *low = pc - (address - entry->symbol.address);
        *high = *low + entry->symbol.size;
        *start = entry->symbol.address;
        return entry->is;
    }
    return NULL;
}

static const struct observe_symbol *loose_get(struct observe_symbols *symbols, const char *name,
                                              const struct observe_object *object, uint32_t address)
{
    for (const struct loose *loose = symbols->loose; loose; loose = loose->next)
        if (loose->symbol.object == object && loose->symbol.address == address &&
            strcmp(loose->symbol.name, name) == 0)
            return &loose->symbol;
    struct loose *loose = base_calloc(1, sizeof *loose);
    loose->symbol =
        (struct observe_symbol){.name = keep(symbols, name), .object = object, .address = address};
    loose->next = symbols->loose;
    symbols->loose = loose;
    return &loose->symbol;
}

const struct observe_symbol *observe_symbols_unnamed(struct observe_symbols *symbols,
                                                     const struct os *os, const struct mem *mem,
                                                     uint32_t pc)
{
    uint32_t address = pc;
    char name[300];
    const struct observe_object *object = locate(symbols, os, mem, pc, &address);
    if (object)
        (void)snprintf(name, sizeof name, "%.200s+0x%x", last_part(object->path), address);
    else
        (void)snprintf(name, sizeof name, "0x%08x", pc);
    return loose_get(symbols, name, object, address);
}

const struct observe_symbol *observe_symbols_label(struct observe_symbols *symbols,
                                                   const char *text)
{
    return loose_get(symbols, text, NULL, 0);
}

/* --- Sources --------------------------------------------------------------------------------- */

const char *observe_object_path(const struct observe_object *object)
{
    return object->path;
}

static void open_lines(struct observe_object *object)
{
    object->lines_opened = true;
    object->module = observe_debug_open(&object->dwfl, object->host, object->image, 0);
}

static const char *line_of(struct observe_object *object, uint32_t address, int *line)
{
    GElf_Addr bias;
    *line = -1;
    if (!object->module || !dwfl_module_getelf(object->module, &bias)) return NULL;
    Dwfl_Line *at = dwfl_module_getsrc(object->module, address + bias);
    const char *file = at ? dwfl_lineinfo(at, NULL, line, NULL, NULL, NULL) : NULL;
    if (!file || name_is_printable(file)) return file;
    return name_printable(arena_strdup(object->arena, file));
}

const char *observe_symbols_line(const struct observe_symbol *symbol, uint32_t address, int *line)
{
    struct observe_object *object = (struct observe_object *)symbol->object;
    *line = -1;
    if (!object) return NULL;
    if (!object->lines_opened) open_lines(object);
    return line_of(object, address, line);
}

/* Whether the symbol is Fortran's, and the procedure's name if the debugging information has it. */
static bool is_fortran(struct observe_object *object, uint32_t address, const char **procedure)
{
    GElf_Addr bias;
    Dwarf_Die *scopes = NULL;
    if (!object->lines_opened) open_lines(object);
    if (!object->module || !dwfl_module_getelf(object->module, &bias)) return false;
    Dwarf_Addr at = address + bias;
    Dwarf_Die *unit = dwfl_module_addrdie(object->module, at, &bias);
    switch (unit ? dwarf_srclang(unit) : -1) {
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08: break;
    default: return false;
    }
    int count = dwarf_getscopes(unit, at - bias, &scopes);
    for (int i = 0; i < count && !*procedure; i++)
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram) *procedure = dwarf_diename(&scopes[i]);
    free(scopes);
    return true;
}

/* What gfortran adds goes: "fill_" and "inner.0" are procedures, MAIN__ is the program. */
static const char *fortran_name(struct observe_object *object, const struct observe_symbol *symbol)
{
    const char *procedure = NULL, *end = symbol->name + strlen(symbol->name);
    if (!strchr(symbol->name, '.') && (end == symbol->name || end[-1] != '_')) return symbol->name;
    if (!is_fortran(object, symbol->address, &procedure)) return symbol->name;
    if (strcmp(symbol->name, "MAIN__") == 0)
        return procedure ? name_printable(arena_strdup(object->arena, procedure)) : symbol->name;
    const char *dot = strchr(symbol->name, '.');
    if (dot && dot[1 + strspn(dot + 1, "0123456789")] == 0) end = dot;
    while (end > symbol->name + 1 && end[-1] == '_')
        end--;
    return arena_strndup(object->arena, symbol->name, (size_t)(end - symbol->name));
}

static const char *find_name(struct observe_object *object, const struct observe_symbol *symbol)
{
    char *written = name_written(symbol->name);
    const char *underscores = symbol->name + strspn(symbol->name, "_");
    if (written) {
        const char *kept = arena_strdup(object->arena, written);
        free(written);
        return kept;
    }
    if (strncmp(underscores, "pthread_", strlen("pthread_")) == 0) return underscores;
    return fortran_name(object, symbol);
}

const char *observe_object_name(const struct observe_object *object, const char *function,
                                uint32_t address)
{
    const struct observe_symbol symbol = {.name = function, .address = address};
    return find_name((struct observe_object *)object, &symbol);
}

const char *observe_symbols_name(const struct observe_symbol *symbol)
{
    struct observe_symbol *changed = (struct observe_symbol *)symbol;
    struct observe_object *object = (struct observe_object *)symbol->object;
    if (!symbol->written) changed->written = object ? find_name(object, symbol) : symbol->name;
    return symbol->written;
}

void observe_symbols_source(const struct observe_symbol *symbol, char *file, size_t size,
                            int *begin, int *end)
{
    struct observe_object *object = (struct observe_object *)symbol->object;
    *begin = *end = -1;
    (void)snprintf(file, size, "%s", object ? object->path : "");
    if (!object) return;
    if (!object->lines_opened) open_lines(object);
    const char *name = line_of(object, symbol->address, begin);
    if (!name) return;
    (void)snprintf(file, size, "%s", name);
    if (symbol->size >= 4) (void)line_of(object, symbol->address + symbol->size - 4, end);
    if (*end < *begin) *end = -1;
}
