// The view of three linked trees: metrics, call paths, system. A selection limits the trees to its right.
import { JSX } from "preact";
import { useState } from "preact/hooks";
import { Calc, MODES, Row } from "./calc";
import { even, gradient } from "./colour";
import { Experiment } from "./data";
import { heaviest, OTHERS, Pane, pathText, Store } from "./state";
import { clean, csv, label, num, percent, unitOf } from "./text";
import { ratioRange } from "./flame";
import { Pedigree } from "./pedigree";
import { Choice, Scale } from "./picture";
import { RatioColumn, Tree } from "./tree";

const NAMES: Record<Pane, string> = { m: "Metrics", c: "Call paths", s: "System" };
const ORDERS: [string, string][] = ["mcs", "msc", "cms", "csm", "smc", "scm"]
  .map((o) => [o, [...o].map((p) => NAMES[p as Pane].toLowerCase()).join(" → ")]);

function toggled(set: Set<number>, id: number, on: boolean): Set<number> {
  const next = new Set(set);
  if (on) next.add(id); else next.delete(id);
  return next;
}

function subtree(pane: Pane, exp: Experiment, id: number): number[] {
  const kids = (n: number): number[] => pane === "m" ? (n === OTHERS ? exp.apart : exp.metrics[n].children) : pane === "c" ? exp.calls[n].children : exp.places[n].children;
  const out: number[] = [], stack = [id];
  while (stack.length) {
    const n = stack.pop()!;
    if (!kids(n).length) continue;
    out.push(n);
    for (const k of kids(n)) stack.push(k);
  }
  return out;
}

// Ids whose names contain the text, and what has to be open to see them; at most 500.
function search(pane: Pane, exp: Experiment, text: string): { found: Set<number>; open: Set<number> } {
  const want = text.toLowerCase(), found = new Set<number>(), open = new Set<number>();
  const list: { name: string; parent: number; apart?: boolean }[] = pane === "m" ? exp.metrics.map((m) => ({ name: m.title + " " + m.name, parent: m.parent, apart: m.apart }))
    : pane === "c" ? exp.calls.map((c) => ({ name: exp.regions[c.region].name, parent: c.parent })) : exp.places;
  for (let i = 0; i < list.length && found.size < 500; i++) {
    if (!list[i].name.toLowerCase().includes(want)) continue;
    found.add(i);
    if (list[i].apart) open.add(OTHERS);
    for (let at = list[i].parent; at >= 0; at = list[at].parent) open.add(at);
  }
  return { found, open };
}

export function Trees({ store }: { store: Store }): JSX.Element {
  const s = store.state, exp = store.experiment!, others = store.data.documents.filter((d): d is Experiment => d instanceof Experiment && d !== exp);
  const calc = new Calc(exp, s, others[0] ?? null);
  const [texts, setTexts] = useState<Record<Pane, string>>({ m: "", c: "", s: "" });
  const found: Record<Pane, Set<number>> = { m: new Set(), c: new Set(), s: new Set() };
  for (const pane of ["m", "c", "s"] as Pane[]) if (texts[pane].length > 1) found[pane] = search(pane, exp, texts[pane]).found;

  const rowsOf: Record<Pane, () => Row[]> = { m: () => calc.metricRows(), c: () => calc.callRows(), s: () => calc.placeRows() };
  const selected: Record<Pane, Set<number>> = { m: new Set([s.metric]), c: s.calls, s: s.places };
  const setOpen = (pane: Pane, open: Set<number>): void => store.set({ open: { ...s.open, [pane]: open } });

  function select(pane: Pane, id: number, add: boolean): void {
    if (pane === "m") { if (id >= 0) store.set({ metric: id }, true); return; }
    const key = pane === "c" ? "calls" : "places", was = s[key], only = was.size === 1 && was.has(id);
    store.set({ [key]: add ? toggled(was, id, !was.has(id)) : only ? new Set<number>() : new Set([id]) }, true);
  }
  function largest(pane: Pane, id: number): void {
    if (pane === "c") { setOpen("c", new Set([...s.open.c, ...heaviest(exp, s.metric, id)])); return; }
    const whole = pane === "s" ? calc.placeWhole() : null, open = new Set(s.open[pane]);
    for (let at = id; at >= 0;) {
      const kids = pane === "m" ? exp.metrics[at].children : exp.places[at].children;
      if (!kids.length) break;
      open.add(at);
      at = kids.reduce((a, b) => (Math.abs(whole ? whole[b] : calc.metricWhole(b)) > Math.abs(whole ? whole[a] : calc.metricWhole(a)) ? b : a));
    }
    setOpen(pane, open);
  }
  function find(pane: Pane, text: string): void {
    setTexts({ ...texts, [pane]: text });
    if (text.length > 1) {
      const { open } = search(pane, exp, text);
      if (open.size) setOpen(pane, new Set([...s.open[pane], ...open]));
    }
  }
  const title = (pane: Pane, id: number): string => {
    if (id < 0) return "";
    if (pane === "m") return clean(exp.metrics[id].text || exp.metrics[id].name).slice(0, 400);
    if (pane === "s") return clean(exp.places[id].name).slice(0, 400);
    return label(exp.path(id).map((n) => exp.region(n).name).join(" / "), 400);
  };
  const ratio = exp.ratios.find((r) => r.name === s.extra.ratio && r.whole && r.own);
  const [low, high] = ratio ? ratioRange(ratio) : [0, 1];
  const column: RatioColumn | undefined = ratio && {
    head: label(ratio.unit || ratio.name, 24), title: clean(ratio.formula).slice(0, 300),
    of: (row) => {
      const value = (row.open ? ratio.own! : ratio.whole!)[row.id], at = (value - low) / (high - low), small = (ratio.small?.[row.id] ?? 0) & (row.open ? 1 : 2);
      return { value, colour: Number.isFinite(value) ? even(at) : "transparent", beyond: at < 0 || at > 1, small: small !== 0 };
    },
  };
  const metric = exp.metrics[s.metric], panes = [...s.order] as Pane[];
  const move = (pane: Pane, by: number): void => document.getElementById("tree-" + panes[(panes.indexOf(pane) + by + 3) % 3])?.focus();

  return (
    <div class="trees">
      <div class="bar" role="toolbar" aria-label="What the trees show">
        <label>Values <select value={s.mode} onChange={(e) => store.set({ mode: e.currentTarget.value }, true)}>
          {MODES.filter(([mode]) => mode !== "external" || others.length).map(([mode, text]) => <option value={mode}>{text}</option>)}</select></label>
        <label>Order <select value={s.order} onChange={(e) => store.set({ order: e.currentTarget.value }, true)}>
          {ORDERS.map(([order, text]) => <option value={order}>{text}</option>)}</select></label>
        {exp.ratios.some((r) => r.whole) && <Choice name="Ratio" value={ratio?.name ?? ""} list={[["", "none"], ...exp.ratios.filter((r) => r.whole).map((r): [string, string] => [r.name, label(r.text || r.name, 50)])]} onPick={(v) => store.set({ extra: { ...s.extra, ratio: v } }, true)} />}
        {ratio && <Scale kind="even" low={num(low)} high={num(high)} note={`${clean(ratio.unit)} of few and outside: hatched`} />}
        <button type="button" onClick={() => store.set({ calls: new Set(), places: new Set() }, true)} disabled={!s.calls.size && !s.places.size}>Clear selection</button>
        <button type="button" onClick={() => copy(panes.map((p) => table(NAMES[p], rowsOf[p]())).join("\n"))}>Copy as CSV</button>
      </div>
      <div class="panes">
        {panes.map((pane) => {
          const rows = rowsOf[pane](), unit = metric ? unitOf(metric.unit) : "";
          return (
            <section class={"pane pane-" + pane} aria-label={NAMES[pane]}>
              <div class="pane-head">
                <h2>{NAMES[pane]}</h2>
                <span class="unit">{pane === "m" ? "" : unit}</span>
                <input type="search" placeholder="Find" aria-label={"Find in " + NAMES[pane].toLowerCase()} value={texts[pane]} onInput={(e) => find(pane, e.currentTarget.value)} />
                {texts[pane].length > 1 && <span class="hits" role="status">{found[pane].size}</span>}
                <button type="button" class="quiet" title="Open the heaviest path (e)" aria-label={"Open the heaviest path of " + NAMES[pane].toLowerCase()}
                  onClick={() => { const top = selected[pane].size && [...selected[pane]][0] >= 0 ? [...selected[pane]][0] : rows[0]?.id ?? -1; largest(pane, top); }}>Heaviest</button>
                <button type="button" class="quiet" onClick={() => setOpen(pane, new Set())} aria-label={"Close all of " + NAMES[pane].toLowerCase()}>Close</button>
              </div>
              <Tree name={NAMES[pane]} id={"tree-" + pane} rows={rows} selected={selected[pane]} showPercent={s.mode !== "absolute"}
                valueHead={pane === "m" ? "value" : unit || "value"} percentHead={MODES.find(([m]) => m === calc.modeIn(pane))?.[1] ?? ""}
                highest={rows.reduce((most, r) => Math.max(most, Math.abs(r.whole) || 0, Math.abs(r.value) || 0), 0)}
                found={found[pane]} ratio={pane === "c" ? column : undefined} title={(id) => title(pane, id)}
                onToggle={(id, open) => setOpen(pane, toggled(s.open[pane], id, open))} onSelect={(id, add) => select(pane, id, add)}
                onSubtree={(id) => setOpen(pane, new Set([...s.open[pane], ...subtree(pane, exp, id)]))} onLargest={(id) => largest(pane, id)}
                onMove={(by) => move(pane, by)} />
            </section>);
        })}
      </div>
      <Detail store={store} calc={calc} />
    </div>
  );
}

function table(name: string, rows: Row[]): string {
  return [csv(name) + ",value,percent,inclusive", ...rows.map((r) => [csv("  ".repeat(r.depth) + clean(r.name)), r.shown ? r.value : "", Number.isNaN(r.percent) ? "" : r.percent, r.whole].join(","))].join("\n") + "\n";
}
export function copy(text: string): void { void navigator.clipboard?.writeText(text).catch(() => undefined); }

// What the selected metric is, where its numbers come from, and the selection's value.
function Detail({ store, calc }: { store: Store; calc: Calc }): JSX.Element | null {
  const exp = store.experiment!, s = store.state, m = exp.metrics[s.metric];
  if (!m) return null;
  const all = exp.total(s.metric, false, null, null), children = m.children.map((k) => exp.metrics[k].title || exp.metrics[k].name);
  const { whole, own } = calc.callVectors(), call = [...s.calls][0], root = exp.rootOf(s.metric), base = exp.total(root, false, null, null);
  return (
    <section class="detail" aria-label="Selection">
      <h2><bdi>{label(m.title || m.name)}</bdi> <Exactness word={m.exactness} />{m.partial && <span class="tag warn">partial: parts are missing</span>}
        <span class="scale" role="img" aria-label={`Colour scale from 0 to ${s.mode === "absolute" ? "the largest value" : "100 percent"}`}><span>0</span><span class="ramp" style={{ background: gradient("ramp") }} /><span>{s.mode === "absolute" ? "max" : "100 %"}</span></span></h2>
      <p>{clean(m.text)}</p>
      <dl>
        <div><dt>Whole program</dt><dd><b data-total={all}>{num(all)}</b> {unitOf(m.unit)}{root !== s.metric && base !== 0 ? `, ${percent((100 * all) / base)} of ${label(exp.metrics[root].title, 40)}` : ""}</dd></div>
        <div><dt>Comes from</dt><dd>{m.from}{m.formula ? <>: <code>{label(m.formula, 300)}</code></> : ""}{m.runs > 1 ? `, ${m.runs} runs, ${num(m.low)} to ${num(m.high)}` : ", one run"}</dd></div>
        {children.length > 0 && <div><dt>Parts</dt><dd>{label(children.join(", "), 300)}</dd></div>}
        {call !== undefined && <div><dt>Call path</dt><dd><bdi>{label(exp.path(call).map((n) => exp.region(n).name).join(" / "), 300)}</bdi>: inclusive {num(whole[call])}, exclusive {num(own[call])}
          {exp.code?.functions.some((f) => f.name === exp.region(call).name) && <> <button type="button" class="link" onClick={() => store.set({ view: "source", fn: exp.region(call).name }, true)}>Show the source</button></>}</dd></div>}
        {call !== undefined && exp.calls[call].line > 0 && <div><dt>Called at</dt><dd>{label(exp.calls[call].module, 120)}, line {exp.calls[call].line} <span class="dim">({label(pathText(exp, call), 80)})</span></dd></div>}
      </dl>
      <Pedigree store={store} metric={s.metric} />
    </section>
  );
}

const EXACT: Record<string, string> = {
  exact: "Defined by the program and the architecture", modelled: "Depends on choices of the model (docs/model.md)",
  estimated: "Scaled from a part of the run", none: "The model has no such activity",
};
export function Exactness({ word }: { word: string }): JSX.Element | null {
  return word ? <span class={"tag " + word} title={EXACT[word] ?? ""}>{word}</span> : null;
}
