/* The loader: real programs are laid out as Linux lays them out, and no header, however hostile,
 * does more than earn one line that names the file and what to do.
 *
 * The programs are built here with the cross compiler; without it the tests fail. Everything
 * happens in a temporary folder, which is also the working directory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/os/os_impl.h"
#include "random.h"

/* What the file layer calls of the other half of src/machine/os, which a loader never gets to;
 * weak, so that the real ones win when they are linked. */
#define WEAK __attribute__((weak))
int64_t WEAK os_wait(struct os_call *call, const void *what, uint64_t cycles)
{
    (void)call, (void)what, (void)cycles;
    return OS_WAIT;
}

bool WEAK os_timed_out(const struct os_call *call)
{
    return call->again;
}

unsigned WEAK os_wake_all(struct os *os, const void *what)
{
    (void)os, (void)what;
    return 0;
}

int WEAK os_send_signal(struct os *os, struct os_process *process, int signal)
{
    (void)os, (void)process, (void)signal;
    return 0;
}

uint64_t WEAK os_nanoseconds(const struct os_call *call)
{
    (void)call;
    return 0;
}

uint64_t WEAK os_cycles_of(const struct os *os, uint64_t nanoseconds)
{
    (void)os;
    return nanoseconds;
}

void WEAK os_warn_once(struct os *os, const char *topic, const char *format, ...)
{
    (void)os, (void)topic, (void)format;
}

/* ---- fixtures ---- */

struct bytes {
    uint8_t *at;
    size_t size;
};

static char folder[] = "/tmp/chiliad-load-XXXXXX";
static struct bytes hello; /* the static program */

static void compile(const char *out, const char *option, const char *more)
{
    const char *argv[] = {
        "powerpc-linux-gnu-gcc", "-mcpu=440fp", "-O1", "hello.c", "-o", out, option, more, NULL};
    pid_t child;
    int status;
    if (posix_spawnp(&child, argv[0], NULL, NULL, (char *const *)argv, environ) != 0)
        fail_msg("powerpc-linux-gnu-gcc is not installed; run tools/setup check");
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void write_file(const char *name, const void *bytes, size_t size, mode_t mode)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(name, mode), 0);
}

static struct bytes read_file(const char *name)
{
    struct stat status;
    assert_int_equal(stat(name, &status), 0);
    struct bytes bytes = {malloc((size_t)status.st_size), (size_t)status.st_size};
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    assert_int_equal(fread(bytes.at, 1, bytes.size, file), bytes.size);
    (void)fclose(file);
    return bytes;
}

static int set_up(void **state)
{
    (void)state;
    static const char source[] =
        "#include <stdio.h>\nint x = 7, y[10000];\nint main(void) { return printf(\"%d\\n\", x + y[1]); }\n";
    if (!mkdtemp(folder) || chdir(folder) != 0) return -1;
    write_file("hello.c", source, sizeof source - 1, 0644);
    compile("static", "-static", "-no-pie");
    compile("dynamic", "-pie", "-fPIE");
    compile("object", "-c", "-g");
    (void)chmod("object", 0755);
    compile("execstack", "-static", "-Wl,-z,execstack");
    hello = read_file("static");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    const char *argv[] = {"rm", "-rf", folder, NULL};
    pid_t child;
    free(hello.at);
    if (chdir("/") != 0 ||
        posix_spawnp(&child, argv[0], NULL, NULL, (char *const *)argv, environ) != 0)
        return -1;
    return waitpid(child, NULL, 0) == child ? 0 : -1;
}

static char *const one_argument[] = {"prog", "alpha", NULL};
static char *const small_environment[] = {"A=1", "LONGER=two words", NULL};

static int load(struct os_space **space, const char *name, struct chil_error *err)
{
    struct os_rules rules = {0};
    struct os_files *files = os_files_new(&rules, err);
    assert_non_null(files);
    int status = os_load(space, files, &rules, name, one_argument, small_environment, err);
    os_files_release(files);
    return status;
}

static struct os_space *loaded(const char *name)
{
    struct chil_error err = {0};
    struct os_space *space = NULL;
    if (load(&space, name, &err)) fail_msg("%s", err.text);
    return space;
}

/* One line, with the file's name and a hint behind a semicolon. */
static void check_line(const struct chil_error *err, const char *name)
{
    if (!strstr(err->text, name) || strchr(err->text, '\n') ||
        !(strchr(err->text, ';') || strchr(err->text, ':')))
        fail_msg("not a helpful line: \"%s\"", err->text);
}

static void refused(const char *name, const char *text)
{
    struct chil_error err = {0};
    struct os_space *space = NULL;
    if (load(&space, name, &err) == 0) fail_msg("'%s' was loaded; expected \"%s\"", name, text);
    check_line(&err, name);
    if (!strstr(err.text, text)) fail_msg("\"%s\" does not say \"%s\"", err.text, text);
}

static uint32_t word(const struct os_space *space, uint32_t address)
{
    uint32_t value = 0;
    assert_true(mem_get32(space->mem, address, &value));
    return value;
}

static uint32_t auxiliary(const struct os_space *space, uint32_t type)
{
    uint32_t at = space->stack_pointer + 4 * (1 + word(space, space->stack_pointer) + 1);
    while (word(space, at))
        at += 4;
    for (at += 4; word(space, at) != AT_NULL; at += 8)
        if (word(space, at) == type) return word(space, at + 4);
    fail_msg("the auxiliary vector has no entry %u", type);
    return 0;
}

static const char *text(const struct os_space *space, uint32_t address)
{
    assert_true(mem_strlen(space->mem, address, 4096) >= 0);
    return (const char *)space->mem->base + address;
}

static unsigned rights(const struct os_space *space, uint32_t address)
{
    return space->mem->rights[address >> MEM_PAGE_BITS];
}

/* ---- real programs ---- */

static void a_static_program_is_where_it_was_linked(void **state)
{
    (void)state;
    struct os_space *space = loaded("static");
    uint32_t entry = mem_host_get32(hello.at + 24), headers = mem_host_get32(hello.at + 28);
    assert_int_equal(space->entry, entry);
    assert_int_equal(rights(space, entry), MEM_READ | MEM_EXEC | MEM_MAPPED);
    assert_int_equal(auxiliary(space, AT_ENTRY), entry);
    assert_int_equal(auxiliary(space, AT_BASE), 0);
    uint32_t phdr = auxiliary(space, AT_PHDR);
    assert_memory_equal(space->mem->base + phdr, hello.at + headers,
                        32 * auxiliary(space, AT_PHNUM));
    for (unsigned i = 0; i < auxiliary(space, AT_PHNUM); i++) {
        const uint8_t *segment = hello.at + headers + (size_t)i * 32;
        if (mem_host_get32(segment) != PT_LOAD) continue;
        uint32_t address = mem_host_get32(segment + 8), size = mem_host_get32(segment + 16);
        assert_memory_equal(space->mem->base + address, hello.at + mem_host_get32(segment + 4),
                            size);
        for (uint32_t bss = address + size; bss < address + mem_host_get32(segment + 20); bss++)
            assert_int_equal(space->mem->base[bss], 0);
        assert_true(space->brk_start >= address + mem_host_get32(segment + 20));
    }
    assert_int_equal(space->brk, space->brk_start);
    char *path = realpath("static", NULL);
    assert_string_equal(space->program, path);
    free(path);
    os_space_release(space);
}

static void the_first_stack_is_linuxs(void **state)
{
    (void)state;
    struct os_space *space = loaded("static");
    uint32_t sp = space->stack_pointer;
    assert_int_equal(sp % 16, 0);
    assert_int_equal(word(space, sp), 2);
    assert_string_equal(text(space, word(space, sp + 4)), "prog");
    assert_string_equal(text(space, word(space, sp + 8)), "alpha");
    assert_int_equal(word(space, sp + 12), 0);
    assert_string_equal(text(space, word(space, sp + 16)), "A=1");
    assert_string_equal(text(space, word(space, sp + 20)), "LONGER=two words");
    assert_int_equal(word(space, sp + 24), 0);
    assert_int_equal(word(space, sp + 28), 22); /* AT_IGNOREPPC */
    assert_int_equal(auxiliary(space, AT_HWCAP), 0x8c008000);
    assert_int_equal(auxiliary(space, AT_DCACHEBSIZE), 32);
    assert_int_equal(auxiliary(space, AT_PAGESZ), 4096);
    assert_int_equal(auxiliary(space, AT_PHENT), 32);
    assert_int_equal(auxiliary(space, AT_UID), OS_UID);
    assert_int_equal(auxiliary(space, AT_SECURE), 0);
    assert_string_equal(text(space, auxiliary(space, AT_PLATFORM)), "ppc440");
    assert_string_equal(text(space, auxiliary(space, AT_EXECFN)), "static");
    struct os_space *again = loaded("static");
    assert_memory_equal(space->mem->base + auxiliary(space, AT_RANDOM),
                        again->mem->base + auxiliary(again, AT_RANDOM), 16);
    assert_int_equal(again->stack_pointer, sp); /* nothing is random */
    assert_int_equal(rights(space, sp), MEM_READ | MEM_WRITE | MEM_MAPPED);
    assert_int_equal(space->stack_high - space->stack_low, 8 << 20);
    assert_int_equal(rights(space, space->stack_low), MEM_READ | MEM_WRITE | MEM_MAPPED);
    assert_true(mem_is_free(space->mem, space->stack_low - 65536, 65536));
    os_space_release(again);
    os_space_release(space);
    space = loaded("execstack");
    assert_int_equal(rights(space, space->stack_pointer),
                     MEM_READ | MEM_WRITE | MEM_EXEC | MEM_MAPPED);
    os_space_release(space);
}

static void a_dynamic_program_comes_with_the_sysroots_interpreter(void **state)
{
    (void)state;
    struct os_space *space = loaded("dynamic");
    assert_int_equal(auxiliary(space, AT_ENTRY) & 0xfff00000, 0x20000000);
    assert_int_equal(auxiliary(space, AT_PHDR), 0x20000034);
    assert_int_equal(auxiliary(space, AT_BASE), 0x40000000);
    assert_memory_equal(space->mem->base + 0x40000000, ELFMAG, SELFMAG);
    assert_int_equal(space->entry & 0xff000000, 0x40000000);
    assert_true(rights(space, space->entry) & MEM_EXEC);
    assert_true(space->brk_start > 0x20000000 && space->brk_start < 0x40000000);
    os_space_release(space);
    struct chil_error err = {0};
    struct os_rules rules = {.sysroot = "/nonexistent"};
    struct os_files *files = os_files_new(&rules, &err);
    assert_int_equal(
        os_load(&space, files, &rules, "dynamic", one_argument, small_environment, &err),
        CHIL_ENOENT);
    assert_non_null(strstr(err.text, "interpreter '/lib/ld.so.1'"));
    check_line(&err, "dynamic");
    os_files_release(files);
}

static void a_forked_space_is_the_same_and_apart(void **state)
{
    (void)state;
    struct os_space *space = loaded("static"), *copy = os_space_fork(space);
    assert_non_null(copy);
    assert_int_equal(copy->entry, space->entry);
    assert_string_equal(copy->program, space->program);
    assert_int_equal(word(copy, space->stack_pointer), 2);
    assert_true(mem_put32(copy->mem, space->stack_pointer, 9));
    assert_int_equal(word(space, space->stack_pointer), 2);
    space->users++;
    os_space_release(space);
    assert_int_equal(word(space, space->stack_pointer), 2); /* one user is left */
    os_space_release(space);
    os_space_release(copy);
}

static void scripts_start_their_interpreter(void **state)
{
    (void)state;
    static const char plain[] = "#! static  -x  y \nrest\n", nested[] = "#!plain.sh\n",
                      itself[] = "#!loop.sh\n";
    write_file("plain.sh", plain, sizeof plain - 1, 0755);
    write_file("nested.sh", nested, sizeof nested - 1, 0755);
    write_file("loop.sh", itself, sizeof itself - 1, 0755);
    write_file("bare.sh", "#! \n", 4, 0755);
    write_file("host.sh", "#!/nonexistent/sh\n", 18, 0755);
    struct os_space *space = loaded("plain.sh");
    uint32_t argv = space->stack_pointer + 4;
    assert_int_equal(word(space, argv - 4), 4);
    assert_string_equal(text(space, word(space, argv)), "static");
    assert_string_equal(text(space, word(space, argv + 4)), "-x  y");
    assert_string_equal(text(space, word(space, argv + 8)), "plain.sh");
    assert_string_equal(text(space, word(space, argv + 12)), "alpha");
    os_space_release(space);
    os_space_release(loaded("nested.sh"));
    refused("loop.sh", "too deep");
    refused("bare.sh", "no interpreter");
    refused("host.sh", "'/nonexistent/sh'");
}

/* ---- what is no program ---- */

static void what_cannot_be_loaded_says_why(void **state)
{
    (void)state;
    write_file("empty", "", 0, 0755);
    write_file("words", "hello, world\n", 13, 0755);
    write_file("short", ELFMAG "\1\2\1", 7, 0755);
    write_file("closed", hello.at, hello.size, 0644);
    assert_true(mkdir("sub", 0755) == 0);
    refused("missing", "no such file");
    refused("sub", "is a directory");
    refused("closed", "no permission");
    refused("empty", "is empty");
    refused("words", "not an ELF program");
    refused("short", "cut off");
    refused("object", "object file");
    refused("static/x", "no such file");
}

enum { OF_HEADER = -1, OF_INTERP = -2, OF_FIRST_LOAD = 0 };

struct patch {
    int what;        /* the header, the interpreter's segment, or which PT_LOAD */
    unsigned offset; /* in it */
    unsigned width;
    uint32_t value;
    const char *text;
};

static uint8_t *segment_at(uint8_t *file, int what)
{
    uint8_t *segment = file + mem_host_get32(file + 28);
    unsigned count = (unsigned)file[44] << 8 | file[45];
    uint32_t type = what == OF_INTERP ? PT_INTERP : PT_LOAD;
    int left = what == OF_INTERP ? 0 : what;
    for (unsigned i = 0; i < count; i++, segment += 32)
        if (mem_host_get32(segment) == type && left-- == 0) return segment;
    fail_msg("the program has no such segment");
    return NULL;
}

static void apply(uint8_t *file, const struct patch *patch)
{
    uint8_t *at = (patch->what == OF_HEADER ? file : segment_at(file, patch->what)) + patch->offset;
    for (unsigned i = 0; i < patch->width; i++)
        at[i] = (uint8_t)(patch->value >> 8 * (patch->width - 1 - i));
}

static void hostile_headers_are_refused_by_name(void **state)
{
    (void)state;
    static const struct patch patches[] = {
        {OF_HEADER, 18, 2, EM_X86_64, "is for x86-64"},
        {OF_HEADER, 18, 2, EM_PPC64, "64-bit PowerPC"},
        {OF_HEADER, 18, 2, 0x7777, "another machine"},
        {OF_HEADER, 16, 2, ET_REL, "object file"},
        {OF_HEADER, 16, 2, ET_CORE, "core file"},
        {OF_HEADER, 16, 2, 99, "ELF type 99"},
        {OF_HEADER, 24, 4, 0, "no code"},
        {OF_HEADER, 24, 4, 0xffffffff, "no code"},
        {OF_HEADER, 28, 4, 0xfffffff0, "cut off"},
        {OF_HEADER, 42, 2, 31, "headers of 31 bytes"},
        {OF_HEADER, 44, 2, 0, "no program headers"},
        {OF_HEADER, 44, 2, 65535, "65535 program headers"},
        {OF_HEADER, 44, 2, 65534, "65534 program headers"},
        {OF_FIRST_LOAD, 4, 4, 0x7ffff000, "cut off"},
        {OF_FIRST_LOAD, 8, 4, 0xfffff000, "wraps"},
        {OF_FIRST_LOAD, 8, 4, 0xbff00000, "beyond"},
        {OF_FIRST_LOAD, 8, 4, 0, "below 0x10000"},
        {OF_FIRST_LOAD, 8, 4, 0x10000010, "misaligned"},
        {OF_FIRST_LOAD, 16, 4, 0xffffffff, "larger in the file"},
        {OF_FIRST_LOAD, 20, 4, 1, "larger in the file"},
        {OF_FIRST_LOAD, 20, 4, 0xf0000001, "wraps"},
        {OF_FIRST_LOAD, 20, 4, 0x20000000, "overlapping"},
        {OF_FIRST_LOAD, 20, 4, 0xa0000000, "overlapping"},
        {OF_FIRST_LOAD, 24, 4, PF_R, "no code"},
        {OF_FIRST_LOAD, 28, 4, 0x12345, "aligned to 0x12345"},
        {OF_FIRST_LOAD, 28, 4, 0x80000000, "aligned to 0x80000000"},
    };
    for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++) {
        uint8_t *file = malloc(hello.size);
        assert_non_null(file);
        memcpy(file, hello.at, hello.size);
        apply(file, &patches[i]);
        write_file("hostile", file, hello.size, 0755);
        free(file);
        refused("hostile", patches[i].text);
    }
}

static void hostile_interpreters_are_refused(void **state)
{
    (void)state;
    static const struct patch patches[] = {
        {OF_INTERP, 16, 4, 0, "in 0 bytes"},     {OF_INTERP, 16, 4, 1, "in 1 bytes"},
        {OF_INTERP, 16, 4, 0x7fffffff, "bytes"}, {OF_INTERP, 4, 4, 0x7fffffff, "behind the end"},
        {OF_INTERP, 16, 4, 5, "without an end"},
    };
    struct bytes dynamic = read_file("dynamic");
    for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++) {
        uint8_t *file = malloc(dynamic.size);
        assert_non_null(file);
        memcpy(file, dynamic.at, dynamic.size);
        apply(file, &patches[i]);
        write_file("hostile", file, dynamic.size, 0755);
        free(file);
        refused("hostile", patches[i].text);
    }
    /* An interpreter that is the program itself: the name fits where "/lib/ld.so.1" was. */
    uint8_t *name = dynamic.at + mem_host_get32(segment_at(dynamic.at, OF_INTERP) + 4);
    static const char looper[12] = "looper", textual[12] = "hello.c";
    memcpy(name, looper, sizeof looper);
    write_file("looper", dynamic.at, dynamic.size, 0755);
    refused("looper", "needs one itself");
    memcpy(name, textual, sizeof textual);
    write_file("textual", dynamic.at, dynamic.size, 0755);
    assert_int_equal(chmod("hello.c", 0755), 0);
    struct chil_error err = {0};
    struct os_space *space;
    assert_int_equal(load(&space, "textual", &err), CHIL_EPARSE);
    assert_non_null(strstr(err.text, "'hello.c' is not an ELF program"));
    free(dynamic.at);
}

static void other_byte_orders_and_widths_are_named(void **state)
{
    (void)state;
    uint8_t header[64] = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, 1};
    header[16] = ET_EXEC;
    header[18] = EM_PPC;
    header[20] = 1;
    header[40] = 52;
    write_file("little", header, sizeof header, 0755);
    refused("little", "little-endian PowerPC");
    header[4] = ELFCLASS64;
    header[18] = EM_AARCH64;
    write_file("arm", header, sizeof header, 0755);
    refused("arm", "64-bit ARM");
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (uint64_t trial = random_trials(400); trial--;) {
        /* Half of them in the headers; the program's last bytes are sections, which no loader
         * needs.
         */
        size_t size = (size_t)random_below(&seed, trial & 1 ? 400 : hello.size / 2);
        write_file("cut", hello.at, size, 0755);
        struct chil_error err = {0};
        struct os_space *space;
        if (load(&space, "cut", &err) == 0) fail_msg("a program cut to %zu bytes was loaded", size);
        check_line(&err, "cut");
    }
}

static void a_program_without_sections_is_whole(void **state)
{
    (void)state;
    static const struct patch patches[] = {{OF_HEADER, 32, 4, 0, ""}, {OF_HEADER, 48, 4, 0, ""}};
    struct bytes file = read_file("static");
    apply(file.at, &patches[0]);
    apply(file.at, &patches[1]);
    write_file("sectionless", file.at, file.size, 0755);
    os_space_release(loaded("sectionless"));
    memset(file.at + 32, 0xff, 4); /* sections far outside */
    memset(file.at + 46, 0xff, 6);
    write_file("sectionless", file.at, file.size, 0755);
    struct chil_error err = {0};
    struct os_space *space = NULL;
    if (load(&space, "sectionless", &err) == 0)
        os_space_release(space);
    else
        check_line(&err, "sectionless");
    free(file.at);
}

/* Bytes of the headers at random: loaded or refused, never anything else. */
static void random_headers_do_no_harm(void **state)
{
    (void)state;
    static const uint32_t edges[] = {0,      1,     0xffffffff, 0x7fffffff, 0x80000000,
                                     0x1000, 0xfff, 0xc0000000, 0x10000000};
    static const char *const names[] = {"static", "dynamic"};
    uint64_t seed = 17, count[2] = {0};
    for (unsigned kind = 0; kind < 2; kind++) {
        struct bytes file = read_file(names[kind]);
        size_t area = 52 + 32 * ((size_t)file.at[44] << 8 | file.at[45]);
        uint8_t keep[1024];
        assert_true(area <= sizeof keep);
        memcpy(keep, file.at, area);
        write_file("random", file.at, file.size, 0755);
        for (uint64_t trial = random_trials(3000); trial--;) {
            for (uint64_t changes = 1 + random_below(&seed, 4); changes--;) {
                size_t at = random_below(&seed, 8) ? 16 + (size_t)random_below(&seed, area - 20)
                                                   : (size_t)random_below(&seed, 16);
                if (random_below(&seed, 2))
                    file.at[at] = (uint8_t)random_next(&seed);
                else
                    mem_host_put32(file.at + (at & ~(size_t)3), edges[random_below(&seed, 9)]);
            }
            FILE *out = fopen("random", "r+b");
            assert_non_null(out);
            assert_int_equal(fwrite(file.at, 1, area, out), area);
            assert_int_equal(fclose(out), 0);
            struct chil_error err = {0};
            struct os_space *space = NULL;
            int status = load(&space, "random", &err);
            count[status == 0]++;
            if (status == 0)
                os_space_release(space);
            else
                check_line(&err, "'");
            memcpy(file.at, keep, area);
        }
        free(file.at);
    }
    assert_true(count[0] > 0 && count[1] > 0);
}

static void too_many_arguments_are_refused(void **state)
{
    (void)state;
    struct os_rules rules = {0};
    struct chil_error err = {0};
    struct os_files *files = os_files_new(&rules, &err);
    struct os_space *space;
    char *big = malloc(3 << 20);
    assert_non_null(big);
    memset(big, 'x', (3 << 20) - 1);
    big[(3 << 20) - 1] = 0;
    char *argv[] = {"prog", big, NULL}, *none[] = {NULL};
    int status = os_load(&space, files, &rules, "static", argv, none, &err);
    assert_int_equal(os_load_errno(status), E2BIG);
    check_line(&err, "static");
    assert_int_equal(os_load(&space, files, &rules, "static", none, none, &err), 0);
    assert_int_equal(word(space, space->stack_pointer), 1); /* an empty argv[0] */
    os_space_release(space);
    os_files_release(files);
    free(big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_static_program_is_where_it_was_linked),
        cmocka_unit_test(the_first_stack_is_linuxs),
        cmocka_unit_test(a_dynamic_program_comes_with_the_sysroots_interpreter),
        cmocka_unit_test(a_forked_space_is_the_same_and_apart),
        cmocka_unit_test(scripts_start_their_interpreter),
        cmocka_unit_test(what_cannot_be_loaded_says_why),
        cmocka_unit_test(hostile_headers_are_refused_by_name),
        cmocka_unit_test(hostile_interpreters_are_refused),
        cmocka_unit_test(other_byte_orders_and_widths_are_named),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(a_program_without_sections_is_whole),
        cmocka_unit_test(random_headers_do_no_harm),
        cmocka_unit_test(too_many_arguments_are_refused),
    };
    return cmocka_run_group_tests_name("os_load", tests, set_up, tear_down);
}
