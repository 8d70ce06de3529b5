/* Loads a program: static, position-independent or with an interpreter (ld.so), or a script that
 * names one.
 *
 * libelf reads the headers; every number in them is checked here,
 * before anything is mapped. What Linux would accept and run into a fault with (an entry point in
 * no code, bytes beyond the file's end) is refused with a message instead. Sections are never read.
 *
 * Status: CHIL_ENOENT when a file is missing, CHIL_EINVAL when it may not be executed, CHIL_EPARSE
 * when it is not a program for this machine, CHIL_ERANGE when there is too much of something,
 * CHIL_EIO when the host cannot read it. os_load_errno turns them into what execve returns.
 */
#include "machine/os/os_load_impl.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { HEADERS_MAX = 2048, SCRIPTS_MAX = 4, SCRIPT_LINE = 256, ALIGN_MAX = 1 << 26 };
#define BUILD_HINT   "build it with powerpc-linux-gnu-gcc"
#define BEFORE_STACK (SPACE_TOP - SPACE_STACK - SPACE_GUARD)

struct image {
    const char *name;      /* for messages: what the guest or the user called it */
    int file;              /* as it was opened, */
    struct os_image *copy; /* and the copy that is read, once it is wanted */
    int fd;                /* its */
    Elf *elf;
    uint64_t size;
    GElf_Ehdr header;
    GElf_Phdr *segments;
    size_t count;
    uint64_t low, high; /* pages of all PT_LOAD, before the bias */
    uint64_t align;
    uint32_t bias;
};

/* ---- messages ---- */

static int wrong(const struct image *image, struct chil_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int wrong(const struct image *image, struct chil_error *err, const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return chil_error_set(err, CHIL_EPARSE, "'%s' %s", image->name, what);
}

int os_load_errno(int status)
{
    switch (status) {
    case CHIL_ENOENT: return ENOENT;
    case CHIL_EINVAL: return EACCES;
    case CHIL_EPARSE: return ENOEXEC;
    case CHIL_ERANGE: return E2BIG;
    default: return EIO;
    }
}

static int cannot_open(const char *name, int error, const struct os_rules *rules,
                       struct chil_error *err)
{
    const char *root = rules && rules->root ? rules->root : NULL;
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        if (root)
            return chil_error_set(
                err, CHIL_ENOENT,
                "'%s': no such file below the root '%s'; paths are seen from there", name, root);
        return chil_error_set(err, CHIL_ENOENT,
                              "'%s': no such file; give the path of a PowerPC program", name);
    case EISDIR:
        return chil_error_set(err, CHIL_EINVAL,
                              "'%s' is a directory; give the path of a program in it", name);
    case EACCES:
        return chil_error_set(err, CHIL_EINVAL,
                              "'%s': no permission to execute it; try 'chmod +x' on it", name);
    default:
        return chil_error_set(err, CHIL_EIO, "'%s': %s; give the path of a PowerPC program", name,
                              strerror(error));
    }
}

static const char *machine_name(const GElf_Ehdr *header)
{
    static const struct {
        uint16_t machine;
        const char *name;
    } names[] = {
        {EM_386, "x86"},        {EM_X86_64, "x86-64"},
        {EM_ARM, "32-bit ARM"}, {EM_AARCH64, "64-bit ARM"},
        {EM_PPC, "PowerPC"},    {EM_PPC64, "64-bit PowerPC"},
        {EM_RISCV, "RISC-V"},   {EM_S390, "S/390"},
        {EM_MIPS, "MIPS"},      {EM_SPARC, "SPARC"},
        {EM_68K, "m68k"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].machine == header->e_machine) return names[i].name;
    return "another machine";
}

/* ---- reading ---- */

static void image_close(struct image *image)
{
    if (image->elf) elf_end(image->elf);
    if (image->file >= 0) close(image->file);
    os_image_release(image->copy);
    free(image->segments);
}

static bool read_at(const struct image *image, void *bytes, size_t size, uint64_t at)
{
    errno = 0;
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(image->fd, (uint8_t *)bytes + done, size - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

static int check_header(struct image *image, struct chil_error *err)
{
    const GElf_Ehdr *header = &image->header;
    bool big = header->e_ident[EI_DATA] == ELFDATA2MSB,
         narrow = header->e_ident[EI_CLASS] == ELFCLASS32;
    if (header->e_machine != EM_PPC)
        return wrong(image, err, "is for %s, not for 32-bit big-endian PowerPC; " BUILD_HINT,
                     machine_name(header));
    if (!big || !narrow)
        return wrong(image, err, "is for %s %s PowerPC, not for 32-bit big-endian; " BUILD_HINT,
                     narrow ? "32-bit" : "64-bit", big ? "big-endian" : "little-endian");
    if (header->e_type == ET_REL)
        return wrong(image, err, "is an object file; link it into a program first");
    if (header->e_type == ET_CORE)
        return wrong(image, err, "is a core file; give the program it came from");
    if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
        return wrong(image, err, "is of ELF type %u, not a program; link it again", header->e_type);
    if (header->e_phnum == 0) return wrong(image, err, "has no program headers; link it again");
    if (header->e_phentsize != sizeof(Elf32_Phdr))
        return wrong(image, err,
                     "has program headers of %u bytes instead of %zu; it is damaged, link it again",
                     header->e_phentsize, sizeof(Elf32_Phdr));
    if (header->e_phnum > HEADERS_MAX)
        return wrong(image, err,
                     "has %u program headers, more than %d; it is damaged, link it again",
                     header->e_phnum, HEADERS_MAX);
    if (header->e_phoff + (uint64_t)header->e_phnum * sizeof(Elf32_Phdr) > image->size)
        return wrong(image, err,
                     "is cut off: its program headers end behind the file; copy or link it again");
    return CHIL_OK;
}

static int read_headers(struct image *image, struct chil_error *err)
{
    uint8_t magic[EI_NIDENT] = {0};
    struct stat status;
    if (fstat(image->fd, &status) != 0)
        return chil_error_set(err, CHIL_EIO, "'%s': %s; check the file", image->name,
                              strerror(errno));
    image->size = (uint64_t)status.st_size;
    if (image->size == 0) return wrong(image, err, "is empty; " BUILD_HINT);
    (void)read_at(image, magic, image->size < sizeof magic ? (size_t)image->size : sizeof magic, 0);
    if (memcmp(magic, ELFMAG, SELFMAG) != 0)
        return wrong(image, err, "is not an ELF program; " BUILD_HINT);
    if (image->size < sizeof(Elf32_Ehdr))
        return wrong(image, err, "is cut off in its ELF header; copy or link it again");
    (void)elf_version(EV_CURRENT);
    image->elf = elf_begin(image->fd, ELF_C_READ, NULL);
    if (!image->elf || elf_kind(image->elf) != ELF_K_ELF ||
        !gelf_getehdr(image->elf, &image->header))
        return wrong(image, err, "has a damaged ELF header (%s); link it again", elf_errmsg(-1));
    int result = check_header(image, err);
    if (result) return result;
    image->segments = base_calloc(image->header.e_phnum, sizeof *image->segments);
    for (; image->count < image->header.e_phnum; image->count++)
        if (!gelf_getphdr(image->elf, (int)image->count, &image->segments[image->count]))
            return wrong(image, err, "has damaged program headers (%s); link it again",
                         elf_errmsg(-1));
    return CHIL_OK;
}

/* ---- checking segments ---- */

static int check_segment(struct image *image, size_t index, struct chil_error *err)
{
    const GElf_Phdr *segment = &image->segments[index];
    if (segment->p_filesz > segment->p_memsz)
        return wrong(
            image, err,
            "has a segment (%zu) larger in the file than in memory; it is damaged, link it again",
            index);
    if (segment->p_offset + segment->p_filesz > image->size)
        return wrong(image, err,
                     "is cut off: segment %zu ends behind the file; copy or link it again", index);
    if (segment->p_vaddr + segment->p_memsz > UINT32_MAX)
        return wrong(
            image, err,
            "has a segment (%zu) that wraps around the address space; it is damaged, link it again",
            index);
    if ((segment->p_vaddr ^ segment->p_offset) & (MEM_PAGE - 1))
        return wrong(
            image, err,
            "has a segment (%zu) whose address and file offset do not agree; it is misaligned, link it again",
            index);
    if (segment->p_align > ALIGN_MAX || (segment->p_align & (segment->p_align - 1)))
        return wrong(image, err,
                     "has a segment (%zu) aligned to 0x%llx; it is damaged, link it again", index,
                     (unsigned long long)segment->p_align);
    for (size_t i = 0; i < index; i++) {
        const GElf_Phdr *other = &image->segments[i];
        if (other->p_type == PT_LOAD && other->p_vaddr < segment->p_vaddr + segment->p_memsz &&
            segment->p_vaddr < other->p_vaddr + other->p_memsz)
            return wrong(image, err,
                         "has overlapping segments (%zu and %zu); it is damaged, link it again", i,
                         index);
    }
    return CHIL_OK;
}

static bool holds_entry(const struct image *image)
{
    for (size_t i = 0; i < image->count; i++) {
        const GElf_Phdr *segment = &image->segments[i];
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
            image->header.e_entry >= segment->p_vaddr &&
            image->header.e_entry < segment->p_vaddr + segment->p_memsz)
            return true;
    }
    return false;
}

static int check_segments(struct image *image, struct chil_error *err)
{
    image->low = UINT64_MAX;
    image->align = MEM_PAGE;
    for (size_t i = 0; i < image->count; i++) {
        const GElf_Phdr *segment = &image->segments[i];
        if (segment->p_type != PT_LOAD || !segment->p_memsz) continue;
        int result = check_segment(image, i, err);
        if (result) return result;
        uint64_t low = segment->p_vaddr & ~(uint64_t)(MEM_PAGE - 1);
        uint64_t high = space_round_up(segment->p_vaddr + segment->p_memsz);
        if (low < image->low) image->low = low;
        if (high > image->high) image->high = high;
        if (segment->p_align > image->align) image->align = segment->p_align;
    }
    if (!image->high) return wrong(image, err, "has nothing to load; link it again");
    if (image->header.e_type == ET_EXEC && image->low < SPACE_LOW)
        return wrong(image, err, "wants addresses below 0x%x; link it higher", SPACE_LOW);
    if (image->header.e_type == ET_EXEC && image->high > BEFORE_STACK)
        return wrong(image, err,
                     "wants addresses up to 0x%llx, beyond 0x%x; link it lower or make it smaller",
                     (unsigned long long)image->high, BEFORE_STACK);
    if (!holds_entry(image) || image->header.e_entry & 3)
        return wrong(image, err,
                     "starts at 0x%08llx, where it has no code; it is damaged, link it again",
                     (unsigned long long)image->header.e_entry);
    return CHIL_OK;
}

static int image_open(struct image *image, const struct os_files *files,
                      const struct os_rules *rules, const char *name, char path[PATH_MAX],
                      struct chil_error *err)
{
    memset(image, 0, sizeof *image);
    image->name = name;
    image->file = image->fd = files_open_program(files, name, path);
    return image->file < 0 ? cannot_open(name, -image->file, rules, err) : CHIL_OK;
}

/* From now on the copy is read. */
static int image_copy(struct image *image, const struct os_files *files, struct chil_error *err)
{
    int error = os_image_of(&image->copy, fs_images(files_fs(files)), image->file);
    if (error == -EFBIG)
        return wrong(image, err, "is larger than 1 GiB; strip its debugging information");
    if (error)
        return chil_error_set(err, CHIL_EIO, "'%s' cannot be read: %s; check the file", image->name,
                              strerror(-error));
    image->fd = os_image_descriptor(image->copy);
    return CHIL_OK;
}

/* ---- mapping ---- */

/* Where a position-independent image goes: at `wanted`, or anywhere else there is room. */
static int choose_bias(struct image *image, const struct os_space *space, uint32_t wanted,
                       struct chil_error *err)
{
    if (image->header.e_type == ET_EXEC) {
        if (mem_is_free(space->mem, (uint32_t)image->low, image->high - image->low)) return CHIL_OK;
        return wrong(image, err,
                     "wants the same addresses as the program that names it; link it elsewhere");
    }
    uint64_t low = image->low & ~(image->align - 1), length = image->high - low;
    uint64_t at = (wanted + image->align - 1) & ~(image->align - 1);
    if (at + length > BEFORE_STACK || !mem_is_free(space->mem, (uint32_t)at, length)) {
        uint64_t room = length + image->align;
        at = room < BEFORE_STACK ? mem_find(space->mem, room, SPACE_LOW, SPACE_MMAP) : 0;
        if (!at)
            return wrong(image, err,
                         "needs 0x%llx bytes of addresses, which are not free; make it smaller",
                         (unsigned long long)length);
        at = (at + image->align - 1) & ~(image->align - 1);
    }
    image->bias = (uint32_t)(at - low);
    return CHIL_OK;
}

/* A page at the edge that another segment has already: both sets of rights. */
static bool join_page(struct mem *mem, uint32_t page, unsigned rights)
{
    if (!mem_is_mapped(mem, page, MEM_PAGE)) return false;
    mem_protect(mem, page, MEM_PAGE, mem_granted(mem, page) | rights);
    return true;
}

static int map_segment(struct image *image, struct mem *mem, const GElf_Phdr *segment,
                       struct chil_error *err)
{
    unsigned rights = 0;
    if (segment->p_flags & (PF_R | PF_W | PF_X)) rights |= MEM_READ;
    if (segment->p_flags & PF_W) rights |= MEM_READ | MEM_WRITE;
    if (segment->p_flags & PF_X) rights |= MEM_EXEC;
    uint32_t address = (uint32_t)segment->p_vaddr + image->bias;
    uint64_t low = address & ~(uint64_t)(MEM_PAGE - 1),
             high = space_round_up(address + segment->p_memsz);
    /* The bytes before the segment on its first page come along, as when the page is mapped. */
    uint32_t before = address - (uint32_t)low;
    if (join_page(mem, (uint32_t)low, rights)) {
        low += MEM_PAGE;
        before = 0;
    }
    if (high > low && join_page(mem, (uint32_t)(high - MEM_PAGE), rights)) high -= MEM_PAGE;
    if (high > low) mem_map(mem, (uint32_t)low, high - low, rights);
    if (segment->p_filesz && !read_at(image, mem_host(mem, address - before),
                                      segment->p_filesz + before, segment->p_offset - before))
        return chil_error_set(err, CHIL_EIO, "'%s' cannot be read: %s; check the file", image->name,
                              errno ? strerror(errno) : "it became shorter");
    return CHIL_OK;
}

static void note_code(const struct image *image, struct os_space *space, const char *path)
{
    for (size_t i = 0; i < image->count; i++) {
        const GElf_Phdr *segment = &image->segments[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
        uint32_t address = (uint32_t)segment->p_vaddr + image->bias;
        space_note_code(space, address, segment->p_filesz, segment->p_offset, path, image->file,
                        image->copy);
    }
}

static int map_image(struct image *image, struct os_space *space, uint32_t wanted, const char *path,
                     struct chil_error *err)
{
    int result = choose_bias(image, space, wanted, err);
    for (size_t i = 0; !result && i < image->count; i++)
        if (image->segments[i].p_type == PT_LOAD && image->segments[i].p_memsz)
            result = map_segment(image, space->mem, &image->segments[i], err);
    if (!result) note_code(image, space, path);
    return result;
}

/* Where the program headers are in memory: in the segment that holds their part of the file. */
static uint32_t header_address(const struct image *image)
{
    for (size_t i = 0; i < image->count; i++) {
        const GElf_Phdr *segment = &image->segments[i];
        if (segment->p_type != PT_LOAD || image->header.e_phoff < segment->p_offset ||
            image->header.e_phoff >= segment->p_offset + segment->p_filesz)
            continue;
        return (uint32_t)(image->header.e_phoff - segment->p_offset + segment->p_vaddr) +
               image->bias;
    }
    return 0;
}

/* ---- interpreters ---- */

static const GElf_Phdr *find_segment(const struct image *image, uint32_t type)
{
    for (size_t i = 0; i < image->count; i++)
        if (image->segments[i].p_type == type) return &image->segments[i];
    return NULL;
}

static int interpreter_path(const struct image *image, const GElf_Phdr *segment,
                            char path[PATH_MAX], struct chil_error *err)
{
    if (segment->p_filesz < 2 || segment->p_filesz > PATH_MAX)
        return wrong(image, err,
                     "names its interpreter in %llu bytes; it is damaged, link it again",
                     (unsigned long long)segment->p_filesz);
    if (segment->p_offset + segment->p_filesz > image->size ||
        !read_at(image, path, segment->p_filesz, segment->p_offset))
        return wrong(image, err,
                     "is cut off: its interpreter's name is behind the end; copy or link it again");
    if (path[segment->p_filesz - 1] || !*path)
        return wrong(image, err,
                     "names its interpreter without an end; it is damaged, link it again");
    return CHIL_OK;
}

static int load_interpreter(struct os_space *space, const struct image *program,
                            const struct os_files *files, const struct os_rules *rules,
                            struct load_facts *facts, struct chil_error *err)
{
    const GElf_Phdr *segment = find_segment(program, PT_INTERP);
    char name[PATH_MAX], path[PATH_MAX];
    if (!segment) return CHIL_OK;
    int result = interpreter_path(program, segment, name, err);
    if (result) return result;
    struct image image;
    result = image_open(&image, files, rules, name, path, NULL);
    if (result) {
        return chil_error_set(
            err, result,
            "'%s' needs the interpreter '%s', which is not there or cannot be executed; install "
            "libc6-powerpc-cross, or name its root with --sysroot DIR",
            program->name, name);
    }
    result = image_copy(&image, files, err);
    if (!result) result = read_headers(&image, err);
    if (!result && find_segment(&image, PT_INTERP))
        result = wrong(&image, err,
                       "is named as an interpreter but needs one itself; name ld.so.1 instead");
    if (!result) result = check_segments(&image, err);
    if (!result) result = map_image(&image, space, SPACE_INTERP, path, err);
    if (!result) {
        facts->base = image.bias;
        space->entry = (uint32_t)image.header.e_entry + image.bias;
    }
    image_close(&image);
    return result;
}

/* ---- programs ---- */

static int new_space(struct os_space **result, const char *name, struct chil_error *err)
{
    struct os_space *space = base_calloc(1, sizeof *space);
    space->users = 1;
    if (mem_new(&space->mem)) {
        free(space);
        return chil_error_set(
            err, CHIL_ERANGE,
            "'%s': the host does not give the 4 GiB of addresses a program has; raise 'ulimit -v' or "
            "allow overcommit (vm.overcommit_memory)",
            name);
    }
    space->mmap_top = SPACE_MMAP;
    space->stack_high = SPACE_TOP;
    space->stack_low = SPACE_TOP - SPACE_STACK;
    *result = space;
    return CHIL_OK;
}

/* The stack is executable when PT_GNU_STACK has the flag, or is missing. */
static void map_stack(const struct os_space *space, const struct image *image)
{
    const GElf_Phdr *segment = find_segment(image, PT_GNU_STACK);
    unsigned rights = MEM_READ | MEM_WRITE;
    if (!segment || segment->p_flags & PF_X) rights |= MEM_EXEC;
    mem_map(space->mem, space->stack_low, SPACE_STACK, rights);
}

static int load_elf(struct os_space *space, struct image *image, const char *path,
                    const struct os_files *files, const struct os_rules *rules,
                    struct load_facts *facts, struct chil_error *err)
{
    int result = image_copy(image, files, err);
    if (!result) result = read_headers(image, err);
    if (!result) result = check_segments(image, err);
    if (!result) map_stack(space, image);
    if (!result) result = map_image(image, space, SPACE_PIE, path, err);
    if (result) return result;
    space->brk_start = space->brk = (uint32_t)image->high + image->bias;
    space->entry = facts->entry = (uint32_t)image->header.e_entry + image->bias;
    facts->phdr = header_address(image);
    facts->phnum = (uint32_t)image->count;
    return load_interpreter(space, image, files, rules, facts, err);
}

/* ---- scripts ---- */

struct script {
    char line[SCRIPT_LINE + 1];
    char *interpreter, *argument; /* in line; argument may be NULL */
    char **argv;                  /* owned; its strings are borrowed */
    char *path;                   /* of the script, owned */
};

/* Whether the file starts with "#!": 1, 0, or an error. Cuts the line as Linux does: the rest is
 * one argument. */
static int read_script(const struct image *image, struct script *script, struct chil_error *err)
{
    ssize_t got = pread(image->fd, script->line, SCRIPT_LINE, 0);
    if (got < 0) return wrong(image, err, "cannot be read");
    script->line[got] = 0;
    if (got < 2 || script->line[0] != '#' || script->line[1] != '!') return 0;
    char *end = strchr(script->line, '\n');
    if (!end && got == SCRIPT_LINE)
        return wrong(image, err, "has a first line of more than %d bytes; shorten it", SCRIPT_LINE);
    if (end) *end = 0;
    for (end = script->line + strlen(script->line);
         end > script->line + 2 && strchr(" \t\r", end[-1]);)
        *--end = 0;
    script->interpreter = script->line + 2 + strspn(script->line + 2, " \t");
    if (!*script->interpreter)
        return wrong(image, err,
                     "has no interpreter behind #!; name one, or give a PowerPC program");
    script->argument = script->interpreter + strcspn(script->interpreter, " \t");
    if (*script->argument) {
        *script->argument++ = 0;
        script->argument += strspn(script->argument, " \t");
    } else {
        script->argument = NULL;
    }
    return 1;
}

/* interpreter, its argument, the script's path, the script's arguments. */
static void script_arguments(struct script *script, const char *path, char *const argv[])
{
    size_t count = 0, n = 0;
    while (argv && argv[count])
        count++;
    script->path = file_text(path);
    script->argv = (char **)base_calloc(count + 4, sizeof *script->argv);
    script->argv[n++] = script->interpreter;
    if (script->argument) script->argv[n++] = script->argument;
    script->argv[n++] = script->path;
    for (size_t i = 1; i < count; i++)
        script->argv[n++] = argv[i];
}

/* Opens what is to be loaded: the program, or the interpreter of the script it is, and so on. The
 * script that was named is copied into *first. */
static int open_through_scripts(struct image *image, struct script scripts[SCRIPTS_MAX],
                                const struct os_files *files, const struct os_rules *rules,
                                const char *name, char *const **argv, char path[PATH_MAX],
                                struct os_image **first, struct chil_error *err)
{
    for (unsigned depth = 0;; depth++) {
        struct chil_error own = {0};
        int result = image_open(image, files, rules, name, path, &own);
        if (result && depth)
            return chil_error_set(err, result, "'%s' is a script for '%s', which cannot be run: %s",
                                  scripts[depth - 1].path, name, own.text);
        if (result) return chil_error_set(err, result, "%s", own.text);
        if (depth == SCRIPTS_MAX) {
            result =
                wrong(image, err,
                      "is the interpreter of an interpreter of a script, too deep; name a program");
            image_close(image);
            return result;
        }
        result = read_script(image, &scripts[depth], err);
        if (result == 0) return CHIL_OK;
        int copied = depth || result < 0 ? CHIL_OK : image_copy(image, files, err);
        if (image->copy) *first = os_image_share(image->copy);
        image_close(image);
        if (result < 0 || copied) return result < 0 ? result : copied;
        script_arguments(&scripts[depth], name, *argv);
        *argv = scripts[depth].argv;
        name = scripts[depth].interpreter;
    }
}

int os_load(struct os_space **result_space, const struct os_files *files,
            const struct os_rules *rules, const char *guest, char *const argv[], char *const envp[],
            struct chil_error *err)
{
    struct script scripts[SCRIPTS_MAX] = {0};
    struct image image;
    struct os_space *space = NULL;
    struct os_image *first = NULL;
    char path[PATH_MAX];
    int result =
        open_through_scripts(&image, scripts, files, rules, guest, &argv, path, &first, err);
    if (!result) {
        struct load_facts facts = {.path = guest};
        result = new_space(&space, image.name, err);
        if (!result) result = load_elf(space, &image, path, files, rules, &facts, err);
        if (!result) result = load_stack(space, &facts, argv, envp, err);
        if (!result) space->program = file_text(path);
        if (!result) space->image = os_image_share(first ? first : image.copy);
        image_close(&image);
    }
    os_image_release(first);
    for (unsigned i = 0; i < SCRIPTS_MAX; i++) {
        free((void *)scripts[i].argv);
        free(scripts[i].path);
    }
    if (result)
        os_space_release(space);
    else
        *result_space = space;
    return result;
}
