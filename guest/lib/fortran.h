/* Strings as gfortran passes them: they end in blanks rather than in a zero, and their lengths come by value after all
 * other arguments.
 */
#ifndef FORTRAN_H
#define FORTRAN_H

#include <stddef.h>
#include <string.h>

/* The string without its blanks at the end, in C's form; what is over `size` is cut off. */
static inline const char *fortran_text(char *buffer, size_t size, const char *string, size_t length)
{
    if (length > size - 1) length = size - 1;
    while (length && string[length - 1] == ' ')
        length--;
    memcpy(buffer, string, length);
    buffer[length] = '\0';
    return buffer;
}

/* Fills the string: with the text, or as much of it as there is room for, and blanks. */
static inline void fortran_fill(char *string, size_t length, const char *text)
{
    size_t used = strnlen(text, length);
    memcpy(string, text, used);
    memset(string + used, ' ', length - used);
}

#endif
