// The first view of an experiment: what was found, where the cycles went, which functions count, and what was run.
import { JSX } from "preact";
import { useState } from "preact/hooks";
import { CLASSES } from "./colour";
import { Experiment } from "./data";
import { leaves } from "./stacks";
import { wide } from "./picture";
import { Store } from "./state";
import { clean, label, num, percent, short, unitOf } from "./text";

export interface Part { name: string; metric: number; value: number }

// The parts of a metric that add up to it, over the whole program or given call paths; what none of them has is "other".
export function parts(exp: Experiment, metric: number, value: (m: number) => number): Part[] {
  const kids = exp.metrics[metric].children;
  const list = kids.map((k): Part => ({ name: exp.metrics[k].title || exp.metrics[k].name, metric: k, value: value(k) })).filter((p) => p.value !== 0);
  const rest = value(metric) - list.reduce((sum, p) => sum + p.value, 0);
  list.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  if (Math.abs(rest) > 1e-9 * Math.abs(value(metric))) list.push({ name: kids.length ? "itself" : exp.metrics[metric].title, metric, value: rest });
  return list;
}

export function Stack({ list, total, describe }: { list: Part[]; total: number; describe: string }): JSX.Element {
  let x = 0;
  const text = list.map((p) => `${label(p.name, 60)} ${percent((100 * p.value) / total)}`).join(", ");
  return (
    <svg class="stack" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label={`${describe}: ${text}`}>
      <rect x="0" y="0" width="100" height="4" class="ground" />
      {list.map((p, i) => {
        const w = wide((100 * p.value) / total), at = x;
        x += w;
        return <rect key={p.metric + "-" + i} x={at} y="0" width={w} height="4" fill={CLASSES[Math.min(i, 7)]}><title>{label(p.name, 80)}: {num(p.value)} ({percent((100 * p.value) / total)})</title></rect>;
      })}
    </svg>);
}
export function Legend({ list, total, onPick }: { list: Part[]; total: number; onPick?: (metric: number) => void }): JSX.Element {
  return (
    <ul class="legend">
      {list.map((p, i) => (
        <li key={p.metric + "-" + i}><span class="swatch" style={{ background: CLASSES[Math.min(i, 7)] }} aria-hidden="true" />
          {onPick ? <button type="button" class="link" onClick={() => onPick(p.metric)}><bdi>{label(p.name, 60)}</bdi></button> : <bdi>{label(p.name, 60)}</bdi>}
          <b>{percent((100 * p.value) / total)}</b></li>))}
    </ul>);
}

// The children of CYCLES where there are such, else of the heaviest root with children.
export function stackMetric(exp: Experiment): number {
  const cycles = exp.findMetric("CYCLES");
  if (cycles >= 0 && exp.metrics[cycles].children.length) return cycles;
  const roots = exp.metricRoots.filter((m) => exp.metrics[m].children.length);
  return roots[0] ?? exp.selectedMetric;
}

export interface FlatRow { region: number; own: number; whole: number; calls: number[] }
// Regions with the sums of their call paths; a recursive function counts once in its inclusive value.
export function flat(exp: Experiment, metric: number): FlatRow[] {
  const own = exp.byNode(metric, false, null, null), whole = exp.inclusive(own), rows = new Map<number, FlatRow>();
  exp.calls.forEach((c, n) => {
    let row = rows.get(c.region);
    if (!row) rows.set(c.region, (row = { region: c.region, own: 0, whole: 0, calls: [] }));
    row.own += own[n];
    row.calls.push(n);
    let above = c.parent;
    while (above >= 0 && exp.calls[above].region !== c.region) above = exp.calls[above].parent;
    if (above < 0) row.whole += whole[n];
  });
  return [...rows.values()].filter((r) => r.own !== 0 || r.whole !== 0)
    .sort((a, b) => Math.abs(b.own) - Math.abs(a.own) || (exp.regions[a.region].name < exp.regions[b.region].name ? -1 : 1));
}

function facts(exp: Experiment): [string, string][] {
  const a = exp.attributes, hz = Number(a.clock_hz), list: [string, string][] = [];
  if (a.command ?? a.program) list.push(["Command", label(a.command ?? a.program, 200)]);
  if (a.machine) list.push(["Machine", label(exp.machine?.["machine.text"] ?? a.machine, 120)]);
  if (a.wall_time) list.push(["Simulated time", short(Number(a.wall_time)) + " s"]);
  if (a.cycles) list.push(["Cycles", num(Number(a.cycles)) + (hz ? ` at ${num(hz / 1e6)} MHz` : "")]);
  if (a.exit_status) list.push(["Exit status", label(a.exit_status, 20)]);
  list.push(["Size", `${num(exp.metrics.length)} metrics × ${num(exp.calls.length)} call paths × ${num(exp.threads)} thread${exp.threads === 1 ? "" : "s"}`]);
  return list;
}

const FINDINGS = 6;

export function Overview({ store }: { store: Store }): JSX.Element {
  const exp = store.experiment!, metric = exp.selectedMetric, stack = stackMetric(exp), [every, setEvery] = useState(false);
  const goto = (change: Parameters<Store["set"]>[0]): void => { store.set({ view: "trees", ...change }, true); document.getElementById("main")?.focus(); };
  const openTo = (call: number): Set<number> => new Set([...store.state.open.c, ...exp.path(call).slice(0, -1)]);
  const total = metric >= 0 ? exp.total(metric, false, null, null) : 0, functions = metric >= 0 ? flat(exp, metric) : [];
  const below = stack >= 0 ? leaves(exp, stack) : [], sum = (m: number): number => exp.total(m, false, null, null);
  const list = below.length > 1 && below.length <= 8 && below.every((l) => exp.total(l.metric, l.own, null, null) > 0)
    ? below.map((l): Part => ({ name: l.name, metric: l.metric, value: exp.total(l.metric, l.own, null, null) })).sort((a, b) => b.value - a.value)
    : stack >= 0 ? parts(exp, stack, sum) : [];
  const all = stack >= 0 ? exp.total(stack, false, null, null) : 0, ratios = exp.ratios.filter((r) => r.value !== null);
  return (
    <div class="overview">
      <section class="card wide">
        <h2>Findings</h2>
        {exp.findings.length === 0 && <p class="empty">No rule of {exp.specification ? `the specification “${clean(exp.specification)}”` : "a specification"} holds for this program.</p>}
        <ol class="findings">
          {exp.findings.slice(0, every ? 200 : FINDINGS).map((f, i) => (
            <li key={i}><button type="button" class="finding" onClick={() => goto(f.call_path >= 0 ? { calls: new Set([f.call_path]), open: { ...store.state.open, c: openTo(f.call_path) } } : { calls: new Set() })}>
              <span class="share">{percent(100 * f.share)}</span>
              <span class="what"><b><bdi>{f.call_path >= 0 ? label(exp.region(f.call_path).name, 80) : "Whole program"}</bdi></b> {label(f.text, 500)}</span></button></li>))}
        </ol>
        {exp.findings.length > FINDINGS && !every && <button type="button" onClick={() => setEvery(true)}>Show {exp.findings.length - FINDINGS} more</button>}
        {exp.findingsNeed && <p class="dim">More rules can be tried when {clean(exp.findingsNeed)} is on.</p>}
      </section>
      {stack >= 0 && <section class="card wide">
        <h2>Where the {unitOf(exp.metrics[stack].unit)} went</h2>
        <Stack list={list} total={all} describe={exp.metrics[stack].title} />
        <Legend list={list} total={all} onPick={(m) => { const open = new Set([stack]); for (let at = exp.metrics[m].parent; at >= 0; at = exp.metrics[at].parent) open.add(at); goto({ metric: m, open: { ...store.state.open, m: open } }); }} />
        <p class="dim">{num(all)} {unitOf(exp.metrics[stack].unit)} in all, of <bdi>{label(exp.metrics[stack].title)}</bdi>.</p>
      </section>}
      {metric >= 0 && <section class="card">
        <h2>Functions by own <bdi>{label(exp.metrics[metric].title, 40)}</bdi></h2>
        <table class="plain"><thead><tr><th scope="col">Function</th><th scope="col" class="n">own</th><th scope="col" class="n">share</th></tr></thead><tbody>
          {functions.slice(0, 10).map((f) => {
            const heavy = f.calls.reduce((a, b) => (exp.byNode(metric, false, null, null)[b] > exp.byNode(metric, false, null, null)[a] ? b : a));
            return (<tr key={f.region}><th scope="row"><button type="button" class="link" onClick={() => goto({ calls: new Set([heavy]), open: { ...store.state.open, c: openTo(heavy) } })}><bdi>{label(exp.regions[f.region].name, 60)}</bdi></button></th>
              <td class="n">{num(f.own)}</td><td class="n">{percent(total ? (100 * f.own) / total : NaN)}</td></tr>);
          })}</tbody></table>
        {functions.length > 10 && <p class="dim">of {functions.length} functions</p>}
      </section>}
      <section class="card">
        <h2>The run</h2>
        <dl class="facts">{facts(exp).map(([k, v]) => <div key={k}><dt>{k}</dt><dd><bdi>{v}</bdi></dd></div>)}</dl>
      </section>
      {ratios.length > 0 && <section class="card wide">
        <h2>Ratios</h2>
        <ul class="ratios">{ratios.map((r) => <li key={r.name} title={clean(r.formula).slice(0, 400)}><b data-ratio={r.name} data-value={r.value}>{r.partial ? "~" : ""}{num(r.value!)}</b> <span>{label(r.text || r.name, 100)}{r.unit ? `, ${clean(r.unit)}` : ""}</span></li>)}</ul>
      </section>}
    </div>);
}
