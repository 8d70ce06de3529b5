/* A library with a function and a table, for names.c. */
enum { BYTES = 1 << 16 };

char library_table[BYTES] __attribute__((aligned(4096), visibility("default")));
static char own_table[BYTES] __attribute__((aligned(4096)));

void library_walk(void);
void library_walk(void)
{
    for (volatile char *at = own_table; at < own_table + BYTES; at += 64)
        (void)*at;
}
