// Blocks of operator new with known misses: walked from behind what malloc keeps in a free block on.
#include <cstdint>

enum { BYTES = 1 << 16, LINE = 32, LINKS = 16, ROOM = LINKS + LINE };

struct list {
    char bytes[BYTES / 2 + ROOM];
};

__attribute__((noinline)) static void walk(const volatile char *end)
{
    for (const volatile char *at = end - BYTES / 2; at < end; at += LINE)
        (void)*at;
}

static char *line(void *block)
{
    return reinterpret_cast<char *>((reinterpret_cast<std::uintptr_t>(block) + ROOM - 1) & ~static_cast<std::uintptr_t>(LINE - 1));
}

int main()
{
    char *grid = new char[BYTES + ROOM];
    list *one = new list;
    walk(line(grid) + BYTES / 2);
    walk(line(grid) + BYTES);
    walk(line(one) + BYTES / 2);
    delete one;
    delete[] grid;
}
