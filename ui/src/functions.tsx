// Functions with their callers or what they call: the call tree turned upside down, or merged from a function on.
// A row stands for the call paths of a function at the top; below it they are split by who called them, or followed to what they
// call. Rows are made when their parent is opened.
import { JSX } from "preact";
import { useState } from "preact/hooks";
import { Calc, Row } from "./calc";
import { Experiment } from "./data";
import { flat } from "./overview";
import { Choice } from "./picture";
import { Store } from "./state";
import { copy } from "./trees";
import { clean, csv, label, unitOf } from "./text";
import { Tree } from "./tree";

export type Way = "callers" | "callees";

// `of`: call paths whose values the row has; `at`: where each is now on its way up. Callees need only `at`.
interface Node { key: string; name: string; region: number; of: number[]; at: number[]; value: number }

// Sums of call paths, each once: what is below another of them is in that one's inclusive value.
function inclusiveSum(exp: Experiment, whole: Float64Array, calls: number[]): number {
  const all = new Set(calls);
  return calls.reduce((sum, n) => {
    for (let up = exp.calls[n].parent; up >= 0; up = exp.calls[up].parent) if (all.has(up)) return sum;
    return sum + whole[n];
  }, 0);
}

export class Inverted {
  private made = new Map<string, Node[]>();
  constructor(readonly exp: Experiment, private metric: number, readonly way: Way, private own: Float64Array, private byModule: boolean) {
    this.whole = exp.inclusive(own);
  }
  readonly whole: Float64Array;

  value(of: number[]): number {
    return this.way === "callers" ? of.reduce((sum, n) => sum + this.own[n], 0) : inclusiveSum(this.exp, this.whole, of);
  }
  private node(above: string, name: string, region: number, of: number[], at: number[]): Node {
    return { key: above + "\n" + name, name, region, of, at, value: this.value(of) };
  }
  private sorted(list: Node[]): Node[] {
    return list.filter((n) => n.value !== 0).sort((a, b) => Math.abs(b.value) - Math.abs(a.value) || (a.name < b.name ? -1 : 1));
  }
  roots(): Node[] {
    const { exp } = this, functions = flat(exp, this.metric);
    if (!this.byModule) return this.sorted(functions.map((f) => this.node("", exp.regions[f.region].name, f.region, f.calls, f.calls)));
    const modules = new Map<string, number[]>();
    for (const f of functions) { const name = exp.regions[f.region].module || "(no module)"; modules.set(name, [...(modules.get(name) ?? []), ...f.calls]); }
    return this.sorted([...modules].map(([name, calls]) => this.node("", name, -1, calls, calls)));
  }
  children(parent: Node): Node[] {
    let list = this.made.get(parent.key);
    if (list) return list;
    const groups = new Map<number, { of: number[]; at: number[] }>(), { exp } = this;
    const put = (region: number, of: number, at: number): void => {
      const group = groups.get(region) ?? { of: [], at: [] };
      group.of.push(of);
      group.at.push(at);
      groups.set(region, group);
    };
    if (parent.region < 0) parent.of.forEach((n) => put(exp.calls[n].region, n, n));
    else if (this.way === "callers") parent.at.forEach((n, i) => { const up = exp.calls[n].parent; if (up >= 0) put(exp.calls[up].region, parent.of[i], up); });
    else parent.at.forEach((n) => exp.calls[n].children.forEach((k) => put(exp.calls[k].region, k, k)));
    list = this.sorted([...groups].map(([region, g]) => this.node(parent.key, exp.regions[region].name, region, g.of, g.at)));
    this.made.set(parent.key, list);
    return list;
  }
}

const WAYS: [string, string][] = [["callers", "callers of"], ["callees", "calls of"]];
const MOST = 20000;

export function Functions({ store }: { store: Store }): JSX.Element {
  const s = store.state, exp = store.experiment!, way: Way = s.extra.way === "callees" ? "callees" : "callers", byModule = s.extra.group === "module";
  const [open, setOpen] = useState(new Set<string>()), [picked, pick] = useState(""), [find, setFind] = useState("");
  const calc = new Calc(exp, { ...s, calls: new Set(), order: "msc" }), metric = exp.metrics[s.metric], threads = calc.left("c").threads;
  const own = exp.byNode(s.metric, false, null, threads), tree = new Inverted(exp, s.metric, way, own, byModule), total = exp.total(s.metric, false, null, threads);
  const rows: Row[] = [], nodes: Node[] = [], ids = new Map<string, number>(), want = find.toLowerCase();
  const walk = (list: Node[], depth: number): void => list.forEach((n, i) => {
    if (rows.length >= MOST) return;
    const isOpen = open.has(n.key), children = tree.children(n).length > 0;
    ids.set(n.key, nodes.length);
    nodes.push(n);
    rows.push({ id: nodes.length - 1, depth, name: n.name, children, open: isOpen && children, whole: n.value, value: n.value,
      percent: total ? (100 * n.value) / total : NaN, position: i + 1, siblings: list.length, shown: true });
    if (isOpen) walk(tree.children(n), depth + 1);
  });
  walk(tree.roots().filter((n) => !want || n.name.toLowerCase().includes(want)), 0);
  const extra = (key: string, v: string): void => { setOpen(new Set()); store.set({ extra: { ...s.extra, [key]: v } }, true); };
  const change = (keys: string[], on: boolean): void => { const next = new Set(open); keys.forEach((key) => (on ? next.add(key) : next.delete(key))); setOpen(next); };
  const heaviest = (n: Node): string[] => {
    const keys: string[] = [];
    for (let at: Node | undefined = n; at && keys.length < 1000; at = tree.children(at)[0]) keys.push(at.key);
    return keys;
  };
  const metrics = exp.metrics.map((m, i): [string, string] => [String(i), label(m.title || m.name, 60)]).filter((_, i) => exp.metrics[i].cells);
  const text = (): string => ["name,value,percent", ...rows.map((r) => [csv("  ".repeat(r.depth) + clean(r.name)), r.value, Number.isNaN(r.percent) ? "" : r.percent].join(","))].join("\n") + "\n";
  const chosen = nodes.find((n) => n.key === picked);
  return (
    <div class="functions">
      <div class="bar" role="toolbar" aria-label="What is listed">
        <Choice name="Metric" value={String(s.metric)} list={metrics} onPick={(v) => store.set({ metric: Number(v) }, true)} />
        <Choice name="Below a function" value={way} list={WAYS.map(([id, name]): [string, string] => [id, name.replace(/ of$/, "")])} onPick={(v) => extra("way", v)} />
        <Choice name="Grouped by" value={byModule ? "module" : "function"} list={[["function", "function"], ["module", "module"]]} onPick={(v) => extra("group", v)} />
        <label>Find <input type="search" value={find} onInput={(e) => setFind(e.currentTarget.value)} placeholder={byModule ? "module" : "function"} /></label>
        <button type="button" onClick={() => copy(text())}>Copy as CSV</button>
      </div>
      <p class="dim">{way === "callers" ? "Each row: what the function at the top counted itself, when it was called this way." : "Each row: what was counted below, in all places where this is called so; a recursive call once."}</p>
      <section class="pane" aria-label="Functions">
        <Tree name="Functions" id="tree-f" rows={rows} selected={new Set(chosen ? [ids.get(chosen.key)!] : [])} showPercent={true}
          valueHead={metric ? unitOf(metric.unit) || "value" : "value"} percentHead="of the whole program" highest={Math.abs(total)} found={new Set()}
          title={(id) => label(nodes[id].key.trim().split("\n").join(way === "callers" ? " ← " : " → "), 400)}
          onToggle={(id, on) => change([nodes[id].key], on)} onSelect={(id) => pick(nodes[id].key === picked ? "" : nodes[id].key)}
          onSubtree={(id) => change([nodes[id].key, ...tree.children(nodes[id]).map((n) => n.key)], true)} onLargest={(id) => change(heaviest(nodes[id]), true)} onMove={() => undefined} />
      </section>
      {chosen && <p class="under"><bdi>{label(chosen.name, 100)}</bdi>: {chosen.at.length} call path{chosen.at.length === 1 ? "" : "s"}.{" "}
        <button type="button" class="link" onClick={() => store.set({ view: "trees", calls: new Set(chosen.at.slice(0, 60)), open: { ...s.open, c: new Set([...s.open.c, ...chosen.at.slice(0, 60).flatMap((n) => exp.path(n).slice(0, -1))]) } }, true)}>Show {chosen.at.length > 60 ? "60 of them" : "them"} in the trees</button></p>}
    </div>);
}
