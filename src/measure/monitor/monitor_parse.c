/* Reads declarations: "latency>>2:12 x tag x category". */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "measure/monitor/monitor_impl.h"

int monitor_complain(const struct monitor_text *text, const char *at, const char *format, ...)
{
    char what[240];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    for (char *c = what; *c; c++)
        if (iscntrl((unsigned char)*c)) *c = '?';
    return chil_error_set(text->err, CHIL_EPARSE, "%s, column %zu: %s", text->what,
                          (size_t)(at - text->start) + 1, what);
}

void monitor_skip(struct monitor_text *text)
{
    while (isspace((unsigned char)*text->at))
        text->at++;
}

size_t monitor_word_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || (at[length] && strchr("_.$@[]/+-", at[length])))
        length++;
    return length;
}

int monitor_take_number(struct monitor_text *text, uint64_t most, const char *what, uint64_t *value)
{
    const char *at = text->at;
    unsigned base = at[0] == '0' && at[1] == 'x' ? 16 : 10;
    const char *digit = base == 16 ? at + 2 : at;
    *value = 0;
    for (; base == 16 ? isxdigit((unsigned char)*digit) : isdigit((unsigned char)*digit); digit++) {
        unsigned add = isdigit((unsigned char)*digit) ? (unsigned)*digit - '0'
                                                      : (unsigned)(*digit | 32) - 'a' + 10;
        if (*value > (UINT64_MAX - add) / base)
            return monitor_complain(text, at, "%s is too large", what);
        *value = *value * base + add;
    }
    if (digit == (base == 16 ? at + 2 : at))
        return monitor_complain(text, at, "%s is wanted here, a number", what);
    if (*value > most)
        return monitor_complain(text, at, "%s must be at most %llu", what,
                                (unsigned long long)most);
    text->at = digit;
    return 0;
}

/* ":log", ":log4" */
static int take_log(struct monitor_text *text, struct chil_dimension *d)
{
    uint64_t parts = 1;
    text->at += 3;
    const char *at = text->at;
    if (isdigit((unsigned char)*at)) {
        int status = monitor_take_number(text, 8, "the number of bins a doubling", &parts);
        if (status) return status;
    }
    if (parts == 0 || parts & (parts - 1))
        return monitor_complain(text, at, "log takes 1, 2, 4 or 8 bins a doubling");
    d->scale = CHIL_SCALE_LOG;
    d->parts = (unsigned)parts;
    unsigned e = bits_ceil_log2(parts), width = monitor_width(text->names, d->variable) - d->shift;
    unsigned largest =
        width <= e ? (1U << width) - 1 : (width - 1 - e) * d->parts + 2 * d->parts - 1;
    d->bits = bits_ceil_log2(largest + 1U);
    return 0;
}

static int take_width(struct monitor_text *text, struct chil_dimension *d)
{
    uint64_t value;
    const char *at = text->at;
    if (strncmp(at, "log", 3) == 0) return take_log(text, d);
    int status = monitor_take_number(text, d->bits, "the width in bits", &value);
    if (status) return status;
    if (!value) return monitor_complain(text, at, "the width in bits must be at least 1");
    d->bits = (unsigned)value;
    return 0;
}

static int take_dimension(struct monitor_text *text, struct chil_dimension *d)
{
    enum chil_variable variable;
    uint64_t shift = 0;
    int status = monitor_take_variable(text, &variable);
    if (status) return status;
    unsigned width = monitor_width(text->names, variable);
    monitor_skip(text);
    bool has_words = monitor_has_words(text->names, variable);
    if (has_words && (*text->at == ':' || *text->at == '>'))
        return monitor_complain(text, text->at, "values of '%s' have names: no width, no shift",
                                chil_variable_name(variable));
    if (strncmp(text->at, ">>", 2) == 0) {
        text->at += 2;
        monitor_skip(text);
        status = monitor_take_number(text, width - 1, "the shift", &shift);
        if (status) return status;
        monitor_skip(text);
    }
    *d = (struct chil_dimension){
        .variable = variable, .shift = (unsigned)shift, .bits = width - (unsigned)shift};
    if (*text->at != ':') {
        /* By default the paper's 20 bits. */
        bool is_time = variable == CHIL_VAR_LATENCY || variable == CHIL_VAR_WAIT;
        if (is_time && d->bits > CHIL_MONITOR_ADDRESS_BITS) d->bits = CHIL_MONITOR_ADDRESS_BITS;
        return 0;
    }
    text->at++;
    monitor_skip(text);
    return take_width(text, d);
}

int monitor_declare(struct monitor_text *text, struct chil_dimension *dimensions, unsigned *count)
{
    unsigned bits = 0;
    for (*count = 0;;) {
        monitor_skip(text);
        const char *at = text->at;
        if (*count == CHIL_DIMENSIONS_MAX)
            return monitor_complain(text, at, "more than %d dimensions", CHIL_DIMENSIONS_MAX);
        int status = take_dimension(text, &dimensions[*count]);
        if (status) return status;
        bits += dimensions[(*count)++].bits;
        if (bits > 64)
            return monitor_complain(
                text, at, "with this dimension an address has %u bits; 64 is the most", bits);
        monitor_skip(text);
        if (!*text->at) break;
        if (*text->at != 'x' && *text->at != ',' && *text->at != '*')
            return monitor_complain(text, text->at,
                                    "'x' and another dimension, or the end, is wanted here");
        text->at++;
    }
    for (unsigned i = 0; i < *count; i++)
        dimensions[i].low = bits -= dimensions[i].bits;
    return 0;
}
