/* A second reader of .cubex, written from the description of cubelib's behaviour alone: equally
 * strict.
 *
 * Members are found with cubelib's rule (padding is size / 512 + 1 blocks), anchor.xml by a lexer
 * that knows literal tags in one order, rows by binary search of the index. It shares nothing with
 * src/analyze/exp.
 */
#ifndef CUBE_LITERAL_H
#define CUBE_LITERAL_H

#include <stddef.h>

/* The cells of a file as exp_dump has them, or NULL with what is wrong in `why`. To be freed. */
char *cube_literal_dump(const char *path, char *why, size_t size);

#endif
