/* The engine that executes instructions, by name, and the options that tests give it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "machine/jit/jit.h"
#include "machine/node/node.h"

static const char *const engines[] = {"auto", "interp", "jit", "lockstep"};
enum { AUTO, INTERP, JIT, LOCKSTEP, ENGINES };
enum { STRETCH = 20000 };

static const char *engine_at(const void *table, size_t index)
{
    (void)table;
    return engines[index];
}

static int choose(const char *name, size_t length, struct chil_error *err)
{
    for (int i = 0; i < ENGINES; i++)
        if (strlen(engines[i]) == length && strncmp(name, engines[i], length) == 0) return i;
    char hint[80], word[40];
    (void)snprintf(word, sizeof word, "%.*s", (int)length, name);
    text_hint(hint, sizeof hint, text_nearest(word, NULL, ENGINES, engine_at));
    return chil_error_set(err, CHIL_EINVAL,
                          "there is no engine '%s'%s; use auto, interp, jit or lockstep", word,
                          hint);
}

/* "entries_until_hot=1,limit=65536,wait,stretch=100,unpredictable" */
static int take_options(const char *text, struct jit_options *options, struct chil_error *err)
{
    uint64_t entries_until_hot = 0, limit = 0;
    const struct {
        const char *name;
        uint64_t *value, most;
    } numbers[] = {{"entries_until_hot=", &entries_until_hot, UINT32_MAX},
                   {"limit=", &limit, SIZE_MAX},
                   {"stretch=", &options->lockstep, UINT32_MAX}};
    const struct {
        const char *name;
        bool *value;
    } words[] = {{"wait", &options->wait}, {"unpredictable", &options->unpredictable}};
    while (*text) {
        size_t length = strcspn(text, ",");
        char word[40];
        (void)snprintf(word, sizeof word, "%.*s", (int)length, text);
        bool known = false;
        for (unsigned i = 0; i < sizeof words / sizeof *words && !known; i++)
            if (strcmp(word, words[i].name) == 0) known = *words[i].value = true;
        for (unsigned i = 0; i < sizeof numbers / sizeof *numbers && !known; i++) {
            size_t name = strlen(numbers[i].name);
            known = strncmp(word, numbers[i].name, name) == 0 &&
                    text_to_u64(word + name, numbers[i].value) && *numbers[i].value >= 1 &&
                    *numbers[i].value <= numbers[i].most;
        }
        if (!known)
            return chil_error_set(
                err, CHIL_EINVAL,
                "engine option '%s' is not entries_until_hot=N, limit=BYTES, stretch=CYCLES, wait or unpredictable",
                word);
        text += length + (text[length] == ',');
    }
    options->entries_until_hot = (uint32_t)entries_until_hot;
    options->code_limit = (size_t)limit;
    return 0;
}

int node_engine(struct node *node, const struct node_options *o, bool traced,
                struct core_options *core, struct chil_error *err)
{
    const char *name = o->engine ? o->engine : "auto";
    size_t length = strcspn(name, ":");
    struct jit_options jit = {.thread = o->translation};
    int engine = choose(name, length, err);
    if (engine < 0) return engine;
    int status = take_options(name + length + (name[length] == ':'), &jit, err);
    if (status || engine == INTERP || traced) return status;
    const char *problem = engine == AUTO ? NULL : jit_unavailable();
    if (problem)
        return chil_error_set(err, CHIL_ENOENT, "engine '%s': %s; --engine=interp does without",
                              name, problem);
    if (engine == LOCKSTEP) {
        jit.wait = true;
        jit.report = o->report;
        jit.context = o->report_context;
        if (!jit.lockstep) jit.lockstep = STRETCH;
    } else {
        jit.lockstep = 0;
    }
    node->jit = jit_new(&jit);
    if (!node->jit) return 0;
    core->translator = jit_translator(node->jit);
    return 0;
}
