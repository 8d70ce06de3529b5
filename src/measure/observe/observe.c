/* Makes the observers that a run wants and attaches them to its node. */
#include "measure/observe/observe.h"

#include "measure/observe/observe_names.h"
#include "measure/observe/observe_symbols.h"

void observe_init(struct observe *observe, struct node *node,
                  const struct chil_run_options *options)
{
    *observe = (struct observe){.node = node, .options = *options};
    observe->trace = observe_trace_new(observe);
    observe->symbols = observe_symbols_new();
    observe->names = observe_names_new(observe);
    observe->record = observe_record_new(observe);
    observe->code = observe_code_new(observe);
}

/* The order is that in which they are notified. */
void observe_attach(struct observe *observe)
{
    observe_trace_attach(observe);
    observe_record_attach(observe);
    observe_mpi_attach(observe);
    observe_code_attach(observe);
    observe->counters = observe_counters_new(observe->node);
    observe->events = observe_events_new(observe->node);
    observe->transactions = observe_transactions_new(observe);
}

void observe_fini(struct observe *observe)
{
    observe_transactions_free(observe->transactions);
    observe_events_free(observe->events);
    observe_counters_free(observe->counters);
    observe_mpi_free(observe->mpi);
    observe_code_free(observe->code);
    observe_record_free(observe->record);
    observe_names_free(observe->names);
    observe_symbols_free(observe->symbols);
    observe_trace_free(observe->trace);
}
