// Where a number comes from: the formula, the counters in it with their own values, and the run that counted them.
import { JSX } from "preact";
import { Experiment } from "./data";
import { Store } from "./state";
import { clean, label, num, percent, unitOf } from "./text";
import { Exactness } from "./trees";

// The metrics that a formula names, in its order. Names may contain '$'.
export function named(exp: Experiment, formula: string): { name: string; metric: number }[] {
  const seen = new Set<string>(), out: { name: string; metric: number }[] = [];
  for (const [word] of formula.matchAll(/[A-Za-z_][A-Za-z0-9_.$:]*/g)) {
    if (seen.has(word)) continue;
    seen.add(word);
    const metric = exp.metrics.findIndex((m) => m.name === word || m.title === word || (m.from === "measured" && m.formula === word));
    if (metric >= 0) out.push({ name: word, metric });
  }
  return out;
}

function counted(exp: Experiment): string {
  const a = exp.attributes, text: string[] = [];
  if (a.command ?? a.program) text.push(`${label(a.command ?? a.program, 120)}`);
  if (a.machine) text.push(`on ${label(a.machine, 60)}`);
  if (a.program_hash) text.push(`program ${label(a.program_hash, 40)}`);
  if (a.counted) text.push(`counters: ${label(a.counted, 60)}`);
  if (a.chiliad_version) text.push(`Chiliad ${label(a.chiliad_version, 20)}`);
  return text.join(", ") || "a file of another program: " + label(exp.file, 120);
}

export function Pedigree({ store, metric }: { store: Store; metric: number }): JSX.Element {
  const exp = store.experiment!, m = exp.metrics[metric], used = m.from === "measured" ? [] : m.from === "composed" ? m.children.map((k) => ({ name: exp.metrics[k].name, metric: k })) : named(exp, m.formula);
  const parent = m.parent >= 0 ? exp.total(m.parent, false, null, null) : 0;
  const goto = (to: number): void => { const open = new Set(store.state.open.m); for (let at = exp.metrics[to].parent; at >= 0; at = exp.metrics[at].parent) open.add(at); if (exp.metrics[to].apart) open.add(-2); store.set({ metric: to, open: { ...store.state.open, m: open } }, true); };
  return (
    <details class="pedigree"><summary>Where this number comes from</summary>
      <dl>
        <div><dt>Value</dt><dd><b>{num(exp.total(metric, false, null, null))}</b> {unitOf(m.unit)}{parent ? `, ${percent((100 * exp.total(metric, false, null, null)) / parent)} of ${label(exp.metrics[m.parent].title, 60)}` : ""}</dd></div>
        <div><dt>{m.from === "measured" ? "Counter" : m.from === "composed" ? "Sum of" : "Formula"}</dt><dd><code>{label(m.formula || m.name, 400)}</code></dd></div>
        <div><dt>Counted by</dt><dd><bdi>{counted(exp)}</bdi>{m.runs > 1 ? `, ${m.runs} runs, from ${num(m.low)} to ${num(m.high)}` : ", one run"}</dd></div>
        {m.partial && <div><dt>Missing</dt><dd>Parts of it were not counted in this experiment: the true value is larger or smaller.</dd></div>}
      </dl>
      {used.length > 0 && <table class="plain"><caption>{m.from === "composed" ? "The parts" : "The counters in the formula"}</caption><tbody>{used.map((u) => (
        <tr key={u.name}><th scope="row"><button type="button" class="link" onClick={() => goto(u.metric)}>{clean(u.name).slice(0, 80)}</button></th><td class="n">{num(exp.total(u.metric, false, null, null))}</td><td>{exp.metrics[u.metric].from}</td><td><Exactness word={exp.metrics[u.metric].exactness} /></td><td class="text">{label(exp.metrics[u.metric].text, 160)}</td></tr>))}</tbody></table>}
    </details>);
}
