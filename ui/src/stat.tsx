// Counts of a run (`stat -j`, or a running program): cycles, derived metrics, every counter with cores and nodes.
import { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { ResultDocument } from "./data";
import { Grid } from "./grid";
import { Choice, Scroll } from "./picture";
import { Store } from "./state";
import { csv, label, num, short } from "./text";
import { copy, Exactness } from "./trees";

export interface StatCounter { name: string; value: number; unit?: string; exactness?: string; cores?: (number | null)[]; nodes?: number[]; text?: string }
export interface StatRatio { name: string; metric?: string; value: number | null; unit?: string; formula?: string; cores?: (number | null)[] }
export interface Stat {
  machine: string; program: string | null; exit_status: number | null; runs?: number; instructions: number; cycles: number; seconds: number; busy_cycles: number[]; laws?: number; partial?: string;
  counters: StatCounter[]; derived: StatRatio[]; torus?: number[]; mesh?: boolean[]; nodes?: { at: number[]; exit_status: number; cycles: number; instructions: number }[];
}
const MOST = 1200;

export function Tile({ name, value, unit }: { name: string; value: string; unit?: string }): JSX.Element {
  return <div class="tile"><dt>{name}</dt><dd>{value}{unit && <span class="unit"> {unit}</span>}</dd></div>;
}

export function StatView({ store }: { store: Store }): JSX.Element {
  return <StatCounts store={store} d={(store.document as ResultDocument).result as Stat} />;
}

export function StatCounts({ store, d, rates }: { store: Store; d: Stat; rates?: Map<string, number> }): JSX.Element {
  const [find, setFind] = useState(""), [cores, setCores] = useState(false), [zero, setZero] = useState(false), [most, setMost] = useState(false);
  const want = find.toLowerCase(), busy = d.busy_cycles.reduce((a, b) => a + b, 0), several = d.busy_cycles.length > 1 && d.counters.some((c) => c.cores);
  const rows = d.counters.filter((c) => (zero || c.value) && (!want || (c.name + " " + (c.unit ?? "") + " " + (c.text ?? "")).toLowerCase().includes(want)));
  if (most) rows.sort((a, b) => b.value - a.value);
  const text = (): string => ["name,value,unit,exactness", ...rows.map((c) => [csv(c.name), c.value, csv(c.unit ?? ""), c.exactness ?? ""].join(","))].join("\n") + "\n";
  return (
    <div class="listing">
      <dl class="tiles">
        <Tile name="Program" value={label(d.program ?? "–", 60)} /><Tile name="Machine" value={label(d.machine, 30)} />
        <Tile name="Cycles" value={num(d.cycles)} /><Tile name="Simulated time" value={short(d.seconds)} unit="s" /><Tile name="Instructions" value={num(d.instructions)} />
        {busy > 0 && <Tile name="Per busy cycle" value={(d.instructions / busy).toFixed(3)} unit="instructions" />}
        <Tile name="Exit status" value={d.partial ? label(d.partial, 40) : String(d.exit_status ?? "running")} />{d.laws ? <Tile name="Laws checked, and held" value={num(d.laws)} /> : null}
      </dl>
      {d.nodes && d.torus && <Nodes store={store} d={d} />}
      {d.derived.length > 0 && <section class="card"><h2>Derived</h2>
        <ul class="ratios">{d.derived.map((r) => <li key={r.name} title={label(r.formula ?? "", 300)}><b data-derived={r.metric ?? r.name} data-value={r.value}>{r.value === null ? "–" : num(r.value)}</b> <span>{label(r.name, 100)}{r.unit ? `, ${label(r.unit, 60)}` : ""}<br /><code class="dim">{label(r.formula ?? "", 120)}</code></span></li>)}</ul></section>}
      <section class="card table-card">
        <h2>Counters</h2>
        <div class="bar" role="toolbar" aria-label="Which counters">
          <label>Find <input type="search" value={find} onInput={(e) => setFind(e.currentTarget.value)} placeholder="name or group" /></label>
          <label><input type="checkbox" checked={most} onChange={(e) => setMost(e.currentTarget.checked)} /> largest first</label>
          <label><input type="checkbox" checked={zero} onChange={(e) => setZero(e.currentTarget.checked)} /> those that are zero</label>
          {several && <label><input type="checkbox" checked={cores} onChange={(e) => setCores(e.currentTarget.checked)} /> each core</label>}
          <button type="button" onClick={() => copy(text())}>Copy as CSV</button>
          <span role="status" class="dim">{rows.length} of {d.counters.length}</span>
        </div>
        <Scroll label="Counters"><table class="plain"><thead><tr><th scope="col">Counter</th><th scope="col" class="n">value</th><th scope="col">group</th><th scope="col">exactness</th>{rates && <th scope="col" class="n">per simulated second</th>}{cores && d.busy_cycles.map((_, i) => <th scope="col" class="n" key={i}>core {i}</th>)}</tr></thead>
          <tbody>{rows.slice(0, MOST).map((c) => <tr key={c.name}><th scope="row"><bdi>{label(c.name, 60)}</bdi></th><td class="n" data-counter={c.name} data-value={c.value}>{num(c.value)}</td><td class="dim">{label(c.unit ?? "", 40)}</td><td><Exactness word={c.exactness ?? ""} /></td>{rates && <td class="n">{rates.has(c.name) ? short(rates.get(c.name)!) : "–"}</td>}{cores && d.busy_cycles.map((_, i) => <td class="n" key={i}>{c.cores?.[i] == null ? "–" : num(c.cores[i]!)}</td>)}</tr>)}</tbody></table></Scroll>
      </section>
      <p class="dim">Every number is of {d.runs && d.runs > 1 ? `${d.runs} runs that counted the same` : "one run"} of this program on this machine; the same run gives the same numbers.</p>
    </div>);
}

// A count of every node, at the nodes' places in the torus.
function Nodes({ store, d }: { store: Store; d: Stat }): JSX.Element {
  const s = store.state, counters = d.counters.filter((c) => c.nodes), which = s.extra.event ?? "";
  const chosen = counters.find((c) => c.name === which), values = chosen?.nodes ?? d.nodes!.map((n) => (which === "instructions" ? n.instructions : n.cycles));
  const places = useMemo(() => ({ dimensions: ["x", "y", "z"].map((name, i) => ({ name, size: d.torus![i], periodic: !d.mesh?.[i] })), at: d.nodes!.map((n) => n.at), names: d.nodes!.map((n, i) => `node ${i}, exit status ${n.exit_status}`), values }), [d, which]);
  const extra = (key: string, value: string): void => store.set({ extra: { ...s.extra, [key]: value } }, true);
  return (
    <section class="card nodes"><h2>{num(d.nodes!.length)} nodes, a torus of {d.torus!.map((n, i) => n + (d.mesh?.[i] ? "m" : "")).join(" × ")}</h2>
      <div class="bar"><Choice name="Count" value={chosen ? which : which || "cycles"} list={[["cycles", "cycles"], ["instructions", "instructions"], ...counters.filter((c) => c.value).map((c): [string, string] => [c.name, label(c.name, 60)])]} onPick={(v) => extra("event", v)} /></div>
      <Grid name={label(which || "cycles", 60)} unit={which === "" || which === "cycles" ? "cycles" : which} places={places} selected={new Set()} extra={s.extra} onExtra={extra} onSelect={() => undefined} />
    </section>);
}
