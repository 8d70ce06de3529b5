// Roofline: flops of functions over the traffic with memory that they caused, below the roofs of the machine that was simulated.
// Roofs come from the machine's own parameters, dots from counters; both are listed with their formulas.
import { JSX } from "preact";
import { useState } from "preact/hooks";
import { CLASSES } from "./colour";
import { Experiment } from "./data";
import { FlatRow, flat } from "./overview";
import { axisText, Empty, logTicks, Scroll, useWidth } from "./picture";
import { Store } from "./state";
import { csv, label, num, percent } from "./text";
import { copy } from "./trees";

interface Roof { name: string; flat: boolean; value: number; formula: string } // Gflop/s, or GB/s
interface Dot { name: string; flops: number; bytes: number; cycles: number; x: number; y: number; share: number; roof: number }
export interface Roofs { clock: number; list: Roof[]; flop: number; read: number; write: number; cycles: number; line: number }

// Of one core; NaN parameters leave a roof out.
export function roofs(exp: Experiment): Roofs | null {
  const m = exp.machine, find = (name: string): number => exp.metrics.findIndex((x) => x.name === name || x.formula === name);
  const flop = find("BGL_FLOP"), read = find("BGL_DDR_READ"), write = find("BGL_DDR_WRITE"), cycles = exp.findMetric("CYCLES");
  if (!m || flop < 0 || (read < 0 && write < 0) || cycles < 0) return null;
  const get = (key: string): number => Number(m[key] ?? NaN), clock = Number(exp.attributes.clock_hz ?? get("machine.clock_mhz") * 1e6), cores = get("machine.cores"), line = get("l3.line");
  const flops = 2 * get("machine.fpu_elements"), memory = (line * get("memory.controllers")) / get("memory.busy_cycles");
  const list: Roof[] = [
    { name: "FMA in both pipes", flat: true, value: (flops * clock) / 1e9, formula: "2 flops x machine.fpu_elements x clock" },
    { name: "one pipe, FMA", flat: true, value: (2 * clock) / 1e9, formula: "2 flops x clock" },
    { name: "memory, one core alone", flat: false, value: (memory * clock) / 1e9, formula: "l3.line x memory.controllers / memory.busy_cycles x clock" },
    { name: `memory, shared by ${cores} cores`, flat: false, value: (memory * clock) / 1e9 / cores, formula: "the same / machine.cores" },
  ].filter((r) => Number.isFinite(r.value) && r.value > 0);
  if (get("machine.fpu_elements") === 1) list.splice(1, 1);
  return list.length && clock > 0 ? { clock, list, flop, read, write, cycles, line } : null;
}

export function Roofline({ store }: { store: Store }): JSX.Element {
  const exp = store.experiment!, r = roofs(exp), [box, room] = useWidth(), [picked, pick] = useState(-1);
  if (!r) return <Empty>A roofline needs counts of flops, lines of memory and cycles, and a machine that is known here.</Empty>;
  const flop = exp.byNode(r.flop, false, null, null), read = r.read >= 0 ? exp.byNode(r.read, false, null, null) : null, write = r.write >= 0 ? exp.byNode(r.write, false, null, null) : null;
  const total = exp.total(r.cycles, false, null, null), of = (f: FlatRow, v: Float64Array | null): number => (v ? f.calls.reduce((sum, n) => sum + v[n], 0) : 0);
  const peak = Math.max(...r.list.filter((l) => l.flat).map((l) => l.value)), slope = Math.max(...r.list.filter((l) => !l.flat).map((l) => l.value));
  const make = (name: string, flops: number, bytes: number, cycles: number): Dot => {
    const x = flops / bytes, y = (flops / cycles) * (r.clock / 1e9);
    return { name, flops, bytes, cycles, x, y, share: cycles / total, roof: y / Math.min(peak, Number.isFinite(x) ? slope * x : peak) };
  };
  const dots = flat(exp, r.cycles).map((f) => make(exp.regions[f.region].name, of(f, flop), r.line * (of(f, read) + of(f, write)), f.own)).filter((d) => d.flops > 0 && d.share >= 0.0005).slice(0, 24);
  const whole = make("Whole program", exp.total(r.flop, false, null, null), r.line * ((r.read >= 0 ? exp.total(r.read, false, null, null) : 0) + (r.write >= 0 ? exp.total(r.write, false, null, null) : 0)), total);
  const all = [whole, ...dots], finite = all.filter((d) => Number.isFinite(d.x) && d.x > 0 && d.y > 0), knee = peak / slope;
  const lowX = 10 ** Math.floor(Math.log10(Math.min(knee / 10, ...finite.map((d) => d.x)))), highX = 10 ** Math.ceil(Math.log10(Math.max(knee * 100, ...finite.map((d) => d.x)) * 1.2));
  const lowY = 10 ** Math.floor(Math.log10(Math.min(peak / 100, ...finite.map((d) => d.y)))), highY = 10 ** Math.ceil(Math.log10(peak * 1.3));
  const width = Math.max(280, room), height = Math.max(260, Math.min(520, width * 0.55)), left = 58, right = 14, top = 14, bottom = 46;
  const px = (x: number): number => left + (Math.log(x / lowX) / Math.log(highX / lowX)) * (width - left - right), py = (y: number): number => height - bottom - (Math.log(y / lowY) / Math.log(highY / lowY)) * (height - top - bottom);
  const at = (d: Dot): [number, number] => [px(Math.min(highX, Number.isFinite(d.x) ? d.x : highX)), py(Math.max(lowY, d.y))];
  const text = (): string => ["function,flops,bytes,cycles,flops_per_byte,gflops_per_core,share_of_roof", ...all.map((d) => [csv(d.name), d.flops, d.bytes, d.cycles, d.x, d.y, d.roof].join(","))].join("\n") + "\n";
  return (
    <div class="listing">
      <section class="card"><h2>Flops per second and core, over flops per byte of memory</h2>
        <div class="roofline" ref={box}>
          <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Roofline; ${r.list.map((l) => `${l.name} ${num(l.value)} ${l.flat ? "Gflop/s" : "GB/s"}`).join(", ")}. The table below has every dot.`}>
            {logTicks(lowX, highX).map((v) => <g key={v}><line x1={px(v)} x2={px(v)} y1={top} y2={height - bottom} class="rule" /><text x={px(v)} y={height - bottom + 18} text-anchor="middle">{axisText(v)}</text></g>)}
            {logTicks(lowY, highY).map((v) => <g key={v}><line x1={left} x2={width - right} y1={py(v)} y2={py(v)} class="rule" /><text x={left - 6} y={py(v) + 4} text-anchor="end">{axisText(v)}</text></g>)}
            <text x={(left + width) / 2} y={height - 8} text-anchor="middle" class="dim">flops per byte read from and written to memory</text>
            <text transform={`translate(13 ${height / 2}) rotate(-90)`} text-anchor="middle" class="dim">Gflop/s per core</text>
            {r.list.map((l) => {
              if (l.flat) { const x = Math.max(lowX, l.value / slope); return <g key={l.name}><line x1={px(x)} x2={width - right} y1={py(l.value)} y2={py(l.value)} class="roof" /><text x={width - right - 4} y={py(l.value) - 5} text-anchor="end" class="roof-name">{l.name}, {num(l.value)}</text></g>; }
              const x0 = Math.max(lowX, lowY / l.value), x1 = Math.min(highX, peak / l.value), angle = (Math.atan2(py(x1 * l.value) - py(x0 * l.value), px(x1) - px(x0)) * 180) / Math.PI;
              return <g key={l.name}><line x1={px(x0)} y1={py(x0 * l.value)} x2={px(x1)} y2={py(x1 * l.value)} class="roof" /><text transform={`translate(${px(x0)} ${py(x0 * l.value)}) rotate(${angle})`} x="10" y="-6" class="roof-name">{l.name}, {num(l.value)} GB/s</text></g>;
            })}
            {all.map((d, i) => {
              const [x, y] = at(d), size = 4 + 10 * Math.sqrt(Math.max(0, d.share));
              return (
                <g key={i} class={"dot" + (picked === i ? " picked" : "")} onClick={() => pick(i)}>
                  {i === 0 ? <path d={`M${x} ${y - 8}L${x + 8} ${y}L${x} ${y + 8}L${x - 8} ${y}z`} class="all" /> : <circle cx={x} cy={y} r={size} fill={CLASSES[(i - 1) % 8]} fill-opacity="0.85" />}
                  {i > 0 && i <= 9 && <text x={x + size + 3} y={y + 4} class="dot-name">{i}</text>}
                  <title>{`${label(d.name, 80)}: ${num(d.y)} Gflop/s, ${num(d.x)} flops per byte, ${percent(100 * d.share)} of the cycles`}</title>
                </g>);
            })}
          </svg>
        </div>
        <div class="bar"><button type="button" onClick={() => copy(text())}>Copy as CSV</button><span class="dim">The area of a dot is its share of the cycles. At the right edge: no traffic with memory.</span></div>
        <Scroll label="Dots"><table class="plain"><thead><tr><th scope="col" class="n">dot</th><th scope="col">Function</th><th scope="col" class="n">Gflop/s</th><th scope="col" class="n">flops per byte</th><th scope="col" class="n">of its roof</th><th scope="col" class="n">of the cycles</th><th scope="col" class="n">flops</th><th scope="col" class="n">bytes</th></tr></thead><tbody>
          {all.map((d, i) => <tr key={i} class={picked === i ? "marked" : ""} data-dot={d.name} data-flops={d.flops} data-bytes={d.bytes} data-cycles={d.cycles} onClick={() => pick(i)}><td class="n">{i === 0 ? "◆" : <><span class="swatch inline" style={{ background: CLASSES[(i - 1) % 8] }} aria-hidden="true" /> {i}</>}</td><th scope="row">{i ? <button type="button" class="link" onClick={() => store.set(exp.code ? { view: "source", fn: d.name } : { view: "trees" }, true)}><bdi>{label(d.name, 60)}</bdi></button> : d.name}</th><td class="n">{num(d.y)}</td><td class="n">{num(d.x)}</td><td class="n">{percent(100 * d.roof)}</td><td class="n">{percent(100 * d.share)}</td><td class="n">{num(d.flops)}</td><td class="n">{num(d.bytes)}</td></tr>)}</tbody></table></Scroll>
      </section>
      <section class="card table-card"><h2>Where the roofs come from</h2><table class="plain"><thead><tr><th scope="col">Roof of a core</th><th scope="col" class="n">value</th><th scope="col">parameters of {label(exp.attributes.machine ?? "", 30)}</th></tr></thead><tbody>
        {r.list.map((l) => <tr key={l.name}><th scope="row">{l.name}</th><td class="n" data-roof={l.name} data-value={l.value}>{num(l.value)} {l.flat ? "Gflop/s" : "GB/s"}</td><td><code>{l.formula}</code></td></tr>)}</tbody></table>
        <p class="dim">Dots: BGL_FLOP / (l3.line x (BGL_DDR_READ + BGL_DDR_WRITE)) and BGL_FLOP / CYCLES x clock, own counts of each function.</p></section>
    </div>);
}
