/* The first stack of a program, as Linux leaves it at the entry point.
 *
 * From the top down: a word of zero, the program's path, the environment's and the arguments'
 * strings, the platform's name, 16 bytes for AT_RANDOM; then, at the stack pointer and a multiple
 * of 16: argc, argv, NULL, envp, NULL, and the auxiliary vector. Its entries and values are those
 * a 6.1 kernel gives on a 440 with FPU; AT_SYSINFO_EHDR is left out, as there is no vdso, and
 * AT_RANDOM is the same in every run.
 */
#include "machine/os/os_load_impl.h"

#include <elf.h>
#include <string.h>

enum {
    POINTERS_MAX = 1 << 17,
    STRINGS_MAX = 2 << 20
};                                /* a quarter of the stack for strings, as in Linux */
#define HWCAP_440_FPU 0x8c008000u /* 32-bit, FPU, MMU, Book E */

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

struct strings {
    struct mem *mem;
    uint32_t at; /* the lowest byte used */
};

static uint32_t push(struct strings *strings, const void *bytes, size_t size)
{
    strings->at -= (uint32_t)size;
    memcpy(mem_host(strings->mem, strings->at), bytes, size);
    return strings->at;
}

/* The total with terminators; counts the strings. */
static uint64_t measure(char *const list[], size_t *count)
{
    uint64_t total = 0;
    for (*count = 0; list && list[*count]; ++*count)
        total += strlen(list[*count]) + 1;
    return total;
}

static void put_word(struct mem *mem, uint32_t *at, uint32_t value)
{
    mem_host_put32(mem_host(mem, *at), value);
    *at += 4;
}

/* Writes the pointers to strings that lie one behind the other from `text` on, and a NULL. */
static void put_pointers(struct mem *mem, uint32_t *at, char *const list[], size_t count,
                         uint32_t text)
{
    for (size_t i = 0; i < count; i++) {
        put_word(mem, at, text);
        text += (uint32_t)strlen(list[i]) + 1;
    }
    put_word(mem, at, 0);
}

static uint32_t push_list(struct strings *strings, char *const list[], size_t count)
{
    while (count--)
        push(strings, list[count], strlen(list[count]) + 1);
    return strings->at;
}

int load_stack(struct os_space *space, const struct load_facts *facts, char *const argv[],
               char *const envp[], struct chil_error *err)
{
    static const char platform[] = "ppc440";
    static const uint8_t random[16] =
        "\x43\x68\x69\x6c\x69\x61\x64\x0a\xd7\x1f\x3c\x8e\x52\xb9\x06\xa4";
    char empty[] = "";
    char *const nameless[] = {empty, NULL}; /* a program always has an argv[0] */
    if (!argv || !argv[0]) argv = nameless;
    size_t argc, envc;
    uint64_t size = measure(argv, &argc) + measure(envp, &envc) + strlen(facts->path) + 1;
    if (size > STRINGS_MAX || argc + envc > POINTERS_MAX)
        return chil_error_set(
            err, CHIL_ERANGE,
            "'%s': arguments and environment are too long (%llu bytes in %zu strings, at most %d in "
            "%d); give it fewer",
            facts->path, (unsigned long long)size, argc + envc, STRINGS_MAX, POINTERS_MAX);
    struct strings strings = {space->mem, space->stack_high - 4};
    uint32_t execfn = push(&strings, facts->path, strlen(facts->path) + 1);
    uint32_t env_text = push_list(&strings, envp, envc);
    uint32_t arg_text = push_list(&strings, argv, argc);
    uint32_t platform_text = push(&strings, platform, sizeof platform);
    strings.at &= ~UINT32_C(15);
    uint32_t random_bytes = push(&strings, random, sizeof random);
    const uint32_t vector[][2] = {
        {AT_IGNOREPPC, AT_IGNOREPPC},
        {AT_IGNOREPPC, AT_IGNOREPPC},
        {AT_DCACHEBSIZE, 32},
        {AT_ICACHEBSIZE, 32},
        {AT_UCACHEBSIZE, 0},
        {AT_MINSIGSTKSZ, 0x650},
        {AT_HWCAP, HWCAP_440_FPU},
        {AT_PAGESZ, MEM_PAGE},
        {AT_CLKTCK, 100},
        {AT_PHDR, facts->phdr},
        {AT_PHENT, 32},
        {AT_PHNUM, facts->phnum},
        {AT_BASE, facts->base},
        {AT_FLAGS, 0},
        {AT_ENTRY, facts->entry},
        {AT_UID, OS_UID},
        {AT_EUID, OS_UID},
        {AT_GID, OS_GID},
        {AT_EGID, OS_GID},
        {AT_SECURE, 0},
        {AT_RANDOM, random_bytes},
        {AT_HWCAP2, 0},
        {AT_EXECFN, execfn},
        {AT_PLATFORM, platform_text},
        {AT_BASE_PLATFORM, platform_text},
        {AT_NULL, 0},
    };
    size_t words = 1 + argc + 1 + envc + 1 + sizeof vector / 4;
    uint32_t at = (strings.at - (uint32_t)words * 4) & ~UINT32_C(15);
    space->stack_pointer = at;
    put_word(space->mem, &at, (uint32_t)argc);
    put_pointers(space->mem, &at, argv, argc, arg_text);
    put_pointers(space->mem, &at, envp, envc, env_text);
    for (size_t i = 0; i < sizeof vector / sizeof vector[0]; i++) {
        put_word(space->mem, &at, vector[i][0]);
        put_word(space->mem, &at, vector[i][1]);
    }
    return CHIL_OK;
}
