/* Writes the rows of a metric in a .cubex: N.index with the sorted keys, N.data with one value per
 * location.
 *
 * A row with one value still has a value for each location. So rows of large metrics are
 * compressed, one zlib stream each (exp_zeros.h), if that makes the file smaller. A metric that is
 * zero everywhere gets one row of zeros, since pycubexr refuses an index without rows.
 */
#include "analyze/exp/exp_cube.h"
#include "analyze/exp/exp_zeros.h"

#include <stdlib.h>
#include <string.h>

enum { ROW_TABLE = 24, PLAIN_MAX = 64 << 10, BLOCK = 512 };

uint8_t *exp_bytes_add(struct exp_bytes *bytes, size_t size)
{
    bytes->byte = base_grow(bytes->byte, &bytes->capacity, bytes->size + size, 1);
    bytes->size += size;
    return bytes->byte + bytes->size - size;
}

static void put_little(uint8_t *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* A metric's cells in the order of the file: row keys and columns for node and thread. */
struct sheet {
    struct exp_column column;
    size_t rows, row_bytes;
};

static void sheet_init(struct sheet *sheet, const struct chil_exp *exp,
                       const struct exp_layout *layout, int metric)
{
    size_t count;
    const struct chil_exp_cell *cell = chil_exp_cells(exp, metric, &count);
    *sheet = (struct sheet){.column = {base_calloc(count, sizeof *cell), count, count, true}};
    sheet->row_bytes = exp->threads * sizeof(uint64_t);
    for (size_t i = 0; i < count; i++) {
        sheet->column.cell[i] = cell[i];
        sheet->column.cell[i].node = layout->node_position[cell[i].node];
        sheet->column.cell[i].thread = layout->thread_position[cell[i].thread];
    }
    exp_normalize(&sheet->column, exp->metric[metric].kind);
    for (size_t i = 0; i < count; i++)
        sheet->rows += i == 0 || sheet->column.cell[i].node != sheet->column.cell[i - 1].node;
    sheet->rows += count == 0;
}

static void write_index(const struct sheet *sheet, struct exp_bytes *index)
{
    static const uint8_t head[] = {'C', 'U', 'B', 'E', 'X', '.', 'I', 'N', 'D',
                                   'E', 'X', 1,   0,   0,   0,   0,   0,   1 /* sparse */};
    const struct chil_exp_cell *cell = sheet->column.cell;
    memcpy(exp_bytes_add(index, sizeof head), head, sizeof head);
    put_little(exp_bytes_add(index, 4), sheet->rows, 4);
    for (size_t i = 0; i < sheet->column.count; i++)
        if (i == 0 || cell[i].node != cell[i - 1].node)
            put_little(exp_bytes_add(index, 4), cell[i].node, 4);
    if (!sheet->column.count) put_little(exp_bytes_add(index, 4), 0, 4); /* the first call path */
}

/* Fills one row from the cells at `at`; returns the cell after them. */
static size_t fill_row(const struct sheet *sheet, size_t at, uint8_t *row)
{
    const struct chil_exp_cell *cell = sheet->column.cell;
    uint32_t node = cell[at].node;
    for (; at < sheet->column.count && cell[at].node == node; at++)
        put_little(row + cell[at].thread * sizeof(uint64_t), (uint64_t)cell[at].count,
                   8); /* or the bits of a real */
    return at;
}

static void write_plain(const struct sheet *sheet, struct exp_bytes *data)
{
    memcpy(exp_bytes_add(data, 10), "CUBEX.DATA", 10);
    uint8_t *row = exp_bytes_add(data, sheet->rows * sheet->row_bytes);
    memset(row, 0, sheet->rows * sheet->row_bytes);
    for (size_t at = 0; at < sheet->column.count; row += sheet->row_bytes)
        at = fill_row(sheet, at, row);
}

static void write_packed(const struct sheet *sheet, struct exp_bytes *data)
{
    struct exp_packer packer;
    const struct chil_exp_cell *cell = sheet->column.cell;
    size_t table = 11 + 8, area = table + sheet->rows * ROW_TABLE;
    exp_packer_init(&packer);
    memcpy(exp_bytes_add(data, 11), "ZCUBEX.DATA", 11);
    put_little(exp_bytes_add(data, 8), sheet->rows, 8);
    (void)exp_bytes_add(data, sheet->rows * ROW_TABLE);
    for (size_t at = 0, row = 0; row < sheet->rows; row++, table += ROW_TABLE) {
        size_t from = at, start = data->size;
        while (at < sheet->column.count && cell[at].node == cell[from].node)
            at++;
        exp_pack_row(&packer, cell + from, at - from, sheet->row_bytes, data);
        put_little(data->byte + table, row * sheet->row_bytes, 8);
        put_little(data->byte + table + 8, start - area, 8);
        put_little(data->byte + table + 16, data->size - start, 8);
    }
    if (data->size % BLOCK == 0)
        *exp_bytes_add(data, 1) = 0; /* cubelib misreads members of n * 512 bytes */
}

void exp_rows_write(const struct chil_exp *exp, const struct exp_layout *layout, int metric,
                    struct exp_bytes *index, struct exp_bytes *data)
{
    struct sheet sheet;
    sheet_init(&sheet, exp, layout, metric);
    index->size = data->size = 0;
    write_index(&sheet, index);
    size_t plain = 10 + sheet.rows * sheet.row_bytes;
    if (plain > PLAIN_MAX) write_packed(&sheet, data);
    if (!data->size || data->size >= plain) {
        data->size = 0;
        write_plain(&sheet, data);
    }
    free(sheet.column.cell);
}
