/* See monitor_literal.h. */
#include "monitor_literal.h"

#include <string.h>

/* Chunks by letters: L0-L4 latency a-e, size f-h, sender i j, tag k, category l. */
static const char *const multiplexer[5] = {"afghikl", "abcfgikl", "abcdehil", "cdefghjk",
                                           "efghjkl"};

int literal_choices(uint32_t masks[792])
{
    int count = 0;
    for (int a = 0; a < 12; a++)
        for (int b = a + 1; b < 12; b++)
            for (int c = b + 1; c < 12; c++)
                for (int d = c + 1; d < 12; d++)
                    for (int e = d + 1; e < 12; e++)
                        masks[count++] = 1U << a | 1U << b | 1U << c | 1U << d | 1U << e;
    return count;
}

int literal_rule(uint32_t mask)
{
    int first = -1, last = -1, used = 0;
    for (int i = 0; i < 5; i++)
        if (mask >> i & 1) {
            if (first < 0) first = i;
            last = i;
            used++;
        }
    if (used && last - first + 1 != used) return 2;
    return (mask >> 8 & 1) != (mask >> 9 & 1) ? 3 : 0;
}

static bool fits(const int field[5])
{
    for (int f = 0; f < 5; f++)
        if (!strchr(multiplexer[f], 'a' + field[f])) return false;
    /* Chunks of a variable ascend; those of the latency are next to each other. */
    for (int low = 0; low < 5; low++)
        for (int high = low + 1; high < 5; high++) {
            int a = field[low], b = field[high];
            bool same = (a < 5 && b < 5) || (a >= 5 && a < 8 && b >= 5 && b < 8) ||
                        (a >= 8 && a < 10 && b >= 8 && b < 10);
            if (same && a > b) return false;
            if (a < 5 && b < 5 && b - a != high - low) return false;
        }
    return true;
}

/* All orders, from the one with the highest chunks on top. */
static bool arrange(uint32_t left, int f, int field[5])
{
    if (f < 0) return fits(field);
    for (int chunk = 11; chunk >= 0; chunk--) {
        if (!(left >> chunk & 1)) continue;
        field[f] = chunk;
        if (arrange(left & ~(1U << chunk), f - 1, field)) return true;
    }
    return false;
}

bool literal_layout(uint32_t mask, int field[5])
{
    return arrange(mask, 4, field);
}

/* A number as wires, the lowest first. */
static void to_wires(uint64_t value, int count, int *wires)
{
    for (int i = 0; i < count; i++)
        wires[i] = (int)(value >> i & 1);
}

static uint64_t from_wires(const int *wires, int count)
{
    uint64_t value = 0;
    for (int i = count - 1; i >= 0; i--)
        value = 2 * value + (uint64_t)wires[i];
    return value;
}

/* clock - stamp, 44 bits, with borrows. */
static void subtract(const struct literal_packet *packet, int difference[44])
{
    int clock[44], stamp[44], borrow = 0;
    to_wires(packet->clock, 44, clock);
    to_wires(packet->stamp, 44, stamp);
    for (int i = 0; i < 44; i++) {
        int d = clock[i] - stamp[i] - borrow;
        borrow = d < 0;
        difference[i] = d & 1;
    }
}

static void latency(const struct literal_board *board, const struct literal_packet *packet,
                    int wires[20])
{
    int difference[44];
    subtract(packet, difference);
    uint64_t value = from_wires(difference, 44);
    for (int i = 0; i < 20; i++) {
        if (value > board->maximum)
            wires[i] = 1;
        else if (value < board->minimum)
            wires[i] = 0;
        else
            wires[i] = i + board->shift < 44 ? difference[i + board->shift] : 0;
    }
}

void literal_take(struct literal_board *board, const struct literal_packet *packet)
{
    int chunk[12][4], wires[20], address[20], time[20];
    latency(board, packet, wires);
    memcpy(chunk, wires, sizeof wires);
    to_wires(packet->size, 12, chunk[5]);
    to_wires(packet->sender, 8, chunk[8]);
    to_wires(board->page_tags[packet->address / 4096], 4, chunk[10]);
    to_wires((uint64_t)board->category, 4, chunk[11]);
    for (int f = 0; f < 5; f++)
        memcpy(&address[4 * f], chunk[board->field[f]], sizeof chunk[0]);
    uint64_t bin = from_wires(address, 20);
    if (board->trace) {
        if (board->next == 1 << 20 && board->wrap) board->next = 0;
        if (board->next == 1 << 20) {
            board->full = true;
            return;
        }
        to_wires(packet->clock, 20, time);
        board->memory[board->next++] = from_wires(time, 20) * (1 << 20) + bin;
        return;
    }
    uint64_t incremented = board->memory[bin] + 1; /* 41 bits */
    board->memory[bin] = incremented % (UINT64_C(1) << 40);
    if (incremented <= board->threshold || (board->once && board->fired[bin])) return;
    board->fired[bin] = true;
    board->interrupt = true;
    if (board->queued < 16)
        board->queue[board->queued++] = (uint32_t)bin;
    else
        board->lost = true;
    if (board->toggle) board->trace = true;
}
