// Where the cycles of each function went: stacks of the leaves of a hierarchy, in cycles per instruction, shares or counts.
import { JSX } from "preact";
import { useState } from "preact/hooks";
import { CLASSES } from "./colour";
import { Experiment } from "./data";
import { flat, stackMetric } from "./overview";
import { Choice, Empty, Scroll, wide } from "./picture";
import { Store } from "./state";
import { label, num, percent, unitOf } from "./text";

export interface Leaf { name: string; metric: number; own: boolean }
// The leaves below a metric, and what inner metrics have beyond their children; the largest seven, the rest is one more.
export function leaves(exp: Experiment, metric: number): Leaf[] {
  const out: Leaf[] = [], stack = [metric];
  while (stack.length) {
    const at = stack.pop()!, kids = exp.metrics[at].children, all = Math.abs(exp.total(at, false, null, null));
    if (!kids.length || Math.abs(exp.total(at, true, null, null)) > 1e-9 * all) out.push({ name: exp.metrics[at].title || exp.metrics[at].name, metric: at, own: kids.length > 0 });
    for (const k of [...kids].reverse()) stack.push(k);
  }
  return out.filter((l) => exp.total(l.metric, l.own, null, null) !== 0);
}

const BY: [string, string][] = [["share", "share of the function"], ["cpi", "per instruction"], ["sum", "counts"]];

export function Stacks({ store }: { store: Store }): JSX.Element {
  const exp = store.experiment!, s = store.state, [find, setFind] = useState("");
  const instructions = Math.max(exp.findMetric("INSTRUCTION"), exp.findMetric("PAPI_TOT_INS"));
  const wanted = s.extra.stack ? exp.findMetric(s.extra.stack) : -1, metric = wanted >= 0 ? wanted : stackMetric(exp), by = s.extra.by ?? (instructions >= 0 ? "cpi" : "share");
  const roots = exp.metrics.map((m, i): [string, string] => [exp.metrics[i].name, label(m.title || m.name, 60)]).filter((_, i) => exp.metrics[i].children.length);
  const set = (key: string, value: string): void => store.set({ extra: { ...s.extra, [key]: value } }, true);
  if (metric < 0) return <Empty>This experiment has no metric with parts.</Empty>;
  const all = leaves(exp, metric), size = (l: Leaf): number => Math.abs(exp.total(l.metric, l.own, null, null));
  const order = [...all].sort((a, b) => size(b) - size(a)), list = order.slice(0, order.length > 8 ? 7 : 8), rest = order.slice(list.length);
  const columns = [...list.map((l) => ({ name: l.name, metric: l.metric, leaf: [l] })), ...(rest.length ? [{ name: `${rest.length} others`, metric: -1, leaf: rest }] : [])];
  const vector = new Map(columns.map((c) => [c, c.leaf.map((l) => exp.byNode(l.metric, l.own, null, null))]));
  const total = exp.total(metric, false, null, null), ins = instructions >= 0 ? exp.byNode(instructions, false, null, null) : null;
  const functions = flat(exp, metric).filter((f) => !find || exp.regions[f.region].name.toLowerCase().includes(find.toLowerCase()));
  const of = (calls: number[], v: Float64Array): number => calls.reduce((sum, n) => sum + v[n], 0);
  const rows = functions.slice(0, 60).map((f) => {
    const parts = columns.map((c) => vector.get(c)!.reduce((sum, v) => sum + of(f.calls, v), 0)), count = ins ? of(f.calls, ins) : NaN;
    return { f, parts, count, base: by === "cpi" ? count : by === "share" ? f.own / 100 : 1 };
  });
  const whole = { parts: columns.map((c) => c.leaf.reduce((sum, l) => sum + exp.total(l.metric, l.own, null, null), 0)), base: by === "cpi" ? exp.total(instructions, false, null, null) : by === "share" ? total / 100 : 1 };
  // A function of few instructions does not stretch the scale.
  const most = by === "share" ? 100 : Math.max(...rows.filter((r) => by === "sum" || r.count > 0.001 * whole.base).map((r) => r.parts.reduce((a, b) => a + Math.max(0, b), 0) / r.base), by === "sum" ? 0 : total / whole.base, 1e-300);
  const show = (v: number): string => (Number.isFinite(v) ? (by === "share" ? percent(v) : by === "cpi" ? v.toFixed(3) : num(v)) : "–");
  const bar = (parts: number[], base: number, name: string): JSX.Element => {
    let x = 0;
    return (
      <svg class="stack thin" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label={`${label(name, 60)}: ${columns.map((c, i) => `${c.name} ${show(parts[i] / base)}`).join(", ")}`}>
        {parts.map((v, i) => { const w = base > 0 ? wide(Math.min(100 - x, (100 * v) / base / most)) : 0, at = x; x += w; return <rect key={i} x={at} y="0" width={w} height="4" fill={CLASSES[i]}><title>{`${columns[i].name}: ${show(v / base)}`}</title></rect>; })}
      </svg>);
  };
  const unit = unitOf(exp.metrics[metric].unit);
  return (
    <div class="listing">
      <div class="bar" role="toolbar" aria-label="What the stacks show">
        <Choice name="Metric" value={exp.metrics[metric].name} list={roots} onPick={(v) => set("stack", v)} />
        <Choice name="As" value={by} list={BY.filter(([id]) => id !== "cpi" || instructions >= 0)} onPick={(v) => set("by", v)} />
        <label>Find <input type="search" value={find} onInput={(e) => setFind(e.currentTarget.value)} placeholder="function" /></label>
      </div>
      <section class="card">
        <h2>{by === "cpi" ? <>{unit} per instruction, by function</> : <>Own <bdi>{label(exp.metrics[metric].title, 40)}</bdi> of each function</>}</h2>
        <ul class="legend">{columns.map((c, i) => <li key={i}><span class="swatch" style={{ background: CLASSES[i] }} aria-hidden="true" />{c.metric < 0 ? c.name
          : <button type="button" class="link" onClick={() => store.set({ view: "trees", metric: c.metric }, true)}><bdi>{label(c.name, 60)}</bdi></button>} <b>{show(whole.parts[i] / whole.base)}</b></li>)}</ul>
        <Scroll label="Stacks by function">
          <table class="plain stacks"><thead><tr><th scope="col">Function</th><th scope="col" class="n">{by === "cpi" ? "CPI" : by === "share" ? "share of all" : unit}</th><th scope="col" class="wide-cell">parts</th><th scope="col" class="n">own {unit}</th></tr></thead>
            <tbody>
              <tr class="sum"><th scope="row">Whole program</th><td class="n">{by === "share" ? percent(100) : show(total / whole.base)}</td><td>{bar(whole.parts, whole.base, "Whole program")}</td><td class="n">{num(total)}</td></tr>
              {rows.map(({ f, parts, base }) => (
                <tr key={f.region} data-function={exp.regions[f.region].name} data-parts={parts.join(" ")}><th scope="row"><button type="button" class="link" onClick={() => store.set(exp.code ? { view: "source", fn: exp.regions[f.region].name } : { view: "trees", calls: new Set(f.calls) }, true)}><bdi>{label(exp.regions[f.region].name, 48)}</bdi></button></th>
                  <td class="n">{by === "share" ? percent((100 * f.own) / total) : show(f.own / base)}</td><td>{bar(parts, base, exp.regions[f.region].name)}</td><td class="n">{num(f.own)}</td></tr>))}
            </tbody></table></Scroll>
        {functions.length > 60 && <p class="dim">The 60 heaviest of {num(functions.length)} functions.</p>}
      </section>
    </div>);
}
