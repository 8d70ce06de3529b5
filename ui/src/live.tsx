// A program while it runs: pause, step, stop; instructions per cycle and where the cycles went, over simulated time; counters with
// their rates.
import { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { CLASSES } from "./colour";
import { LiveDocument, PendingDocument } from "./data";
import { Empty, ticks, useWidth } from "./picture";
import { load } from "./served";
import { Stat, StatCounts } from "./stat";
import { Store } from "./state";
import { num, percent, short } from "./text";

const EVERY = 250, KEPT = 400;
export interface Point { cycles: number; instructions: number; busy: number; values: number[] }
// What was seen so far, kept while another view is shown.
export interface History { points: Point[]; before: Stat | null; rates: Map<string, number> }
const PARTS: [string, string[]][] = [["waiting for loads", ["BGL_STALL_LOAD"]], ["waiting for stores", ["BGL_STALL_STORE"]], ["waiting for code", ["BGL_STALL_FETCH"]], ["TLB misses", ["BGL_STALL_TLB"]]];

function point(d: Stat): Point {
  const count = (name: string): number => d.counters.find((c) => c.name === name)?.value ?? 0;
  return { cycles: d.cycles, instructions: d.instructions, busy: d.busy_cycles.reduce((a, b) => a + b, 0), values: PARTS.map(([, names]) => names.reduce((sum, n) => sum + count(n), 0)) };
}

function Chart({ points, clock }: { points: Point[]; clock: number }): JSX.Element {
  const [box, room] = useWidth(), width = Math.max(260, room), height = 170, left = 48, right = 12, top = 10, bottom = 26;
  const steps = points.slice(1).map((p, i) => ({ from: points[i], to: p })).filter(({ from, to }) => to.busy > from.busy);
  const first = points[0].cycles, last = Math.max(points[points.length - 1].cycles, first + 1), px = (c: number): number => left + ((c - first) / (last - first)) * (width - left - right);
  const ipc = steps.map(({ from, to }) => (to.instructions - from.instructions) / (to.busy - from.busy)), high = Math.max(0.5, ...ipc), marks = ticks(0, high, 3), roof = Math.max(high, marks[marks.length - 1]);
  const py = (v: number, max: number): number => height - bottom - (v / max) * (height - top - bottom), times = ticks(first / clock, last / clock, 4);
  const axis = times.map((t) => <text key={t} x={px(t * clock)} y={height - 8} text-anchor="middle">{short(t * 1000)} ms</text>);
  return (
    <div class="plots" ref={box}>
      <section class="card"><h2>Instructions per busy cycle</h2>
        <svg width="100%" height={height} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={`Instructions per busy cycle, now ${num(ipc[ipc.length - 1] ?? NaN)}`}>
          {marks.map((v) => <g key={v}><line x1={left} x2={width - right} y1={py(v, roof)} y2={py(v, roof)} class="rule" /><text x={left - 6} y={py(v, roof) + 4} text-anchor="end">{num(v)}</text></g>)}
          {axis}
          <path d={steps.map(({ from, to }, i) => `${i ? "L" : "M"}${px(from.cycles)} ${py(ipc[i], roof)}H${px(to.cycles)}`).join("")} fill="none" stroke={CLASSES[0]} stroke-width="2" />
        </svg></section>
      <section class="card"><h2>Where the busy cycles go</h2>
        <svg width="100%" height={height} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label="Shares of the busy cycles over simulated time">
          {[0, 0.5, 1].map((v) => <g key={v}><line x1={left} x2={width - right} y1={py(v, 1)} y2={py(v, 1)} class="rule" /><text x={left - 6} y={py(v, 1) + 4} text-anchor="end">{percent(100 * v)}</text></g>)}
          {axis}
          {steps.map(({ from, to }, i) => { let y = 0; const busy = to.busy - from.busy; return <g key={i}>{PARTS.map(([name], k) => { const share = (to.values[k] - from.values[k]) / busy, y0 = y; y += share; return share > 0 ? <rect key={name} x={px(from.cycles)} width={Math.max(0.5, px(to.cycles) - px(from.cycles))} y={py(Math.min(1, y), 1)} height={Math.max(0, py(y0, 1) - py(Math.min(1, y), 1))} fill={CLASSES[k]} /> : null; })}
            <rect x={px(from.cycles)} width={Math.max(0.5, px(to.cycles) - px(from.cycles))} y={py(1, 1)} height={Math.max(0, py(Math.min(1, y), 1) - py(1, 1))} fill={CLASSES[7]} fill-opacity="0.35" /></g>; })}
        </svg>
        <ul class="legend">{PARTS.map(([name], k) => <li key={name}><span class="swatch" style={{ background: CLASSES[k] }} aria-hidden="true" />{name}</li>)}<li><span class="swatch" style={{ background: CLASSES[7], opacity: 0.5 }} aria-hidden="true" />issuing</li></ul>
      </section>
    </div>);
}

export function Live({ store }: { store: Store }): JSX.Element {
  const d = store.document as LiveDocument, server = store.data.server!, s = d.state, { history } = d;
  const [lost, setLost] = useState(""), [step, setStep] = useState("1000000");
  useEffect(() => {
    let alive = true, timer = 0;
    const look = async (): Promise<void> => {
      try {
        const now = document.hidden ? null : await server.live(d.state?.sequence ?? -1);
        if (!alive) return;
        setLost("");
        if (now) {
          const last = history.before;
          if (now.result && (!last || now.result.cycles > last.cycles)) {
            if (last) {
              const seconds = (now.result.cycles - last.cycles) / now.clock_hz, old = new Map(last.counters.map((c) => [c.name, c.value]));
              history.rates = new Map(now.result.counters.map((c) => [c.name, (c.value - (old.get(c.name) ?? 0)) / seconds]));
            }
            history.points.push(point(now.result));
            if (history.points.length > KEPT) history.points = history.points.filter((_, i) => i % 2 === 0 || i === history.points.length - 1);
            history.before = now.result;
          }
          d.state = now;
          store.arrived(false);
        }
      } catch (error) { if (alive) setLost(String((error as Error).message ?? error)); }
      if (alive) timer = window.setTimeout(look, lost ? 2000 : EVERY);
    };
    void look();
    return () => { alive = false; clearTimeout(timer); };
  }, [d]);
  const say = (what: string, cycles = 0): void => { void server.run(what, cycles).catch((error) => setLost(String(error.message))); };
  const paths = store.data.documents.findIndex((x) => x.kind === "pending" && x.id < 0 || x.file === "its call paths so far");
  const look = (): void => {
    const pending: PendingDocument = { kind: "pending", id: -1, file: "its call paths so far", hint: "experiment", failed: "" };
    store.data.documents[paths] = pending;
    load(store, paths, pending);
    store.set({ ...store.initial(paths), view: "trees" }, true);
  };
  const state = s?.state ?? "running", cycles = Number(step);
  return (
    <div class="live">
      <div class="bar" role="toolbar" aria-label="The run">
        <span class={"tag state " + state} role="status">{lost ? "not connected" : state}</span>
        <button type="button" disabled={state !== "running"} onClick={() => say("pause")}>Pause</button>
        <button type="button" disabled={state !== "paused"} onClick={() => say("go")}>Continue</button>
        <label>Step <input type="number" class="number" min="1" value={step} onInput={(e) => setStep(e.currentTarget.value)} /> cycles</label>
        <button type="button" disabled={state !== "paused" || !(cycles >= 1)} onClick={() => say("step", Math.floor(cycles))}>Step</button>
        <button type="button" disabled={state === "ended"} onClick={() => say("stop")}>Stop the program</button>
        {paths >= 0 && <button type="button" onClick={look}>Call paths so far</button>}
        {s?.result && <span class="dim">{short(s.result.cycles / s.clock_hz)} s simulated</span>}
      </div>
      {lost && <p class="notice" role="alert">{lost}</p>}
      {history.points.length > 1 && s && <Chart points={history.points} clock={s.clock_hz} />}
      {s?.result ? <StatCounts store={store} d={s.result} rates={state === "ended" ? undefined : history.rates} /> : <Empty>The program has not begun to count.</Empty>}
    </div>);
}
