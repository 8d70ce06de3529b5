// Timeline of a trace: a row for each thread, boxes for events, lines for messages. Only what is seen is drawn: rows of the
// window, and one box where several would share a pixel.
import { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { CLASSES } from "./colour";
import { ResultDocument } from "./data";
import { Choice, Empty, Scroll, ticks, useWidth } from "./picture";
import { Store } from "./state";
import { clean, csv, label, num, percent } from "./text";
import { RawTrace, Trace } from "./trace";
import { copy } from "./trees";

const ROW = 18, LABEL = 190, HEAD = 22, HIGH = 560, ARROWS = 2000, LISTED = 200;

const traces = new WeakMap<object, Trace>();
function traceOf(d: ResultDocument): Trace {
  let t = traces.get(d);
  if (!t) traces.set(d, (t = new Trace(d.result as RawTrace)));
  return t;
}
export const micro = (v: number): string => `${num(Number(v.toFixed(6)))} µs`;

export function Timeline({ store }: { store: Store }): JSX.Element {
  const s = store.state, t = traceOf(store.document as ResultDocument), [box, room] = useWidth(), canvas = useRef<HTMLCanvasElement>(null), field = useRef<HTMLDivElement>(null);
  const [down, setDown] = useState(0), [picked, pick] = useState(-1), [drag, setDrag] = useState<{ x: number; from: number; to: number } | null>(null);
  const keys = useMemo(() => t.keys(), [t]), main = useMemo(() => t.mainKey(), [t]), key = keys.includes(s.extra.by ?? "") ? s.extra.by! : main;
  const summary = useMemo(() => t.summary(key), [t, key]), colours = useMemo(() => new Map(summary.map((r, i) => [r.key, CLASSES[Math.min(i, 7)]])), [summary]);
  const [a, b] = (s.extra.t ?? "").split("~").map(Number), from = Number.isFinite(a) && b > a ? Math.max(t.from, a) : t.from, to = Number.isFinite(a) && b > a ? Math.min(t.to, b) : t.to;
  const width = Math.max(320, room - 36), wide = width - LABEL, x = (time: number): number => LABEL + ((time - from) / (to - from)) * wide;
  const height = Math.min(HIGH, HEAD + t.rows * ROW + 4), mhz = Number(t.raw.otherData?.clock_mhz) || 0;
  const range = (low: number, high: number, remember = false): void => {
    const least = (t.to - t.from) * 1e-7 + 1e-6, size = Math.min(Math.max(high - low, least), t.to - t.from), begin = Math.min(Math.max(low, t.from), t.to - size), next = { ...s.extra };
    if (size >= t.to - t.from) delete next.t; else next.t = `${begin}~${begin + size}`;
    store.set({ extra: next }, remember);
  };
  const zoom = (factor: number, at = (from + to) / 2): void => range(at - (at - from) * factor, at + (to - at) * factor);

  useEffect(() => {
    const node = canvas.current;
    if (!node || !room) return;
    const sharp = devicePixelRatio || 1, c = node.getContext("2d")!, style = getComputedStyle(node);
    node.width = width * sharp; node.height = height * sharp;
    node.style.width = width + "px"; node.style.height = height + "px";
    c.scale(sharp, sharp);
    c.font = "12px " + style.fontFamily;
    c.textBaseline = "middle";
    c.strokeStyle = style.outlineColor;
    for (const tick of ticks(from, to, Math.max(2, Math.floor(wide / 140)))) {
      c.globalAlpha = 0.4; c.beginPath(); c.moveTo(x(tick), HEAD); c.lineTo(x(tick), height); c.stroke(); c.globalAlpha = 1;
      c.fillStyle = style.color;
      c.fillText(micro(tick), Math.min(x(tick) + 3, width - 80), HEAD / 2);
    }
    const y = (lane: number, depth: number): number => HEAD + (t.lanes[lane].top + depth) * ROW - down;
    c.save();
    c.beginPath(); c.rect(0, HEAD, width, height - HEAD); c.clip();
    t.lanes.forEach((l, i) => {
      const top = y(i, 0);
      if (top > height || top + l.depth * ROW < HEAD) return;
      c.fillStyle = style.color;
      const first = i === 0 || t.lanes[i - 1].process !== l.process;
      c.fillText(label(first ? `${l.process} · ${l.name}` : l.name, 34), first ? 4 : 16, top + ROW / 2, LABEL - (first ? 10 : 22));
      drawLane(c, t, i, { from, to, x, y, colours, key, ink: style.color });
    });
    c.strokeStyle = style.caretColor;
    c.globalAlpha = 0.75;
    let drawn = 0;
    for (const m of t.messages) {
      if (m.received < from || m.sent > to || drawn >= ARROWS) continue;
      const y0 = y(m.from, 0) + ROW / 2, y1 = y(m.to, 0) + ROW / 2;
      if ((y0 < HEAD && y1 < HEAD) || (y0 > height && y1 > height)) continue;
      arrow(c, Math.max(LABEL, x(m.sent)), y0, x(m.received), y1);
      drawn++;
    }
    c.globalAlpha = 1;
    if (picked >= 0) {
      c.strokeStyle = style.color; c.lineWidth = 2;
      const left = Math.max(LABEL, x(t.start[picked]));
      c.strokeRect(left, y(t.lane[picked], t.depth[picked]) + 1, Math.max(2, x(t.start[picked] + t.length[picked]) - left), ROW - 3);
    }
    c.restore();
  });

  function eventAt(px: number, py: number): number {
    const row = Math.floor((py - HEAD + down) / ROW), time = from + ((px - LABEL) / wide) * (to - from), near = ((to - from) / wide) * 2;
    const lane = t.lanes.find((l) => row >= l.top && row < l.top + l.depth);
    if (!lane || px < LABEL) return -1;
    let best = -1;
    for (const i of lane.event) {
      if (t.start[i] > time + near) break;
      if (t.depth[i] === row - lane.top && t.start[i] + t.length[i] >= time - near) best = i;
    }
    return best;
  }
  function show(event: number): void {
    pick(event);
    if (event < 0) return;
    const middle = t.start[event] + t.length[event] / 2, row = t.lanes[t.lane[event]].top + t.depth[event], most = Math.max(0, t.rows * ROW + HEAD + 4 - height);
    if (row * ROW < down || (row + 1) * ROW > down + height - HEAD) setDown(Math.min(most, Math.max(0, row * ROW - height / 2)));
    if (middle < from || middle > to) range(middle - (to - from) / 2, middle + (to - from) / 2);
  }
  function step(by: number): void {
    if (picked < 0) { show(t.lanes[0]?.event[0] ?? -1); return; }
    const list = t.lanes[t.lane[picked]].event, next = list[list.indexOf(picked) + by];
    if (next !== undefined) show(next);
  }
  function lane(by: number): void {
    const at = picked < 0 ? 0 : t.lane[picked] + by, to_lane = t.lanes[at], time = picked < 0 ? from : t.start[picked];
    if (to_lane?.event.length) show(to_lane.event.reduce((p, q) => (Math.abs(t.start[q] - time) < Math.abs(t.start[p] - time) ? q : p)));
  }
  function press(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const part = (to - from) / 4, moves: Record<string, () => void> = {
      ArrowRight: () => step(1), ArrowLeft: () => step(-1), ArrowDown: () => lane(1), ArrowUp: () => lane(-1),
      KeyD: () => range(from + part, to + part), KeyA: () => range(from - part, to - part), KeyW: () => zoom(0.5), KeyS: () => zoom(2),
      Equal: () => zoom(0.5), Minus: () => zoom(2), NumpadAdd: () => zoom(0.5), NumpadSubtract: () => zoom(2), Digit0: () => range(t.from, t.to), Escape: () => pick(-1),
    };
    if (!moves[e.code]) return;
    moves[e.code]();
    e.preventDefault();
    e.stopPropagation();
  }
  const point = (e: MouseEvent): [number, number] => { const r = canvas.current!.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
  const time = summary.reduce((sum, r) => sum + r.own, 0), one = picked >= 0 ? t.events[picked] : null;
  const table = (): string => [`${key},events,time_us,longest_us`, ...summary.map((r) => [csv(r.key), r.count, r.own, r.most].join(","))].join("\n") + "\n";
  if (!t.events.length) return <Empty>This trace has no events.</Empty>;
  return (
    <div class="listing timeline-view">
      <div class="bar" role="toolbar" aria-label="What the timeline shows">
        <Choice name="Colours by" value={key} list={keys.map((k): [string, string] => [k, label(k, 30)])} onPick={(v) => store.set({ extra: { ...s.extra, by: v } }, true)} />
        <button type="button" onClick={() => zoom(0.5)} aria-label="Zoom in">+</button><button type="button" onClick={() => zoom(2)} aria-label="Zoom out">−</button>
        <button type="button" onClick={() => range(t.from, t.to, true)}>All</button>
        <span class="dim" data-range={`${from} ${to}`}>{micro(from)} to {micro(to)}</span>
        <span class="dim">{num(t.events.length)} events, {num(t.lanes.length)} row{t.lanes.length === 1 ? "" : "s"}{t.messages.length ? `, ${num(t.messages.length)} messages` : ""}{t.unmatched ? `, ${num(t.unmatched)} ends of messages without the other` : ""}</span>
      </div>
      <div class="card timeline" ref={box}>
        <div role="application" tabIndex={0} ref={field} onKeyDown={press} aria-label={`Timeline of ${t.events.length} events in ${t.lanes.length} rows. Left and right go to the next event, up and down to another row, W and S zoom, A and D move, 0 shows all. The tables below have the sums.`}>
          <canvas ref={canvas}
            onWheel={(e) => { if (e.ctrlKey || e.metaKey || e.shiftKey || t.rows * ROW + HEAD <= height) { const [px] = point(e); zoom(e.deltaY < 0 ? 0.8 : 1.25, from + ((px - LABEL) / wide) * (to - from)); } else setDown(Math.min(Math.max(0, down + e.deltaY), Math.max(0, t.rows * ROW + HEAD + 4 - height))); e.preventDefault(); }}
            onMouseDown={(e) => setDrag({ x: point(e)[0], from, to })} onMouseLeave={() => setDrag(null)}
            onMouseMove={(e) => { if (drag && e.buttons & 1) { const by = ((drag.x - point(e)[0]) / wide) * (drag.to - drag.from); range(drag.from + by, drag.to + by); } }}
            onMouseUp={(e) => { const moved = drag && Math.abs(point(e)[0] - drag.x) > 3; setDrag(null); if (!moved) show(eventAt(...point(e))); }} />
        </div>
        <p class="under" role="status" data-picked={picked}>{one ? <><b><bdi>{label(one.name, 60)}</bdi></b>, <bdi>{label(t.lanes[t.lane[picked]].process, 40)}</bdi>, {label(t.lanes[t.lane[picked]].name, 40)}: from {micro(t.start[picked])} for {micro(t.length[picked])}{mhz ? ` (${num(Math.round(t.length[picked] * mhz))} cycles)` : ""}{" "}
          {Object.entries(one.args ?? {}).slice(0, 24).map(([k, v]) => `${label(k, 30)} ${label(String(v), 80)}`).join(", ")}</> : "Point and click at an event, or use the keys: ← → ↑ ↓ events, W S zoom, A D move, 0 all."}</p>
      </div>
      <section class="card"><h2>Time by {label(key, 30)}</h2>
        <button type="button" onClick={() => copy(table())}>Copy as CSV</button>
        <Scroll label="Time by kind"><table class="plain"><thead><tr><th scope="col">{label(key, 30)}</th><th scope="col" class="n">events</th><th scope="col" class="n">time</th><th scope="col" class="n">share</th><th scope="col" class="n">mean</th><th scope="col" class="n">longest</th></tr></thead>
          <tbody>{summary.slice(0, LISTED).map((r) => <tr key={r.key} data-key={r.key} data-count={r.count} data-own={r.own}><th scope="row"><span class="swatch" aria-hidden="true" style={{ background: colours.get(r.key), display: "inline-block", marginRight: "8px" }} /><bdi>{label(r.key, 60)}</bdi></th><td class="n">{num(r.count)}</td><td class="n">{micro(r.own)}</td><td class="n">{percent(time ? (100 * r.own) / time : NaN)}</td><td class="n">{micro(r.own / r.count)}</td><td class="n">{micro(r.most)}</td></tr>)}</tbody></table></Scroll>
        {summary.length > LISTED && <p class="dim">The first {LISTED} of {num(summary.length)}.</p>}
      </section>
      {t.messages.length > 0 && <section class="card"><h2>Slowest messages</h2>
        <Scroll label="Messages"><table class="plain"><thead><tr><th scope="col">message</th><th scope="col">from</th><th scope="col">to</th><th scope="col" class="n">sent</th><th scope="col" class="n">took</th><th scope="col">what</th></tr></thead>
          <tbody>{[...t.messages].sort((p, q) => q.received - q.sent - (p.received - p.sent) || p.sent - q.sent).slice(0, 50).map((m, i) => <tr key={i} data-message={`${m.from} ${m.to} ${m.sent} ${m.received}`}>
            <th scope="row"><button type="button" class="link" onClick={() => { const size = Math.max(m.received - m.sent, 1e-3); range(m.sent - size, m.received + size, true); field.current?.focus(); }}><bdi>{label(m.name, 40)}</bdi></button></th>
            <td><bdi>{label(t.lanes[m.from].process, 40)}</bdi></td><td><bdi>{label(t.lanes[m.to].process, 40)}</bdi></td><td class="n">{micro(m.sent)}</td><td class="n">{micro(m.received - m.sent)}</td><td class="dim">{Object.entries(m.args).slice(0, 8).map(([k, v]) => `${clean(k).slice(0, 30)} ${clean(String(v)).slice(0, 40)}`).join(", ")}</td></tr>)}</tbody></table></Scroll></section>}
    </div>);
}

interface View { from: number; to: number; x(time: number): number; y(lane: number, depth: number): number; colours: Map<string, string>; key: string; ink: string }

// The boxes of a lane. Of boxes that would end in the pixel where the last one ended, none is drawn.
function drawLane(c: CanvasRenderingContext2D, t: Trace, lane: number, v: View): void {
  const ends = new Float64Array(t.lanes[lane].depth).fill(-1);
  for (const i of t.lanes[lane].event) {
    if (t.start[i] > v.to) break;
    if (t.start[i] + t.length[i] < v.from) continue;
    const d = t.depth[i], left = Math.max(LABEL, v.x(t.start[i])), right = Math.max(left + 1, v.x(t.start[i] + t.length[i]));
    if (right <= ends[d] + 0.5) continue;
    ends[d] = right;
    c.fillStyle = v.colours.get(t.keyOf(i, v.key)) ?? CLASSES[7];
    c.fillRect(left, v.y(lane, d) + 1, right - left > 3 ? right - left - 1 : right - left, ROW - 3);
    if (right - left > 40) {
      c.save();
      c.beginPath(); c.rect(left, v.y(lane, d), right - left - 3, ROW); c.clip();
      c.fillStyle = "#000";
      c.fillText(label(t.events[i].name, 60), left + 3, v.y(lane, d) + ROW / 2);
      c.restore();
    }
  }
}

function arrow(c: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  c.beginPath();
  c.moveTo(x0, y0);
  c.lineTo(x1, y1);
  c.lineTo(x1 - 7 * Math.cos(angle - 0.4), y1 - 7 * Math.sin(angle - 0.4));
  c.moveTo(x1, y1);
  c.lineTo(x1 - 7 * Math.cos(angle + 0.4), y1 - 7 * Math.sin(angle + 0.4));
  c.stroke();
}
