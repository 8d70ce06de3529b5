#include "chiliad/signal.h"

#include <stddef.h>
#include <string.h>

#include "chiliad/error.h"

static const struct {
    const char *word;
} modes[] = {
#define MODE_ROW(name, code, word, text) [name] = {word},
    CHIL_COUNT_MODES(MODE_ROW)
#undef MODE_ROW
};

enum { MODE_COUNT = sizeof modes / sizeof *modes };

const char *chil_count_mode_word(int mode)
{
    return mode >= 0 && mode < MODE_COUNT ? modes[mode].word : NULL;
}

int chil_count_mode_of(const char *word)
{
    for (int mode = 0; mode < MODE_COUNT; mode++)
        if (strcmp(word, modes[mode].word) == 0) return mode;
    return CHIL_ENOENT;
}
