// Flame graph and icicle of any metric: a box for each call path, as wide as its inclusive value. Boxes that would be narrower
// than two pixels are left out, so their number is bounded by the window's width.
import { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { Calc } from "./calc";
import { CLASSES, classOf, difference, even, evenRgb, ink, mixDifference } from "./colour";
import { Experiment, Numbers, Ratio } from "./data";
import { Choice, Empty, Scale, useWidth } from "./picture";
import { pathFind, pathText, Store } from "./state";
import { label, num, percent, unitOf } from "./text";

const ROW = 20, LEAST = 2, MOST = 6000;

interface Box { node: number; depth: number; x: number; width: number }

// The boxes below a call path (-1: the roots), widths as shares of the whole. No recursion: trees may be deep.
function layout(exp: Experiment, whole: Float64Array, from: number, pixels: number): { boxes: Box[]; depth: number; left: number } {
  const roots = from < 0 ? exp.callRoots : [from], boxes: Box[] = [];
  const total = roots.reduce((sum, n) => sum + Math.max(0, whole[n]), 0);
  let depth = 0, left = 0;
  if (!(total > 0)) return { boxes, depth, left };
  const put = (list: number[], level: number, at: number): void => {
    let x = at;
    for (const n of [...list].sort((a, b) => whole[b] - whole[a] || a - b)) {
      const width = whole[n] / total;
      if (width * pixels < LEAST || boxes.length >= MOST) { if (whole[n] > 0) left++; continue; }
      boxes.push({ node: n, depth: level, x, width });
      x += width;
    }
  };
  put(roots, 0, 0);
  for (let i = 0; i < boxes.length; i++) {
    depth = Math.max(depth, boxes[i].depth + 1);
    put(exp.calls[boxes[i].node].children, boxes[i].depth + 1, boxes[i].x);
  }
  return { boxes, depth, left };
}

// The range of a ratio's scale: of what has at least a thousandth of the program in its denominator. Tiny denominators give the
// extremes, and would leave one colour for everything else.
export function ratioRange(ratio: Ratio): [number, number] {
  let low = Infinity, high = -Infinity;
  for (const [values, bit] of [[ratio.own, 1], [ratio.whole, 2]] as [Numbers, number][])
    for (let i = 0; i < values.length; i++) if (Number.isFinite(values[i]) && !((ratio.small?.[i] ?? 0) & bit)) { low = Math.min(low, values[i]); high = Math.max(high, values[i]); }
  return high > low ? [low, high] : Number.isFinite(low) ? [low, low + 1] : [0, 1];
}

export function Flame({ store }: { store: Store }): JSX.Element {
  const s = store.state, exp = store.experiment!, [box, pixels] = useWidth(), [focus, setFocus] = useState(-1), field = useRef<HTMLDivElement>(null);
  const extra = (key: string, value: string): void => { const next = { ...s.extra }; if (value) next[key] = value; else delete next[key]; store.set({ extra: next }, key !== "q"); };
  const upward = s.extra.up === "1", colour = s.extra.colour ?? "function", find = (s.extra.q ?? "").toLowerCase();
  const calc = new Calc(exp, { ...s, calls: new Set(), order: "msc" }), metric = exp.metrics[s.metric];
  const whole = useMemo(() => exp.inclusive(exp.byNode(s.metric, false, null, calc.left("c").threads)), [exp, exp.version, s.metric, s.places]);
  const zoom = s.extra.z ? pathFind(exp, s.extra.z) : -1;
  const { boxes, depth, left } = useMemo(() => layout(exp, whole, zoom, pixels || 800), [whole, zoom, pixels]);
  const ratio = exp.ratios.find((r) => r.name === colour && r.whole);
  const other = colour.startsWith("vs.") ? store.data.documents[Number(colour.slice(3))] : null, base = other instanceof Experiment ? other : null;
  const before = useMemo(() => {
    if (!base) return null;
    const same = base.findMetric(metric.name), out = new Float64Array(exp.calls.length);
    if (same < 0) return out;
    const sums = base.inclusive(base.byNode(same, false, null, null));
    boxes.forEach((b) => { const n = pathFind(base, pathText(exp, b.node)); if (n >= 0) out[b.node] = sums[n]; });
    return out;
  }, [base, base?.version, boxes, s.metric]);
  const [low, high] = ratio ? ratioRange(ratio) : [0, 1], tall = Math.min(30, Math.max(ROW, Math.floor(420 / Math.max(1, depth))));
  const most = before ? boxes.reduce((max, b) => Math.max(max, Math.abs(whole[b.node] - before[b.node])), 0) || 1 : 1;

  const paint = (n: number): { background: string; color: string; odd: string } => {
    if (before) { const at = (whole[n] - before[n]) / most; return { background: difference(at), color: ink(mixDifference(at)), odd: "" }; }
    if (ratio) {
      const v = ratio.whole![n], at = (v - low) / (high - low), odd = !Number.isFinite(v) ? " none" : at < 0 || at > 1 ? " beyond" : "";
      return { background: Number.isFinite(v) ? even(at) : "transparent", color: Number.isFinite(v) ? ink(evenRgb(at)) : "inherit", odd };
    }
    const which = classOf(colour === "module" ? exp.region(n).module : exp.region(n).name);
    return { background: CLASSES[which], color: ink(hex(CLASSES[which])), odd: "" };
  };
  const total = (zoom < 0 ? exp.callRoots : [zoom]).reduce((sum, n) => sum + whole[n], 0), program = exp.callRoots.reduce((sum, n) => sum + whole[n], 0);
  const hit = (n: number): boolean => find.length > 1 && exp.region(n).name.toLowerCase().includes(find);
  // Hits below hits count once.
  const inside = new Uint8Array(find.length > 1 ? exp.calls.length : 0);
  let share = 0;
  if (find.length > 1) exp.calls.forEach((c, i) => { const above = c.parent >= 0 && inside[c.parent]; inside[i] = above || hit(i) ? 1 : 0; if (inside[i] && !above) share += whole[i]; });

  const shown = boxes.find((b) => b.node === focus) ?? boxes.find((b) => s.calls.has(b.node)) ?? boxes[0];
  const select = (n: number): void => store.set({ calls: new Set([n]) }, true);
  const into = (n: number): void => extra("z", n < 0 || exp.callRoots.includes(n) && exp.callRoots.length === 1 ? "" : pathText(exp, n));
  function key(e: KeyboardEvent): void {
    if (!shown || e.ctrlKey || e.metaKey || e.altKey) return;
    const at = boxes.indexOf(shown), level = boxes.filter((b) => b.depth === shown.depth), place = level.indexOf(shown);
    const deeper = boxes.find((b) => exp.calls[b.node].parent === shown.node), parent = boxes.find((b) => b.node === exp.calls[shown.node].parent);
    const go = (to: Box | undefined): void => { if (to) { setFocus(to.node); document.getElementById("box-" + to.node)?.scrollIntoView({ block: "nearest" }); } };
    const moves: Record<string, () => void> = {
      ArrowDown: () => go(upward ? parent : deeper), ArrowUp: () => go(upward ? deeper : parent), ArrowRight: () => go(level[place + 1]), ArrowLeft: () => go(level[place - 1]),
      Home: () => go(boxes[0]), End: () => go(boxes[boxes.length - 1]), Enter: () => into(shown.node), " ": () => select(shown.node),
      Escape: () => into(-1), b: () => into(zoom >= 0 ? exp.calls[zoom].parent : -1),
      e: () => { let to = at; for (let next = boxes.findIndex((b) => exp.calls[b.node].parent === boxes[to].node); next >= 0; next = boxes.findIndex((b) => exp.calls[b.node].parent === boxes[to].node)) to = next; go(boxes[to]); },
    };
    if (!moves[e.key]) return;
    moves[e.key]();
    e.preventDefault();
  }
  const metrics = exp.metrics.map((m, i): [string, string] => [String(i), (m.apart ? "" : "· ".repeat(depthOf(exp, i))) + label(m.title || m.name, 60)]).filter((_, i) => exp.metrics[i].cells || exp.metrics[i].children.length);
  const colours: [string, string][] = [["function", "function"], ["module", "module"], ...exp.ratios.filter((r) => r.whole).map((r): [string, string] => [r.name, label(r.text || r.name, 40)]),
    ...store.data.documents.map((d, i): [string, string] => ["vs." + i, "difference from " + label(d.file, 40)]).filter((_, i) => i !== s.doc && store.data.documents[i] instanceof Experiment)];

  return (
    <div class="flame-view">
      <div class="bar" role="toolbar" aria-label="What the flame graph shows">
        <Choice name="Metric" value={String(s.metric)} list={metrics} onPick={(v) => store.set({ metric: Number(v) }, true)} />
        <Choice name="Colour" value={colour} list={colours} onPick={(v) => extra("colour", v === "function" ? "" : v)} />
        <Choice name="Roots" value={upward ? "1" : ""} list={[["", "at the top (icicle)"], ["1", "at the bottom (flame)"]]} onPick={(v) => extra("up", v)} />
        <label>Find <input type="search" value={s.extra.q ?? ""} onInput={(e) => extra("q", e.currentTarget.value)} /></label>
        {find.length > 1 && <span class="hits" role="status">{percent(program ? (100 * share) / program : NaN)} of all</span>}
        {zoom >= 0 && <button type="button" onClick={() => into(exp.calls[zoom].parent)}>Out</button>}
        {zoom >= 0 && <button type="button" onClick={() => into(-1)}>All</button>}
        {ratio && <Scale kind="even" low={num(low)} high={num(high)} note="of few and outside: hatched" />}
        {before && <Scale low="less" middle="equal" high="more" kind="diverging" />}
      </div>
      <div class="card flame-card" ref={box}>
        {boxes.length === 0 && <Empty>No call path has a positive value of this metric.</Empty>}
        {boxes.length > 0 && <div class="flame" role="tree" tabIndex={0} ref={field} aria-label={`Call paths by ${metric.title}, ${num(total)} ${unitOf(metric.unit)} in all`} onKeyDown={key}
          aria-activedescendant={shown ? "box-" + shown.node : undefined} style={{ height: depth * tall + "px" }}>
          {boxes.map((b) => {
            const { background, color, odd } = paint(b.node), v = whole[b.node], name = exp.region(b.node).name;
            return (
              <div key={b.node} id={"box-" + b.node} role="treeitem" aria-level={b.depth + 1} aria-selected={s.calls.has(b.node)} data-node={b.node} data-value={v}
                class={"box-row" + odd + (s.calls.has(b.node) ? " selected" : "") + (b === shown ? " current" : "") + (find.length > 1 ? (hit(b.node) ? " hit" : " miss") : "")}
                title={`${label(name, 200)}\n${num(v)} ${unitOf(metric.unit)}, ${percent((100 * v) / program)} of all`} aria-label={`${label(name, 100)} ${percent((100 * v) / program)}`}
                style={{ left: 100 * b.x + "%", width: `max(1px, calc(${100 * b.width}% - 1px))`, [upward ? "bottom" : "top"]: b.depth * tall + "px", height: tall - 1 + "px", lineHeight: tall - 1 + "px", background, color }}
                onClick={() => { setFocus(b.node); select(b.node); }} onDblClick={() => into(b.node)}>
                {b.width * pixels > 28 ? label(name, 100) : ""}</div>);
          })}
        </div>}
      </div>
      {shown && <section class="detail" aria-label="Call path" role="status">
        <h2><bdi>{label(exp.region(shown.node).name)}</bdi></h2>
        <p>{label(exp.path(shown.node).map((n) => exp.region(n).name).join(" / "), 300)}</p>
        <dl><div><dt>Inclusive</dt><dd><b>{num(whole[shown.node])}</b> {unitOf(metric.unit)}, {percent((100 * whole[shown.node]) / program)} of all</dd></div>
          <div><dt>Own</dt><dd>{num(whole[shown.node] - exp.calls[shown.node].children.reduce((sum, k) => sum + whole[k], 0))}</dd></div>
          {ratio && <div><dt>{label(ratio.text || ratio.name, 60)}</dt><dd>{num(ratio.whole![shown.node])} {unitOf(ratio.unit)}{ratio.small && ratio.small[shown.node] & 2 ? ", of few" : ""}</dd></div>}
          {before && <div><dt>There</dt><dd>{num(before[shown.node])}, here {num(whole[shown.node] - before[shown.node])} more</dd></div>}</dl>
        <p><button type="button" onClick={() => into(shown.node)}>Zoom in</button> <button type="button" onClick={() => store.set({ view: "trees", calls: new Set([shown.node]), open: { ...s.open, c: new Set([...s.open.c, ...exp.path(shown.node).slice(0, -1)]) } }, true)}>Show in the trees</button></p>
        {left > 0 && <p class="dim">{num(left)} call paths are too narrow to be drawn; zoom in to see them.</p>}
      </section>}
    </div>);
}

function depthOf(exp: Experiment, metric: number): number {
  let depth = 0;
  for (let at = exp.metrics[metric].parent; at >= 0; at = exp.metrics[at].parent) depth++;
  return depth;
}
function hex(text: string): [number, number, number] {
  const n = parseInt(text.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}
