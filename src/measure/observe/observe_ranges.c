/* Address ranges of an ELF file with their names: functions, data, sections, and for a program the
 * areas around them.
 *
 * Later ranges cover earlier ones. The order is: areas of the address space, sections, symbols by
 * address; of two symbols at one address, names that begin with '_' first, then the longer name. A
 * symbol without a size reaches to the next symbol or the end of its section. Limit: a program's
 * own file does not know its libraries; their code and data are one area.
 */
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "measure/observe/observe.h"
#include "measure/observe/observe_debug.h"
#include "measure/observe/observe_symbols.h"
#include "machine/os/os_space_impl.h"

struct symbol {
    const char *name;
    uint64_t first, size, end; /* end: of its section */
};

struct reading {
    Elf *elf;
    enum chil_program_part part;
    uint64_t base;      /* of a position-independent program */
    uint64_t end;       /* of all that is loaded */
    const char *prefix; /* of sections' names: a library, without areas around it */
    bool is_mapped;     /* `base` is known */
    chil_program_range report;
    void *context;
    struct symbol *symbols;
    size_t count, capacity;
    const struct observe_object *object; /* has the names of functions in the source */
};

static void report_range(const struct reading *r, const char *name, uint64_t first, uint64_t size)
{
    first += r->base;
    if (size && first <= UINT32_MAX && size - 1 <= UINT32_MAX - first)
        r->report(r->context, name, (uint32_t)first, (uint32_t)(first + size - 1));
}

static void report_areas(const struct reading *r)
{
    uint64_t end = r->base + r->end;
    bool code = r->part == CHIL_PROGRAM_FUNCTIONS;
    if (r->part == CHIL_PROGRAM_SECTIONS) return;
    if (!code && end < SPACE_INTERP)
        r->report(r->context, "[heap]", (uint32_t)end, SPACE_INTERP - 1);
    r->report(r->context, code ? "[libraries]" : "[mapped]", SPACE_INTERP,
              SPACE_TOP - SPACE_STACK - 1);
    if (!code) r->report(r->context, "[stack]", SPACE_TOP - SPACE_STACK, SPACE_TOP - 1);
}

static void read_segments(struct reading *r)
{
    size_t count;
    if (elf_getphdrnum(r->elf, &count)) return;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(r->elf, (int)i, &segment) || segment.p_type != PT_LOAD) continue;
        uint64_t end = segment.p_vaddr + segment.p_memsz;
        if (end > r->end) r->end = end;
    }
}

static void report_sections(const struct reading *r)
{
    size_t names;
    if (elf_getshdrstrndx(r->elf, &names)) return;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(r->elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) ||
            header.sh_flags & SHF_TLS)
            continue;
        bool code = header.sh_flags & SHF_EXECINSTR;
        const char *name = elf_strptr(r->elf, names, header.sh_name);
        if (!name || !*name ||
            (r->part != CHIL_PROGRAM_SECTIONS && code != (r->part == CHIL_PROGRAM_FUNCTIONS)))
            continue;
        char whole[300];
        (void)snprintf(whole, sizeof whole, "%.150s%.100s", r->prefix ? r->prefix : "", name);
        report_range(r, whole, header.sh_addr, header.sh_size);
    }
}

/* --- Symbols --------------------------------------------------------------------------------- */

static void add_symbols(struct reading *r, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    int wanted = r->part == CHIL_PROGRAM_FUNCTIONS ? STT_FUNC : STT_OBJECT;
    if (!data || !header->sh_entsize) return;
    for (size_t i = 0; i < header->sh_size / header->sh_entsize; i++) {
        GElf_Sym symbol;
        GElf_Shdr home;
        if (!gelf_getsym(data, (int)i, &symbol) || !symbol.st_shndx ||
            symbol.st_shndx >= SHN_LORESERVE)
            continue;
        if (!gelf_getshdr(elf_getscn(r->elf, symbol.st_shndx), &home)) continue;
        int type = GELF_ST_TYPE(symbol.st_info);
        const char *name = elf_strptr(r->elf, header->sh_link, symbol.st_name);
        if ((type != wanted && !(type == STT_GNU_IFUNC && wanted == STT_FUNC)) || !name || !*name)
            continue;
        r->symbols = base_grow(r->symbols, &r->capacity, r->count + 1, sizeof *r->symbols);
        r->symbols[r->count++] =
            (struct symbol){name, symbol.st_value, symbol.st_size, home.sh_addr + home.sh_size};
    }
}

static int by_place(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    bool x_hidden = *x->name == '_', y_hidden = *y->name == '_';
    if (x_hidden != y_hidden) return x_hidden ? -1 : 1;
    if (strlen(x->name) != strlen(y->name)) return strlen(x->name) > strlen(y->name) ? -1 : 1;
    return strcmp(y->name, x->name);
}

static void report_symbols(struct reading *r)
{
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(r->elf, section));)
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
            add_symbols(r, section, &header);
    for (Elf_Scn *section = NULL; !r->count && (section = elf_nextscn(r->elf, section));)
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
            add_symbols(r, section, &header);
    if (r->count) qsort(r->symbols, r->count, sizeof *r->symbols, by_place);
    for (size_t i = 0; i < r->count; i++) {
        const struct symbol *symbol = &r->symbols[i];
        uint64_t end = i + 1 < r->count ? r->symbols[i + 1].first : symbol->end;
        if (end > symbol->end) end = symbol->end;
        if (!symbol->size && end <= symbol->first) continue;
        uint64_t size = symbol->size ? symbol->size : end - symbol->first;
        char *written = r->object ? NULL : name_written(symbol->name);
        const char *name =
            r->object ? observe_object_name(r->object, symbol->name, (uint32_t)symbol->first)
                      : written;
        report_range(r, name ? name : symbol->name, symbol->first, size);
        free(written);
    }
}

static int read_program(struct reading *r, const char *program, struct chil_error *err)
{
    GElf_Ehdr header;
    if (elf_kind(r->elf) != ELF_K_ELF || !gelf_getehdr(r->elf, &header) ||
        header.e_machine != EM_PPC)
        return chil_error_set(err, CHIL_EINVAL,
                              "'%s' is not a PowerPC program; build one with powerpc-linux-gnu-gcc",
                              program);
    if (!r->is_mapped && header.e_type == ET_DYN) r->base = SPACE_PIE;
    read_segments(r);
    if (!r->prefix) report_areas(r);
    report_sections(r);
    if (r->part != CHIL_PROGRAM_SECTIONS) report_symbols(r);
    return 0;
}

char *chil_program_name(const char *symbol)
{
    return name_written(symbol);
}

static int read_file(struct reading r, const char *program, struct os_image *image,
                     struct chil_error *err)
{
    (void)elf_version(EV_CURRENT);
    r.elf = elf_begin(os_image_descriptor(image), ELF_C_READ, NULL);
    struct observe_symbols *symbols = observe_symbols_new();
    if (r.part == CHIL_PROGRAM_FUNCTIONS) r.object = observe_symbols_file(symbols, program, image);
    int status =
        r.elf ? read_program(&r, program, err)
              : chil_error_set(err, CHIL_EINVAL, "'%s' cannot be read as an ELF program", program);
    free(r.symbols);
    observe_symbols_free(symbols);
    elf_end(r.elf);
    return status;
}

int chil_program_ranges(const char *program, enum chil_program_part part, chil_program_range report,
                        void *context, struct chil_error *err)
{
    struct chil_error own = {0};
    struct os_image *image = observe_image(program, err ? err : &own);
    if (!image) return err ? err->status : own.status;
    int status = read_file((struct reading){.part = part, .report = report, .context = context},
                           program, image, err);
    os_image_release(image);
    return status;
}

void observe_file_ranges(const struct os_object *object, enum chil_program_part part, uint32_t bias,
                         const char *prefix, chil_program_range report, void *context)
{
    const struct reading r = {.part = part,
                              .base = bias,
                              .prefix = prefix,
                              .is_mapped = true,
                              .report = report,
                              .context = context};
    (void)read_file(r, object->host, object->image, NULL);
}
