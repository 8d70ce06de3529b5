// Two results side by side: A, B, B - A and B / A, of metrics, functions or call paths. What is missing on a side is a dash,
// never zero. Purple is less, orange more.
import { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { difference, ink, mixDifference } from "./colour";
import { Document, Experiment, ResultDocument } from "./data";
import { flat } from "./overview";
import { Choice, Empty, Scale, Scroll } from "./picture";
import { load } from "./served";
import { Stat } from "./stat";
import { pathText, Store } from "./state";
import { csv, label, num, percent, unitOf } from "./text";
import { copy, Exactness } from "./trees";

interface Line { key: string; name: string; depth: number; a: number; b: number; unit: string; exactness: string }
const WHAT: [string, string][] = [["metrics", "metrics"], ["functions", "functions, own values"], ["paths", "call paths, inclusive"], ["all", "all counters"]];
const kindOf = (d: Document): string => (d.kind === "pending" ? (d.hint === "experiment" ? "experiment" : "") : d.kind);
export const comparable = (d: Document, other: Document): boolean => d !== other && kindOf(d) === kindOf(other) && (kindOf(d) === "experiment" || kindOf(d) === "stat");

function merge(a: Map<string, Omit<Line, "a" | "b"> & { v: number }>, b: Map<string, Omit<Line, "a" | "b"> & { v: number }>): Line[] {
  const out: Line[] = [];
  for (const [key, row] of a) out.push({ ...row, a: row.v, b: b.get(key)?.v ?? NaN });
  for (const [key, row] of b) if (!a.has(key)) out.push({ ...row, a: NaN, b: row.v });
  return out;
}
type Side = Map<string, Omit<Line, "a" | "b"> & { v: number }>;

function metricSide(exp: Experiment, all: boolean): Side {
  const side: Side = new Map();
  const put = (i: number, depth: number): void => {
    const m = exp.metrics[i];
    side.set(m.name, { key: m.name, name: m.title || m.name, depth, v: exp.total(i, false, null, null), unit: unitOf(m.unit), exactness: m.exactness });
    for (const k of m.children) put(k, depth + 1);
  };
  if (all) exp.metrics.forEach((m, i) => side.set(m.name, { key: m.name, name: m.title || m.name, depth: 0, v: exp.total(i, false, null, null), unit: unitOf(m.unit), exactness: m.exactness }));
  else exp.metricRoots.forEach((i) => put(i, 0));
  return side;
}
function statSide(d: ResultDocument): Side {
  const side: Side = new Map(), r = d.result as Stat;
  side.set("cycles", { key: "cycles", name: "cycles", depth: 0, v: r.cycles, unit: "cycles", exactness: "modelled" });
  for (const c of r.counters) side.set(c.name, { key: c.name, name: c.name, depth: 0, v: c.value, unit: c.unit ?? "", exactness: c.exactness ?? "" });
  return side;
}
function functionSide(exp: Experiment, metric: number): Side {
  const side: Side = new Map();
  for (const f of flat(exp, metric)) { const name = exp.regions[f.region].name, was = side.get(name); side.set(name, { key: name, name, depth: 0, v: f.own + (was?.v ?? 0), unit: "", exactness: "" }); }
  return side;
}
function pathSide(exp: Experiment, metric: number): Side {
  const side: Side = new Map(), whole = exp.inclusive(exp.byNode(metric, false, null, null));
  exp.calls.forEach((c, n) => { if (whole[n]) side.set(pathText(exp, n), { key: pathText(exp, n), name: exp.region(n).name, depth: c.depth, v: whole[n], unit: "", exactness: "" }); });
  return side;
}

export function Compare({ store }: { store: Store }): JSX.Element {
  const s = store.state, documents = store.data.documents, here = store.document, list = documents.map((d, i): [string, string] => [String(i), label(d.file, 60)]).filter((_, i) => documents[i] === here || comparable(documents[i], here));
  const against = list.some(([i]) => Number(i) === s.against && s.against !== s.doc) ? s.against : Number(list.find(([i]) => Number(i) !== s.doc)?.[0] ?? -1);
  const [find, setFind] = useState(""), base = documents[against], exp = here instanceof Experiment ? here : null, what = exp ? s.extra.what ?? "metrics" : "all", sort = s.extra.sort ?? "";
  const metric = exp ? s.metric : -1, name = exp && metric >= 0 ? exp.metrics[metric].name : "";
  const coming = base?.kind === "pending" ? base : null;
  useEffect(() => { if (coming && !coming.failed) load(store, against, coming); }, [coming]);
  const versions = `${exp?.version} ${base instanceof Experiment ? base.version : 0}`; // of sums that have come
  const rows = useMemo(() => {
    if (!base || coming) return [];
    if (!(base instanceof Experiment) || !exp) return merge(statSide(base as ResultDocument), statSide(here as ResultDocument));
    if (what === "metrics" || what === "all") return merge(metricSide(base, what === "all"), metricSide(exp, what === "all"));
    const same = base.findMetric(name);
    const of = what === "functions" ? functionSide : pathSide;
    return merge(same >= 0 ? of(base, same) : new Map(), of(exp, metric));
  }, [base, here, versions, what, name]);
  if (!base) return <Empty>There is no second result to compare with: name both, as in chiliad page a.cubex b.cubex.</Empty>;
  if (coming) return <Empty>{coming.failed ? label(coming.failed, 300) : `Opening ${label(coming.file, 80)}…`}</Empty>;
  const want = find.toLowerCase(), shown = rows.filter((r) => (!want || r.name.toLowerCase().includes(want)) && (r.a || r.b));
  if (sort === "change" || (what !== "metrics" && sort !== "name")) shown.sort((p, q) => Math.abs((q.b || 0) - (q.a || 0)) - Math.abs((p.b || 0) - (p.a || 0)));
  if (sort === "name") shown.sort((p, q) => (p.name < q.name ? -1 : 1));
  const tree = what === "metrics" && !sort, log = (r: Line): number => (r.a > 0 && r.b > 0 ? Math.max(-1, Math.min(1, Math.log2(r.b / r.a) / 2)) : Number.isNaN(r.a) || Number.isNaN(r.b) ? NaN : Math.sign(r.b - r.a));
  const text = (): string => ["name,A,B,B-A,B/A", ...shown.map((r) => [csv(r.name), r.a, r.b, r.b - r.a, r.b / r.a].map((v) => (Number.isNaN(v) ? "" : v)).join(","))].join("\n") + "\n";
  const unit = exp && what !== "metrics" && what !== "all" ? unitOf(exp.metrics[metric].unit) : "", extra = (key: string, v: string): void => store.set({ extra: { ...s.extra, [key]: v } }, true);
  const most = Math.max(1e-300, ...shown.map((r) => Math.abs((r.b || 0) - (r.a || 0))));
  return (
    <div class="listing">
      <div class="bar" role="toolbar" aria-label="What is compared">
        <Choice name="A" value={String(against)} list={list} onPick={(v) => store.set({ against: Number(v) }, true)} />
        <Choice name="B" value={String(s.doc)} list={list} onPick={(v) => store.set({ ...store.initial(Number(v)), view: "compare", against: Number(v) === against ? s.doc : against, extra: s.extra }, true)} />
        {exp && <Choice name="Of" value={what} list={WHAT} onPick={(v) => extra("what", v)} />}
        {exp && (what === "functions" || what === "paths") && <Choice name="Metric" value={String(metric)} list={exp.metrics.map((m, i): [string, string] => [String(i), label(m.title || m.name, 50)]).filter((_, i) => exp.metrics[i].cells)} onPick={(v) => store.set({ metric: Number(v) }, true)} />}
        <Choice name="Order" value={sort} list={[["", what === "metrics" ? "tree" : "largest change"], ...(what === "metrics" ? [["change", "largest change"] as [string, string]] : []), ["name", "name"]]} onPick={(v) => extra("sort", v)} />
        <label>Find <input type="search" value={find} onInput={(e) => setFind(e.currentTarget.value)} /></label>
        <button type="button" onClick={() => copy(text())}>Copy as CSV</button>
        <Scale low="a quarter" high="four times" kind="diverging" note="B / A" />
      </div>
      <section class="card">
        <p class="dim">A is <bdi>{label(base.file, 80)}</bdi>, B is <bdi>{label(here.file, 80)}</bdi>. A dash: not there, which is not zero.</p>
        <Scroll label="Differences"><table class="plain compare"><thead><tr><th scope="col">{what === "functions" ? "Function" : what === "paths" ? "Call path" : "Metric"}</th><th scope="col" class="n">A</th><th scope="col" class="n">B</th><th scope="col" class="n">B − A</th><th scope="col" class="wide-cell"><span class="dim">less / more</span></th><th scope="col" class="n">B / A</th><th scope="col">{unit || "unit"}</th></tr></thead>
          <tbody>{shown.slice(0, 1000).map((r) => {
            const change = r.b - r.a, at = log(r), w = Number.isNaN(change) ? 0 : (50 * Math.abs(change)) / most;
            return (
              <tr key={r.key} data-key={r.key} data-a={r.a} data-b={r.b}><th scope="row" title={what === "paths" ? label(r.key, 400) : undefined}><span style={{ paddingLeft: (tree ? r.depth * 14 : 0) + "px" }}><bdi>{label(r.name, 60)}</bdi></span> <Exactness word={r.exactness} /></th>
                <td class="n">{num(r.a)}</td><td class="n">{num(r.b)}</td><td class="n">{change > 0 ? "+" : ""}{num(change)}</td>
                <td><svg class="twosided" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><line x1="50" x2="50" y1="0" y2="8" class="rule" /><rect x={change < 0 ? 50 - w : 50} y="1" width={w} height="6" fill={difference(change < 0 ? -0.8 : 0.8)} /></svg></td>
                <td class="n ratio" style={Number.isNaN(at) ? {} : { background: difference(at), color: ink(mixDifference(at)) }}>{r.a === 0 && r.b === 0 ? "–" : Number.isFinite(r.b / r.a) ? (r.b / r.a).toFixed(3) : num(r.b / r.a)}{Number.isFinite(change) && r.a ? <span class="sr"> {percent((100 * change) / r.a)}</span> : ""}</td><td class="dim">{r.unit}</td></tr>);
          })}</tbody></table></Scroll>
        {shown.length > 1000 && <p class="dim">The first 1000 of {num(shown.length)}.</p>}
        {shown.length === 0 && <Empty>Nothing to compare here.</Empty>}
      </section>
    </div>);
}
