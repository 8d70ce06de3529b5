// The values of threads at their places: cores in nodes, and the Cartesian topologies of the file.
import { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { Calc } from "./calc";
import { Experiment } from "./data";
import { Dimension, Grid } from "./grid";
import { Choice } from "./picture";
import { Store } from "./state";
import { label, unitOf } from "./text";

interface Shape { name: string; dimensions: Dimension[]; at: number[][] }

// Threads in the nodes that they ran on: the nodes as a plane, the threads of each as its tiles.
function nodesOf(exp: Experiment): Shape {
  const nodes = new Map<number, number[]>();
  exp.threadPlace.forEach((place, thread) => {
    let at = place;
    while (at >= 0 && exp.places[at].level !== "node") at = exp.places[at].parent;
    nodes.set(at, [...(nodes.get(at) ?? []), thread]);
  });
  const most = Math.max(1, ...[...nodes.values()].map((l) => l.length)), wide = Math.ceil(Math.sqrt(most)), tall = Math.ceil(most / wide);
  const across = Math.max(1, Math.ceil(Math.sqrt((nodes.size * tall) / wide))), at: number[][] = [], gap = nodes.size > 1 ? 1 : 0;
  let n = 0;
  for (const threads of nodes.values()) {
    threads.forEach((t, i) => { at[t] = [(n % across) * (wide + gap) + (i % wide), Math.floor(n / across) * (tall + gap) + Math.floor(i / wide)]; });
    n++;
  }
  return { name: "threads in nodes", dimensions: [{ name: "column", size: across * (wide + gap) - gap, periodic: false }, { name: "row", size: Math.ceil(n / across) * (tall + gap) - gap, periodic: false }], at };
}

export function Topology({ store }: { store: Store }): JSX.Element {
  const exp = store.experiment!, s = store.state, metric = exp.metrics[s.metric];
  const shapes = useMemo(() => [...exp.topologies.map((t): Shape => ({ name: t.name || "topology", dimensions: t.dimensions, at: t.threads })), nodesOf(exp)], [exp]);
  const best = shapes.findIndex((t) => t.dimensions.length > 1), which = Math.min(Number(s.extra.topology ?? Math.max(0, best)) || 0, shapes.length - 1), shape = shapes[which];
  const calc = new Calc(exp, { ...s, order: "mcs" }), left = calc.left("s");
  const values = exp.byThread(s.metric, calc.own, left.nodes, null);
  const places = useMemo(() => ({ dimensions: shape.dimensions, at: shape.at, values, names: exp.threadPlace.map((place) => {
    const thread = exp.places[place], process = exp.places[thread.parent], node = process && exp.places[process.parent];
    return [node?.name, process?.name, thread.name].filter(Boolean).join(", ");
  }) }), [shape, values]);
  const selected = new Set<number>();
  exp.threadPlace.forEach((place, thread) => { for (let at = place; at >= 0; at = exp.places[at].parent) if (s.places.has(at)) selected.add(thread); });
  const extra = (key: string, value: string): void => { const next = { ...s.extra }; if (value) next[key] = value; else delete next[key]; store.set({ extra: next }, true); };
  const metrics = exp.metrics.map((m, i): [string, string] => [String(i), label(m.title || m.name, 60)]).filter((_, i) => exp.metrics[i].cells);
  return (
    <div class="topology-view">
      <div class="bar" role="toolbar" aria-label="What is shown">
        <Choice name="Metric" value={String(s.metric)} list={metrics} onPick={(v) => store.set({ metric: Number(v) }, true)} />
        <Choice name="Topology" value={String(which)} list={shapes.map((t, i): [string, string] => [String(i), `${label(t.name, 40)} (${t.dimensions.map((d) => d.size).join(" × ")})`])} onPick={(v) => store.set({ extra: { ...s.extra, topology: v } }, true)} />
        <span class="dim">{s.calls.size ? "of the selected call paths" : "of all call paths"}</span>
        {s.calls.size > 0 && <button type="button" onClick={() => store.set({ calls: new Set() }, true)}>All call paths</button>}
      </div>
      <Grid name={label(metric.title || metric.name, 60)} unit={unitOf(metric.unit)} places={places} selected={selected} extra={s.extra} onExtra={extra}
        onSelect={(items) => { const chosen = new Set(items.map((t) => exp.threadPlace[t])), same = chosen.size === s.places.size && [...chosen].every((n) => s.places.has(n)); store.set({ places: same ? new Set() : chosen }, true); }} />
    </div>);
}
