/* Checks of names and lines that hold in every data file. */
#include "catalog/catalog.h"

#include <ctype.h>
#include <string.h>

bool catalog_is_name(const char *word)
{
    if (!*word || *word == '.') return false;
    for (; *word; word++)
        if (!isalnum((unsigned char)*word) && !strchr("_.-", *word)) return false;
    return true;
}

/* The bytes of the printable character at `s` (ASCII or strict UTF-8: no overlong form, no
 * surrogate), or 0. */
static size_t character_size(const unsigned char *s)
{
    if (s[0] < 0x80) return (s[0] >= 0x20 && s[0] != 0x7f) || s[0] == '\t';
    /* lead byte from..to, bytes, limits of the second byte */
    static const unsigned char forms[][5] = {
        {0xc2, 0xdf, 2, 0x80, 0xbf}, {0xe0, 0xe0, 3, 0xa0, 0xbf}, {0xe1, 0xec, 3, 0x80, 0xbf},
        {0xed, 0xed, 3, 0x80, 0x9f}, {0xee, 0xef, 3, 0x80, 0xbf}, {0xf0, 0xf0, 4, 0x90, 0xbf},
        {0xf1, 0xf3, 4, 0x80, 0xbf}, {0xf4, 0xf4, 4, 0x80, 0x8f},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const unsigned char *form = forms[i];
        if (s[0] < form[0] || s[0] > form[1]) continue;
        if (s[1] < form[3] || s[1] > form[4]) return 0;
        for (size_t k = 2; k < form[2]; k++)
            if ((s[k] & 0xc0) != 0x80) return 0;
        return form[2];
    }
    return 0;
}

int catalog_check_line(const struct text_file *file, const char *line, struct chil_error *err)
{
    for (const unsigned char *s = (const unsigned char *)line; *s;) {
        if (*s >= 0x20 && *s < 0x7f) { /* nearly all: a run reads 100 KB of rows */
            s++;
            continue;
        }
        size_t size = character_size(s);
        if (!size)
            return text_error(file, err, "byte 0x%02x is no printable UTF-8 text; remove it", *s);
        s += size;
    }
    return 0;
}
