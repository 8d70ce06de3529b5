/* Symbols and lines of the files that are mapped into address spaces, read at the first look-up. A
 * symbol lives as long as the table; all processes that map its file have the same one. */
#ifndef OBSERVE_SYMBOLS_H
#define OBSERVE_SYMBOLS_H

#include "machine/os/os.h"

struct observe_symbols;
struct observe_object; /* a file */

struct observe_symbol {
    const char *name;                    /* as in the file */
    const char *written;                 /* as in the source; set by observe_symbols_name */
    const struct observe_object *object; /* NULL: of no file */
    uint32_t address, size;              /* as the file says; size 0: unknown */
};

struct observe_symbols *observe_symbols_new(void);
void observe_symbols_free(struct observe_symbols *symbols);

/* The function at `pc`, where it begins and ends in that space, and where it begins in its file;
 * NULL: neither symbols nor unwinding data have it. The part of a function that a compiler moved
 * away (NAME.cold) is that function. */
const struct observe_symbol *observe_symbols_find(struct observe_symbols *symbols,
                                                  const struct os *os, const struct mem *mem,
                                                  uint32_t pc, uint32_t *low, uint32_t *high,
                                                  uint32_t *start);
/* Address in the process - address in the file; false: unknown. */
bool observe_symbols_bias(struct observe_symbols *symbols, const struct os_object *mapped,
                          uint32_t *bias);
/* All its functions, in the order of their addresses, which are those of the file. */
void observe_symbols_each(struct observe_symbols *symbols, const struct os_object *mapped,
                          void (*report)(void *context, const char *name, uint32_t address,
                                         uint32_t size),
                          void *context);
/* One for code without: named by its file and address. */
const struct observe_symbol *observe_symbols_unnamed(struct observe_symbols *symbols,
                                                     const struct os *os, const struct mem *mem,
                                                     uint32_t pc);
/* One that is no code: the same text, the same symbol. */
const struct observe_symbol *observe_symbols_label(struct observe_symbols *symbols,
                                                   const char *text);

/* A file outside of a run. */
const struct observe_object *observe_symbols_file(struct observe_symbols *symbols, const char *path,
                                                  struct os_image *image);
/* The name in the source of a function of a file, as observe_symbols_name gives it in runs; lives
 * as long as the table. */
const char *observe_object_name(const struct observe_object *object, const char *function,
                                uint32_t address);

/* Its name in the source: demangled C++ and Fortran names, functions of threads without
 * underscores. */
const char *observe_symbols_name(const struct observe_symbol *symbol);
/* The guest's path of a file; and the source of a symbol: its file in a buffer, and lines, -1 where
 * unknown. */
const char *observe_object_path(const struct observe_object *object);
/* The source of an instruction of the symbol's file; NULL: unknown. */
const char *observe_symbols_line(const struct observe_symbol *symbol, uint32_t address, int *line);
void observe_symbols_source(const struct observe_symbol *symbol, char *file, size_t size,
                            int *begin, int *end);

#endif
