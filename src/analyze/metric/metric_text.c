/* Statements and tokens of specifications.
 *
 * A statement may have several lines, each with a comment. The lines are joined first; every
 * position in the statement remembers its line. Names may have '$', ':' and, between two other
 * characters, '/' (HT_I/O_XFER): so a division needs a blank before or after it.
 */
#include "analyze/metric/metric_impl.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/catalog.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool is_name_part(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == ':';
}

void reader_init(struct reader *r, bool (*is_keyword)(const char *word, size_t length))
{
    *r = (struct reader){.is_keyword = is_keyword};
}

void reader_fini(struct reader *r)
{
    free(r->text);
    free(r->piece);
    text_file_close(&r->file);
}

/* --- Statements ------------------------------------------------------------------------------ */

/* The next line with something on it, '#' and what follows cut off; *indented: it began with a
 * blank. */
static char *next_line(struct reader *r, bool *indented)
{
    for (char *line; (line = text_next_line(&r->file));) {
        *indented = line > r->file.bytes && is_blank(line[-1]);
        char *comment = strchr(line, '#');
        if (comment) *comment = 0;
        for (char *end = line + strlen(line); end > line && is_blank(end[-1]);)
            *--end = 0;
        if (*line) return line;
    }
    return NULL;
}

static void append(struct reader *r, const char *line, unsigned number)
{
    size_t length = r->text && r->pieces ? strlen(r->text) : 0, more = strlen(line);
    r->text = base_grow(r->text, &r->capacity, length + more + 2, 1);
    r->piece = base_grow(r->piece, &r->piece_capacity, r->pieces + 1, sizeof *r->piece);
    if (r->pieces) r->text[length++] = ' ';
    r->piece[r->pieces++] = (struct reader_piece){.offset = length, .line = number};
    memcpy(r->text + length, line, more + 1);
}

static bool begins_statement(const struct reader *r, const char *line)
{
    return r->is_keyword(line, strcspn(line, " \t="));
}

static bool continues(const struct reader *r, const char *line, bool indented)
{
    const char *end = r->text + strlen(r->text);
    if (end > r->text && strchr("+-*/=", end[-1])) return true;
    if (*line && strchr("+-*/", *line)) return true;
    return indented && !begins_statement(r, line);
}

bool reader_next(struct reader *r)
{
    bool indented = false;
    r->pieces = 0;
    if (!r->held) {
        r->held = next_line(r, &indented);
        r->held_line = r->file.line;
    }
    if (!r->held) return false;
    append(r, r->held, r->held_line);
    while ((r->held = next_line(r, &indented)) && continues(r, r->held, indented))
        append(r, r->held, r->file.line);
    r->held_line = r->file.line;
    r->at = r->text;
    return true;
}

unsigned reader_line(const struct reader *r, const char *at)
{
    size_t offset = (size_t)(at - r->text);
    unsigned line = r->piece[0].line;
    for (size_t i = 0; i < r->pieces && r->piece[i].offset <= offset; i++)
        line = r->piece[i].line;
    return line;
}

int reader_error(const struct reader *r, const char *at, struct chil_error *err, const char *format,
                 ...)
{
    char what[300];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return chil_error_set(err, CHIL_EPARSE, "%s:%u: %s", r->file.name, reader_line(r, at), what);
}

/* --- Tokens ---------------------------------------------------------------------------------- */

static size_t name_length(const char *at)
{
    size_t length = 1;
    while (is_name_part(at[length]) || (at[length] == '/' && is_name_part(at[length + 1])))
        length++;
    return length;
}

struct token reader_peek(const struct reader *r)
{
    static const char *const two[] = {"<=", ">=", "==", "!="};
    const char *at = r->at;
    while (is_blank(*at))
        at++;
    struct token token = {.kind = TOKEN_OPERATOR, .at = at, .length = 1};
    if (!*at) {
        token.kind = TOKEN_END;
        token.length = 0;
    } else if (is_name_start(*at)) {
        token.kind = TOKEN_NAME;
        token.length = name_length(at);
    } else if (isdigit((unsigned char)*at)) {
        char *end;
        token.kind = TOKEN_NUMBER;
        token.number = strtod(at, &end);
        token.length = (size_t)(end - at);
    } else {
        for (size_t i = 0; i < sizeof two / sizeof *two; i++)
            if (strncmp(at, two[i], 2) == 0) token.length = 2;
        if (!strchr("+-*/()=<>!", *at)) token.kind = TOKEN_BAD;
    }
    return token;
}

struct token reader_token(struct reader *r)
{
    struct token token = reader_peek(r);
    r->at = token.at + token.length;
    return token;
}

bool token_is(const struct token *token, const char *text)
{
    return token->length == strlen(text) && memcmp(token->at, text, token->length) == 0;
}

char *reader_raw(struct reader *r, struct arena *arena, bool word)
{
    const char *at = r->at + strspn(r->at, " \t\r\v\f");
    const char *quote = *at == '"' ? strchr(at + 1, '"') : NULL;
    size_t length = quote ? (size_t)(quote - at - 1) : word ? strcspn(at, " \t\r\v\f") : strlen(at);
    char *text = arena_strndup(arena, quote ? at + 1 : at, length);
    r->at = quote ? quote + 1 : at + length;
    return text;
}

char *reader_since(const struct reader *r, struct arena *arena, const char *at)
{
    const char *end = r->at > at ? r->at : at;
    while (at < end && is_blank(*at))
        at++;
    while (end > at && is_blank(end[-1]))
        end--;
    char *text = arena_strndup(arena, at, (size_t)(end - at)), *to = text;
    for (const char *from = text; *from; from++) {
        if (is_blank(*from) && to > text && to[-1] == ' ') continue;
        *to++ = *from;
        if (is_blank(*from)) to[-1] = ' ';
    }
    *to = 0;
    return text;
}

int reader_name(struct reader *r, const char *what, char name[METRIC_NAME_MAX],
                struct chil_error *err)
{
    struct token token = reader_token(r);
    if (token.kind != TOKEN_NAME)
        return reader_error(r, token.at, err, "%s is missing%s%.20s%s", what,
                            *token.at ? " at '" : "", token.at, *token.at ? "'" : "");
    if (token.length >= METRIC_NAME_MAX)
        return reader_error(r, token.at, err, "name '%.40s...' is longer than %d characters",
                            token.at, METRIC_NAME_MAX - 1);
    memcpy(name, token.at, token.length);
    name[token.length] = 0;
    return 0;
}

int reader_expect(struct reader *r, const char *text, struct chil_error *err)
{
    struct token token = reader_token(r);
    if (token_is(&token, text)) return 0;
    if (!*token.at) return reader_error(r, token.at, err, "'%s' is missing", text);
    return reader_error(r, token.at, err, "'%s' is missing at '%.40s'", text, token.at);
}

int reader_end(struct reader *r, struct chil_error *err)
{
    struct token token = reader_peek(r);
    if (token.kind == TOKEN_END) return 0;
    return reader_error(r, token.at, err, "'%.40s' is not expected here", token.at);
}

/* --- Files ----------------------------------------------------------------------------------- */

int metric_path(char path[METRIC_PATH_MAX], const char *kind, const char *name,
                struct chil_error *err)
{
    int length;
    if (strchr(name, '/')) {
        length = snprintf(path, METRIC_PATH_MAX, "%s", name);
    } else {
        char folder[METRIC_PATH_MAX];
        int status = chil_data_directory(folder, sizeof folder, err);
        if (status) return status;
        length = snprintf(path, METRIC_PATH_MAX, "%s/%s/%s.%s", folder, kind, name, kind);
    }
    if (length >= METRIC_PATH_MAX)
        return chil_error_set(err, CHIL_ERANGE, "path '%.80s...' is too long", name);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int metric_names(char ***names, size_t *count, const char *kind, struct chil_error *err)
{
    char folder[METRIC_PATH_MAX], path[METRIC_PATH_MAX + 16];
    size_t capacity = 0;
    *names = NULL;
    *count = 0;
    int status = chil_data_directory(folder, sizeof folder, err);
    if (status) return status;
    (void)snprintf(path, sizeof path, "%s/%s", folder, kind);
    DIR *dir = opendir(path);
    if (!dir) return chil_error_set(err, CHIL_EIO, "cannot open '%s': %s", path, strerror(errno));
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t length = strlen(entry->d_name), end = strlen(kind) + 1;
        if (length <= end || entry->d_name[0] == '.' || entry->d_name[length - end] != '.' ||
            strcmp(entry->d_name + length - end + 1, kind) != 0)
            continue;
        *names = base_grow(*names, &capacity, *count + 1, sizeof **names);
        char *name = base_calloc(length - end + 1, 1);
        memcpy(name, entry->d_name, length - end);
        (*names)[(*count)++] = name;
    }
    (void)closedir(dir);
    if (*count) qsort(*names, *count, sizeof **names, by_name);
    return 0;
}
