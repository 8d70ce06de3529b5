/* Numbers as people and programs read them. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/cmd.h"

const char *cmd_grouped(uint64_t value, char buffer[CMD_GROUPED_MAX])
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, value), out = 0;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) buffer[out++] = ',';
        buffer[out++] = digits[i];
    }
    buffer[out] = 0;
    return buffer;
}

int cmd_terminal_width(int file)
{
    enum { USUAL = 80, LEAST = 40 };
    struct winsize size;
    if (!isatty(file) || ioctl(file, TIOCGWINSZ, &size) || !size.ws_col) return USUAL;
    return size.ws_col < LEAST ? LEAST : size.ws_col;
}

json_t *cmd_json_count(uint64_t value)
{
    char text[24];
    if (value <= INT64_MAX) return json_integer((json_int_t)value);
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    return json_string(text);
}
