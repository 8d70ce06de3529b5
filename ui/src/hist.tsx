// A joint histogram (`hist -j`): one dimension as bars, two as a map with the sums of rows and columns, more by slices.
import { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { ink, magnitude, magnitudeRgb } from "./colour";
import { ResultDocument } from "./data";
import { Choice, Empty, Scale, Scroll } from "./picture";
import { Store } from "./state";
import { csv, label, num, percent, short } from "./text";
import { copy } from "./trees";

export interface Hist {
  machine?: string; declaration: string; event: string; where?: string; total: number; cycles?: number; entropy_bits?: number; partial?: string;
  dimensions: { variable: string; scale: string; parts: number; bits: number }[];
  bins: { values: (string | number)[]; count: number }[];
  rank?: Record<string, unknown>[];
}
const MOST = 40, OTHERS = "all others";

// The values of a dimension: numbers in their order, names by falling count; beyond `most` they are one.
function valuesOf(d: number, bins: Hist["bins"]): { names: string[]; sums: number[]; at: Map<string, number> } {
  const sums = new Map<string, number>();
  for (const b of bins) sums.set(String(b.values[d]), (sums.get(String(b.values[d])) ?? 0) + b.count);
  let names = [...sums.keys()];
  const numeric = names.every((n) => /^[><=≥]*\s*\d+([-–]\d+)?\+?$/.test(n)), first = (n: string): number => Number(n.match(/\d+/)![0]);
  names.sort(numeric ? (a, b) => first(a) - first(b) : (a, b) => sums.get(b)! - sums.get(a)! || (a < b ? -1 : 1));
  const at = new Map<string, number>();
  if (names.length > MOST) {
    const kept = new Set([...names].sort((a, b) => sums.get(b)! - sums.get(a)!).slice(0, MOST - 1)), order = names.filter((n) => kept.has(n));
    const rest = names.filter((n) => !kept.has(n)).reduce((sum, n) => sum + sums.get(n)!, 0);
    order.forEach((n, i) => at.set(n, i));
    names.forEach((n) => { if (!at.has(n)) at.set(n, order.length); });
    return { names: [...order, `${OTHERS} (${names.length - order.length})`], sums: [...order.map((n) => sums.get(n)!), rest], at };
  }
  names.forEach((n, i) => at.set(n, i));
  return { names, sums: names.map((n) => sums.get(n)!), at };
}

export function HistView({ store }: { store: Store }): JSX.Element {
  const h = (store.document as ResultDocument).result as Hist, s = store.state, dims = h.dimensions;
  const extra = (key: string, value: string): void => store.set({ extra: { ...s.extra, [key]: value } }, true);
  const named = dims.map((d, i): [string, string] => [String(i), label(d.variable, 30)]);
  const y = Math.min(Number(s.extra.y ?? (dims.length > 1 ? 1 : 0)), dims.length - 1), x = Number(s.extra.x ?? 0) % dims.length === y && dims.length > 1 ? (y + 1) % dims.length : Number(s.extra.x ?? 0) % dims.length;
  const rest = dims.map((_, i) => i).filter((i) => i !== x && i !== y), scale = s.extra.scale ?? "log", given = s.extra.given ?? "";
  const bins = useMemo(() => h.bins.filter((b) => rest.every((d) => !s.extra["is" + d] || String(b.values[d]) === s.extra["is" + d])), [h, s.extra]);
  const total = bins.reduce((sum, b) => sum + b.count, 0);
  const rows = useMemo(() => valuesOf(y, bins), [bins, y]), columns = useMemo(() => valuesOf(x, bins), [bins, x]);
  const cells = useMemo(() => {
    const out = rows.names.map(() => new Float64Array(columns.names.length));
    for (const b of bins) out[rows.at.get(String(b.values[y]))!][columns.at.get(String(b.values[x]))!] += b.count;
    return out;
  }, [rows, columns]);
  if (!h.bins.length) return <Empty>The histogram is empty: no transaction was counted.</Empty>;
  const base = (r: number, c: number): number => (given === "row" ? rows.sums[r] : given === "column" ? columns.sums[c] : total);
  const most = given ? 1 : cells.reduce((m, row) => row.reduce((a, b) => Math.max(a, b), m), 1);
  const place = (v: number, r: number, c: number): number => { const w = given ? v / base(r, c) : v; return v <= 0 ? 0 : scale === "log" && !given ? (Math.log(w + 1) / Math.log(most + 1)) ** 2 : (w / most); };
  const flat = dims.length === 1, table = (): string => ["," + columns.names.map(csv).join(",") + ",all", ...rows.names.map((n, r) => [csv(n), ...cells[r], rows.sums[r]].join(",")), ["all", ...columns.sums, total].join(",")].join("\n") + "\n";
  const bar = (v: number, top: number): JSX.Element => <span class="track" aria-hidden="true"><span style={{ width: (100 * v) / top + "%" }} /></span>;
  return (
    <div class="listing">
      <div class="bar" role="toolbar" aria-label="What the map shows">
        {!flat && <Choice name="Rows" value={String(y)} list={named} onPick={(v) => store.set({ extra: { ...s.extra, y: v, x: v === String(x) ? String(y) : String(x) } }, true)} />}
        {!flat && <Choice name="Columns" value={String(x)} list={named} onPick={(v) => store.set({ extra: { ...s.extra, x: v, y: v === String(y) ? String(x) : String(y) } }, true)} />}
        {rest.map((d) => <Choice key={d} name={label(dims[d].variable, 30)} value={s.extra["is" + d] ?? ""} list={[["", "all, added up"], ...valuesOf(d, h.bins).names.filter((n) => !n.startsWith(OTHERS)).map((n): [string, string] => [n, label(n, 50)])]} onPick={(v) => extra("is" + d, v)} />)}
        {!flat && <Choice name="Colours" value={given} list={[["", "counts"], ["row", "share of the row"], ["column", "share of the column"]]} onPick={(v) => extra("given", v)} />}
        {!flat && !given && <Choice name="Scale" value={scale} list={[["log", "logarithmic"], ["linear", "linear"]]} onPick={(v) => extra("scale", v)} />}
        <button type="button" onClick={() => copy(table())}>Copy as CSV</button>
        {!flat && <Scale low="0" high={given ? "100 %" : num(most)} note={given ? "" : "transactions"} />}
      </div>
      <section class="card">
        <h2>{label(h.declaration, 120)}</h2>
        <p class="dim">{num(total)} {h.event === "all" ? "transactions" : label(h.event, 40)}{total !== h.total ? ` of ${num(h.total)}` : ""}{h.where ? ` where ${label(h.where, 200)}` : ""}, counted exactly in one run of {label(h.machine ?? "a machine", 40)}{h.cycles ? `, ${num(h.cycles)} cycles` : ""}{h.partial ? `; partial: ${label(h.partial, 80)}` : ""}{h.entropy_bits ? `; the histogram has ${num(h.entropy_bits)} bits of information` : ""}.</p>
        <Scroll label="The histogram">
          {flat ? <table class="plain bars"><thead><tr><th scope="col">{label(dims[0].variable, 30)}</th><th scope="col" class="n">count</th><th scope="col" class="n">share</th><th scope="col" class="wide-cell"><span class="dim">of the largest</span></th></tr></thead><tbody>
            {columns.names.map((n, c) => <tr key={n} data-bin={n} data-count={columns.sums[c]}><th scope="row"><bdi>{label(n, 60)}</bdi></th><td class="n">{num(columns.sums[c])}</td><td class="n">{percent((100 * columns.sums[c]) / total)}</td><td>{bar(columns.sums[c], Math.max(...columns.sums))}</td></tr>)}</tbody></table>
            : <table class="heat"><thead><tr><th scope="col">{label(dims[y].variable, 20)} \ {label(dims[x].variable, 20)}</th>{columns.names.map((n) => <th scope="col" key={n}><span><bdi>{label(n, 24)}</bdi></span></th>)}<th scope="col" class="n">all</th><th scope="col"><span class="dim">share</span></th></tr></thead>
              <tbody>{rows.names.map((n, r) => (
                <tr key={n} data-bin={n} data-count={rows.sums[r]}><th scope="row" title={label(n, 300)}><bdi>{label(n, 34)}</bdi></th>
                  {columns.names.map((_, c) => { const v = cells[r][c], at = place(v, r, c); return <td key={c} data-count={v} class={v ? "" : "zero"} style={v ? { background: magnitude(at), color: ink(magnitudeRgb(at)) } : {}} title={`${label(n, 80)}, ${label(columns.names[c], 80)}: ${num(v)}, ${percent((100 * v) / base(r, c))}`}>{v ? (given ? percent((100 * v) / base(r, c)) : short(v)) : ""}</td>; })}
                  <td class="n">{num(rows.sums[r])}</td><td class="projection"><div>{bar(rows.sums[r], Math.max(...rows.sums))}<span class="dim">{percent((100 * rows.sums[r]) / total)}</span></div></td></tr>))}
                <tr class="sum"><th scope="row">all</th>{columns.sums.map((v, c) => <td key={c} class="n" data-count={v} title={num(v)}>{short(v)}<span class="column" aria-hidden="true"><span style={{ height: (100 * v) / Math.max(...columns.sums) + "%" }} /></span></td>)}<td class="n" data-total={total}>{num(total)}</td><td /></tr>
              </tbody></table>}
        </Scroll>
      </section>
    </div>);
}
