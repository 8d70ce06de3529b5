/* Ranks: which process of which node has which number.
 *
 * Blue Gene numbers processes by their coordinates x, y, z and t, the process of a node. A
 * permutation such as TXYZ says which coordinate changes first. A file has a line "x y z t" for
 * each rank, from rank 0 on; t may be left out where each node has one process. A place is node x
 * processes + t. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "run/run_impl.h"

enum { DIMENSIONS = 4, T = 3 };

static const char letters[] = "XYZT";

static int make_processes(struct chil_run *run, struct chil_error *err)
{
    static const char *const names[] = {"smp", "dual", "vn"};
    const struct chil_run_options *o = &run->options;
    unsigned cores = (unsigned)node_parameter(o->machine, "machine.cores", 1), most = 4;
    run->processes = o->mode == CHIL_RUN_SMP ? 1 : o->mode == CHIL_RUN_DUAL ? 2 : cores;
    if (run->processes > most) run->processes = most;
    if (run->processes <= cores && cores % run->processes == 0) return 0;
    return chil_error_set(err, CHIL_EINVAL,
                          "mode '%s' has %u processes on a node, which do not divide the %u core%s "
                          "of machine '%s'",
                          names[o->mode], run->processes, cores, cores == 1 ? "" : "s",
                          chil_machine_name(o->machine));
}

static bool is_permutation(const char *text)
{
    bool all = strlen(text) == DIMENSIONS;
    for (unsigned i = 0; i < DIMENSIONS; i++)
        all &= strchr(text, letters[i]) != NULL;
    return all;
}

static void permute(struct chil_run *run, const char *order)
{
    unsigned size[DIMENSIONS] = {run->shape.size[0], run->shape.size[1], run->shape.size[2],
                                 run->processes};
    for (unsigned rank = 0; rank < run->ranks; rank++) {
        unsigned at[DIMENSIONS], rest = rank;
        for (unsigned i = 0; i < DIMENSIONS; i++) {
            unsigned d = (unsigned)(strchr(letters, order[i]) - letters);
            at[d] = rest % size[d];
            rest /= size[d];
        }
        unsigned node = (at[2] * size[1] + at[1]) * size[0] + at[0];
        run->place_of_rank[rank] = node * run->processes + at[T];
    }
}

/* A line's place. */
static int read_place(const struct chil_run *run, const struct text_file *file, char *line,
                      uint32_t *place, struct chil_error *err)
{
    const unsigned size[DIMENSIONS] = {run->shape.size[0], run->shape.size[1], run->shape.size[2],
                                       run->processes};
    uint64_t at[DIMENSIONS] = {0};
    char *rest = line;
    unsigned count = 0;
    for (const char *field; (field = text_next_field(&rest)); count++) {
        if (count == DIMENSIONS || !text_to_u64(field, &at[count]))
            return text_error(file, err, "not four numbers x y z t");
        if (at[count] >= size[count])
            return text_error(file, err,
                              "%s is not a coordinate of %ux%ux%u nodes with %u "
                              "process%s",
                              field, size[0], size[1], size[2], size[T], size[T] == 1 ? "" : "es");
    }
    if (count < T || (count == T && run->processes > 1))
        return text_error(file, err, "not four numbers x y z t");
    *place = (uint32_t)(((at[2] * size[1] + at[1]) * size[0] + at[0]) * size[T] + at[T]);
    return 0;
}

static int read_lines(struct chil_run *run, struct text_file *file, struct chil_error *err)
{
    unsigned rank = 0;
    int status;
    for (char *line; (line = text_next_line(file)); rank++) {
        uint32_t place = 0;
        if (rank == run->ranks)
            return text_error(file, err, "more than %u lines, one for each rank", run->ranks);
        if ((status = read_place(run, file, line, &place, err))) return status;
        if (run->rank_of_place[place])
            return text_error(file, err, "the same place as rank %u",
                              run->rank_of_place[place] - 1);
        run->place_of_rank[rank] = place;
        run->rank_of_place[place] = rank + 1;
    }
    if (rank == run->ranks) return 0;
    return chil_error_set(err, CHIL_EPARSE, "%s: %u lines, but the run has %u ranks", file->name,
                          rank, run->ranks);
}

int run_mapping(struct chil_run *run, struct chil_error *err)
{
    const char *mapping = run->options.mapping ? run->options.mapping : letters;
    struct text_file file;
    int status = make_processes(run, err);
    if (status) return status;
    run->ranks = run->node_count * run->processes;
    run->place_of_rank = base_calloc(run->ranks, sizeof *run->place_of_rank);
    run->rank_of_place = base_calloc(run->ranks, sizeof *run->rank_of_place);
    if (is_permutation(mapping)) {
        permute(run, mapping);
    } else {
        status = text_file_open(&file, mapping, err);
        if (status) return status;
        status = read_lines(run, &file, err);
        text_file_close(&file);
    }
    for (unsigned rank = 0; rank < run->ranks && !status; rank++)
        run->rank_of_place[run->place_of_rank[rank]] = rank;
    return status;
}

unsigned chil_run_processes(const struct chil_run *run)
{
    return run->processes;
}

unsigned chil_run_rank(const struct chil_run *run, unsigned node, unsigned process)
{
    return run->rank_of_place[node * run->processes + process];
}
