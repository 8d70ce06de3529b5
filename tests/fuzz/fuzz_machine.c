/* Fuzzes the catalogue: any machine file and any events file are read, or refused in one line.
 *
 * `tools/fuzz machine SECONDS` from the root of the repository; the seeds are in
 * tests/fuzz/corpus/machine. The input is a machine file `t.machine`, a line `%%`, and its events
 * file `t.events`. The catalogue reads files, so both are written to a folder of their own, in
 * memory where the host has one for that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chiliad/catalog.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static char folder[64], machine_path[96], events_path[96];

static void require(bool holds, const char *what, const char *text)
{
    if (holds) return;
    (void)fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

static void remove_folder(void)
{
    (void)unlink(machine_path);
    (void)unlink(events_path);
    (void)rmdir(folder);
}

static void make_folder(void)
{
    (void)snprintf(folder, sizeof folder, "%s/chiliad-fuzz-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    require(mkdtemp(folder) != NULL, "cannot make a folder", folder);
    (void)snprintf(machine_path, sizeof machine_path, "%s/t.machine", folder);
    (void)snprintf(events_path, sizeof events_path, "%s/t.events", folder);
    require(atexit(remove_folder) == 0, "cannot clean up", folder);
}

static void write_file(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    require(file && fwrite(bytes, 1, length, file) == length, "cannot write", path);
    require(fclose(file) == 0, "cannot write", path);
}

/* What a machine gives out must be there: every row can be found again by its name, every string
 * can be printed. */
static void look_at(const struct chil_machine *machine)
{
    size_t count;
    const struct chil_event *events = chil_machine_events(machine, &count), *found;
    require(strcmp(chil_machine_name(machine), "t") == 0, "another name",
            chil_machine_name(machine));
    for (size_t i = 0; i < count; i++) {
        size_t strings = strlen(events[i].text) + strlen(events[i].unit);
        for (size_t s = 0; s < events[i].signal_count; s++)
            strings += strlen(events[i].signals[s]);
        require(strings < SIZE_MAX, "strings", events[i].name);
        require(i == 0 || events[i - 1].id < events[i].id, "ids out of order", events[i].name);
        if (events[i].reserved) continue;
        require(chil_machine_find_event(machine, events[i].name, &found, NULL) == 0 &&
                    found == &events[i],
                "not found", events[i].name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char cut[] = "\n%%\n";
    struct chil_machine *machine = NULL;
    struct chil_error err = {0};
    if (!*folder) make_folder();
    const uint8_t *at = memmem(bytes, length, cut, sizeof cut - 1);
    size_t first = at ? (size_t)(at - bytes) + 1 : length,
           rest = at ? first + sizeof cut - 2 : length;
    write_file(machine_path, bytes, first);
    write_file(events_path, bytes + rest, length - rest);
    int status = chil_machine_open(&machine, machine_path, &err);
    if (status)
        require(status < 0 && err.status == status && *err.text && !strchr(err.text, '\n'),
                "no line that says why", err.text);
    else
        look_at(machine);
    chil_machine_free(machine);
    return 0;
}
