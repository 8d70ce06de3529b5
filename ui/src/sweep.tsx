// A family of runs (`sweep -j`): curves of the cycles and counts over a parameter, a line for each value of the others; and all
// runs as a table.
import { JSX } from "preact";
import { CLASSES } from "./colour";
import { ResultDocument } from "./data";
import { axisText, Choice, Empty, Scroll, ticks, useWidth } from "./picture";
import { Store } from "./state";
import { csv, label, num } from "./text";
import { copy } from "./trees";

export interface Run { settings: Record<string, string | number>; exit_status: number | null; cycles: number; counters: Record<string, number>; partial?: string }
const MARKS = ["M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", "M-4 -4h8v8h-8z", "M0 -5L5 4H-5z", "M0 -5L5 0L0 5L-5 0z", "M-4 -4L4 4M4 -4L-4 4"], DASHES = ["", "6 3", "2 3", "8 3 2 3"];

export function amount(text: string | number): number {
  const m = /^(\d+(?:\.\d+)?)\s*([kKMG])?(i?B)?$/.exec(String(text));
  return m ? Number(m[1]) * { k: 1024, K: 1024, M: 1 << 20, G: 1 << 30, "": 1 }[m[2] ?? ""]! : NaN;
}

interface Series { name: string; points: { at: number; y: number; text: string }[] }
export function Curves({ title, unit, xs, series, xName }: { title: string; unit: string; xs: string[]; series: Series[]; xName: string }): JSX.Element {
  const [box, room] = useWidth(), width = Math.max(260, room), height = 260, left = 64, right = 16, top = 12, bottom = 44;
  const numbers = xs.map(amount), real = numbers.every((v) => !Number.isNaN(v)), log = real && numbers[0] > 0 && numbers[numbers.length - 1] / numbers[0] >= 4;
  const place = (i: number): number => (xs.length < 2 ? 0.5 : !real ? (i + 0.5) / xs.length : log ? Math.log(numbers[i] / numbers[0]) / Math.log(numbers[xs.length - 1] / numbers[0]) : (numbers[i] - numbers[0]) / (numbers[xs.length - 1] - numbers[0]));
  const high = Math.max(1e-300, ...series.flatMap((s) => s.points.map((p) => p.y))), marks = ticks(0, high, 4), roof = Math.max(high, marks[marks.length - 1]);
  const px = (i: number): number => left + 10 + place(i) * (width - left - right - 20), py = (v: number): number => height - bottom - (v / roof) * (height - top - bottom);
  const many = Math.max(1, Math.ceil(xs.length / Math.max(2, Math.floor((width - left) / 60))));
  return (
    <figure class="curves" ref={box}>
      <figcaption><b><bdi>{label(title, 60)}</bdi></b> <span class="dim">{unit}</span></figcaption>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${title} over ${xName}: ${series.map((s) => `${s.name}: ${s.points.map((p) => `${xs[p.at]} ${num(p.y)}`).join(", ")}`).join("; ").slice(0, 2000)}`}>
        {marks.map((v) => <g key={v}><line x1={left} x2={width - right} y1={py(v)} y2={py(v)} class="rule" /><text x={left - 8} y={py(v) + 4} text-anchor="end">{axisText(v)}</text></g>)}
        {xs.map((x, i) => i % many === 0 && <text key={i} x={px(i)} y={height - bottom + 18} text-anchor="middle">{label(x, 14)}</text>)}
        <text x={left + (width - left - right) / 2} y={height - 6} text-anchor="middle" class="dim">{label(xName, 40)}{log ? " (logarithmic)" : ""}</text>
        {series.map((s, k) => {
          const colour = CLASSES[k % 8];
          return (
            <g key={k}>
              <path d={s.points.map((p, i) => `${i ? "L" : "M"}${px(p.at)} ${py(p.y)}`).join("")} fill="none" stroke={colour} stroke-width={2 + 2 * Math.min(3, Math.max(0, series.length - 1 - k))} stroke-dasharray={DASHES[Math.floor(k / 8) % 4]} />
              {s.points.map((p, i) => <path key={i} d={MARKS[k % 5]} transform={`translate(${px(p.at)} ${py(p.y)})`} fill={colour} stroke={colour} stroke-width={k % 5 === 4 ? 2 : 1} data-y={p.y}><title>{p.text}</title></path>)}
            </g>);
        })}
      </svg>
    </figure>);
}

export function SweepView({ store }: { store: Store }): JSX.Element {
  const runs = (store.document as ResultDocument).result as Run[], s = store.state;
  if (!runs.length) return <Empty>The sweep has no runs.</Empty>;
  const keys = Object.keys(runs[0].settings), events = Object.keys(runs[0].counters), over = s.extra.over && keys.includes(s.extra.over) ? s.extra.over : keys[0];
  const raw = [...new Set(runs.map((r) => String(r.settings[over])))], xs = raw.every((x) => !Number.isNaN(amount(x))) ? raw.sort((a, b) => amount(a) - amount(b)) : raw;
  const others = keys.filter((k) => k !== over), group = (r: Run): string => others.map((k) => `${k} ${r.settings[k]}`).join(", "), groups = [...new Set(runs.map(group))];
  const series = (of: (r: Run) => number): Series[] => groups.map((g) => ({
    name: g || "all", points: xs.flatMap((x, at) => { const r = runs.find((run) => group(run) === g && String(run.settings[over]) === x); return r && !r.partial ? [{ at, y: of(r), text: `${over} ${x}${g ? ", " + g : ""}: ${num(of(r))}` }] : []; }),
  }));
  const least = runs.filter((r) => !r.partial).reduce((a, b) => (b.cycles < a.cycles ? b : a), runs[0]), most = Math.max(...runs.map((r) => r.cycles));
  const text = (): string => [[...keys, "exit_status", "cycles", ...events].map(csv).join(","), ...runs.map((r) => [...keys.map((k) => csv(String(r.settings[k]))), r.exit_status ?? "", r.cycles, ...events.map((e) => r.counters[e])].join(","))].join("\n") + "\n";
  return (
    <div class="listing">
      <div class="bar" role="toolbar" aria-label="What the curves show">
        {keys.length > 1 && <Choice name="Over" value={over} list={keys.map((k): [string, string] => [k, label(k, 40)])} onPick={(v) => store.set({ extra: { ...s.extra, over: v } }, true)} />}
        <button type="button" onClick={() => copy(text())}>Copy as CSV</button>
        <span class="dim">{runs.length} runs; the fastest has {keys.map((k) => `${k} ${least.settings[k]}`).join(", ")}</span>
      </div>
      {groups.length > 1 && <ul class="legend">{groups.slice(0, 32).map((g, i) => <li key={g}><svg viewBox="-8 -8 16 16" width="16" height="16" aria-hidden="true"><path d={MARKS[i % 5]} fill={CLASSES[i % 8]} stroke={CLASSES[i % 8]} stroke-width={i % 5 === 4 ? 2 : 1} /></svg><bdi>{label(g, 60)}</bdi></li>)}</ul>}
      <div class="plots">
        <section class="card"><Curves title="cycles" unit="" xs={xs} xName={over} series={series((r) => r.cycles)} /></section>
        {events.slice(0, 24).map((e) => <section key={e} class="card"><Curves title={e} unit="events" xs={xs} xName={over} series={series((r) => r.counters[e])} /></section>)}
      </div>
      <section class="card table-card"><h2>All runs</h2><Scroll label="All runs">
        <table class="plain"><thead><tr>{keys.map((k) => <th scope="col" key={k}>{label(k, 40)}</th>)}<th scope="col" class="n">cycles</th><th scope="col" class="wide-cell"><span class="dim">of the slowest</span></th>{events.map((e) => <th scope="col" class="n" key={e}>{label(e, 40)}</th>)}<th scope="col">exit</th></tr></thead>
          <tbody>{runs.map((r, i) => <tr key={i} data-run={i} class={r === least ? "best" : ""}>{keys.map((k, n) => (n ? <td key={k}>{label(String(r.settings[k]), 30)}</td> : <th scope="row" key={k}>{label(String(r.settings[k]), 30)}</th>))}<td class="n" data-value={r.cycles}>{num(r.cycles)}</td><td><span class="track" aria-hidden="true"><span style={{ width: (100 * r.cycles) / most + "%" }} /></span></td>{events.map((e) => <td class="n" key={e} data-value={r.counters[e]}>{num(r.counters[e])}</td>)}<td>{r.partial ? "partial" : r.exit_status}</td></tr>)}</tbody></table></Scroll></section>
    </div>);
}
