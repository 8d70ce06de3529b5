/* Looks into a program's file: which function and line an address is, and what its instructions
 * are. */
#include "measure/observe/observe.h"

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "machine/isa/isa.h"
#include "machine/mem/mem.h"
#include "measure/observe/observe_debug.h"
#include "measure/observe/observe_symbols.h"
#include "machine/os/os_space_impl.h"

/* --- Symbols --------------------------------------------------------------------------------- */

static void describe(Dwfl_Module *module, uint32_t address, char *buffer, size_t size)
{
    GElf_Off offset;
    GElf_Sym symbol;
    const char *name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
    if (!name) return;
    char *written = name_written(name);
    int used = snprintf(buffer, size, "%.200s+0x%llx", written ? written : name,
                        (unsigned long long)offset);
    free(written);
    int line;
    Dwfl_Line *at = dwfl_module_getsrc(module, address);
    const char *file = at ? dwfl_lineinfo(at, NULL, &line, NULL, NULL, NULL) : NULL;
    if (file && used > 0 && (size_t)used < size)
        (void)snprintf(buffer + used, size - (size_t)used, " (%s:%d)", file, line);
    (void)name_printable(buffer);
}

void observe_place(const char *program, const struct os_image *image, uint32_t address,
                   char *buffer, size_t size)
{
    Dwfl *dwfl;
    *buffer = 0;
    if (observe_debug_open(&dwfl, program, image, SPACE_PIE)) { /* the base is for PIE only */
        Dwfl_Module *at = dwfl_addrmodule(dwfl, address);
        if (at) describe(at, address, buffer, size);
    }
    dwfl_end(dwfl);
}

void chil_program_place(const char *program, uint32_t address, char *buffer, size_t size)
{
    struct os_image *image = observe_image(program, NULL);
    *buffer = 0;
    if (image) observe_place(program, image, address, buffer, size);
    os_image_release(image);
}

/* --- Disassembly ----------------------------------------------------------------------------- */

struct listing {
    void (*line)(void *context, const char *text);
    void *context;
};

static void list_section(const struct listing *listing, const GElf_Shdr *header,
                         const Elf_Data *data)
{
    const unsigned char *bytes = data->d_buf;
    for (size_t at = 0; bytes && at + 4 <= data->d_size; at += 4) {
        char text[ISA_TEXT_MAX], line[ISA_TEXT_MAX + 40];
        uint32_t pc = (uint32_t)(header->sh_addr + at), word = mem_host_get32(bytes + at);
        (void)isa_disassemble_simplified(word, pc, text, sizeof text);
        (void)snprintf(line, sizeof line, "%8x:\t%08x\t%s", pc, word, text);
        listing->line(listing->context, line);
    }
}

static int list_sections(Elf *elf, const char *program, const struct listing *listing,
                         struct chil_error *err)
{
    GElf_Ehdr header;
    size_t names, sections = 0;
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
        return chil_error_set(err, CHIL_EINVAL,
                              "'%s' is not an ELF program; build one with powerpc-linux-gnu-gcc",
                              program);
    if (header.e_machine != EM_PPC || header.e_ident[EI_DATA] != ELFDATA2MSB ||
        header.e_ident[EI_CLASS] != ELFCLASS32)
        return chil_error_set(
            err, CHIL_EINVAL,
            "'%s' is not for 32-bit big-endian PowerPC; build it with powerpc-linux-gnu-gcc",
            program);
    if (elf_getshdrstrndx(elf, &names))
        return chil_error_set(err, CHIL_EINVAL,
                              "'%s' has no section names; it may be stripped or damaged", program);
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr shdr;
        if (!gelf_getshdr(section, &shdr) || shdr.sh_type != SHT_PROGBITS ||
            !(shdr.sh_flags & SHF_EXECINSTR))
            continue;
        const Elf_Data *data = elf_rawdata(section, NULL);
        const char *name = elf_strptr(elf, names, shdr.sh_name);
        char title[120];
        if (!data) continue;
        (void)snprintf(title, sizeof title, "section %s:", name ? name : "?");
        listing->line(listing->context, title);
        list_section(listing, &shdr, data);
        sections++;
    }
    return sections ? 0
                    : chil_error_set(err, CHIL_EINVAL, "'%s' has no executable section", program);
}

static const Elf_Data *section_data(Elf *elf, const char *wanted)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names)) return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && strcmp(name, wanted) == 0) return elf_rawdata(section, NULL);
    }
    return NULL;
}

/* The first string of the section, "GCC: (Debian 12.2.0-13) 12.2.0", without what is in parentheses
 * and without control characters. */
void observe_compiler(const struct os_image *image, char *buffer, size_t size)
{
    (void)elf_version(EV_CURRENT);
    Elf *elf = elf_begin(os_image_descriptor(image), ELF_C_READ, NULL);
    const Elf_Data *data = elf ? section_data(elf, ".comment") : NULL;
    const char *from = data ? data->d_buf : NULL;
    size_t used = 0, depth = 0;
    for (size_t i = 0; from && i < data->d_size && from[i] && used + 1 < size; i++) {
        depth += from[i] == '(';
        bool keep = !depth && from[i] > 31 && from[i] < 127 && from[i] != ':' &&
                    (from[i] != ' ' || (used && buffer[used - 1] != ' '));
        if (keep) buffer[used++] = from[i];
        depth -= depth && from[i] == ')';
    }
    buffer[used] = 0;
    elf_end(elf);
}

void chil_instruction_text(uint32_t word, uint32_t pc, char *buffer, size_t size)
{
    _Static_assert((int)CHIL_INSTRUCTION_TEXT >= (int)ISA_TEXT_MAX, "the public length suffices");
    (void)isa_disassemble_simplified(word, pc, buffer, size);
}

int chil_disassemble(const char *program, void (*line)(void *context, const char *text),
                     void *context, struct chil_error *err)
{
    struct listing listing = {line, context};
    struct os_image *image = observe_image(program, err);
    if (!image) return CHIL_EIO;
    (void)elf_version(EV_CURRENT);
    Elf *elf = elf_begin(os_image_descriptor(image), ELF_C_READ, NULL);
    int status =
        elf ? list_sections(elf, program, &listing, err)
            : chil_error_set(err, CHIL_EINVAL, "'%s' cannot be read as an ELF program", program);
    elf_end(elf);
    os_image_release(image);
    return status;
}
