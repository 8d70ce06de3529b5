/* Opens files of programs, and the debugging information in them.
 *
 * A file is read through a copy (struct os_image), so nothing that happens to it meanwhile matters.
 * What a file names is not opened: it may be a guest's, and the name a FIFO or a device. So a file
 * whose debugging information is partly in others (-gsplit-dwarf, dwz) has no lines, and separate
 * debugging information is looked for by build-id below /usr/lib/debug only, never in the network.
 */
#include "measure/observe/observe_debug.h"

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct os_image *observe_image(const char *path, struct chil_error *err)
{
    struct os_image *image = NULL;
    struct os_images *all = os_images_new();
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int error = fd < 0 ? -errno : os_image_of(&image, all, fd);
    if (fd >= 0) (void)close(fd);
    os_images_release(all);
    if (error == -ENOENT)
        (void)chil_error_set(err, CHIL_ENOENT, "cannot open '%s': %s", path, strerror(ENOENT));
    else if (fd >= 0 && error == -EACCES)
        (void)chil_error_set(err, CHIL_EIO, "cannot read '%s': it is not a regular file", path);
    else if (error)
        (void)chil_error_set(err, CHIL_EIO, "cannot open '%s': %s", path, strerror(-error));
    return image;
}

/* Separate debugging information: a file of the system's. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word crc, char **found)
{
    char path[160] = "/usr/lib/debug/.build-id/";
    size_t used = strlen(path);
    const unsigned char *id;
    GElf_Addr at;
    int length = dwfl_module_build_id(module, &id, &at);
    (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc;
    *found = NULL;
    if (length < 2 || length > 32) return -1;
    for (int i = 0; i < length; i++)
        used += (size_t)snprintf(path + used, sizeof path - used, "%02x%s", id[i], i ? "" : "/");
    (void)snprintf(path + used, sizeof path - used, ".debug");
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static bool has_section(Elf *elf, const char *wanted)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0) return false;
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && strcmp(name, wanted) == 0) return true;
    }
    return false;
}

/* Whether all of the debugging information is in this file. */
static bool is_whole(Dwfl_Module *module)
{
    GElf_Addr bias;
    Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
    Dwarf_Off next, at = 0;
    size_t header;
    if (!dwarf) return true; /* none, but symbols */
    if (has_section(dwarf_getelf(dwarf), ".gnu_debugaltlink")) return false;
    for (; dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL) == 0; at = next) {
        Dwarf_Die unit;
        if (!dwarf_offdie(dwarf, at + header, &unit)) continue;
        if (dwarf_hasattr(&unit, DW_AT_dwo_name) || dwarf_hasattr(&unit, DW_AT_GNU_dwo_name))
            return false;
    }
    return true;
}

Dwfl_Module *observe_debug_open(Dwfl **dwfl, const char *name, const struct os_image *image,
                                GElf_Addr base)
{
    static const Dwfl_Callbacks callbacks = {
        .find_debuginfo = find_debuginfo,
        .section_address = dwfl_offline_section_address,
    };
    *dwfl = dwfl_begin(&callbacks);
    int fd = *dwfl ? fcntl(os_image_descriptor(image), F_DUPFD_CLOEXEC, 3) : -1;
    if (fd < 0) return NULL;
    Dwfl_Module *module = dwfl_report_elf(*dwfl, name, name, fd, base, true); /* takes fd */
    if (!module) (void)close(fd);
    return module && dwfl_report_end(*dwfl, NULL, NULL) == 0 && is_whole(module) ? module : NULL;
}
