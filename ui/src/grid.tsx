// Values at places with coordinates as coloured tiles: a plane, or several planes side by side or stacked. Drawn on a canvas,
// because machines have thousands of nodes; a cursor moves by keys, and a line says what is under it.
import { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { even } from "./colour";
import { Choice, Empty, Scale, useWidth } from "./picture";
import { label, num, percent } from "./text";

export interface Dimension { name: string; size: number; periodic: boolean }
export interface Places {
  dimensions: Dimension[];
  at: number[][]; // of each item; empty: nowhere
  names: string[];
  values: ArrayLike<number>; // NaN: none
}
interface Tile { cell: number[]; items: number[]; value: number; x: number; y: number }

export interface GridProps {
  name: string; unit: string; places: Places; selected: Set<number>; extra: Record<string, string>;
  onExtra(key: string, value: string): void; onSelect(items: number[]): void;
}
const RANGES: [string, string][] = [["", "least to most"], ["zero", "zero to most"]];
const LOOKS: [string, string][] = [["", "side by side"], ["stack", "stacked"]];
const MISSING = "#9993";

export function Grid(p: GridProps): JSX.Element {
  const { dimensions, at, values, names } = p.places, [box, room] = useWidth(), canvas = useRef<HTMLCanvasElement>(null), [cursor, setCursor] = useState(-1);
  const named = dimensions.map((d, i) => ({ ...d, name: d.name || "xyzabcdef"[i] })), axes = named.slice(0, 3), more = named.slice(3), stacked = p.extra.look === "stack" && axes.length === 3;
  const slice = more.map((_, i) => p.extra["at" + (i + 3)] ?? "");
  const tiles = useMemo(() => {
    const cells = new Map<string, Tile>();
    at.forEach((place, item) => {
      if (!place.length || place.some((v) => v < 0) || Number.isNaN(values[item]) || slice.some((want, i) => want !== "" && Number(want) !== place[i + 3])) return;
      const cell = axes.map((_, d) => place[d]), key = cell.join(",");
      const tile = cells.get(key);
      if (tile) { tile.items.push(item); tile.value += values[item]; } else cells.set(key, { cell, items: [item], value: values[item], x: 0, y: 0 });
    });
    return [...cells.values()].sort((a, b) => (a.cell[2] ?? 0) - (b.cell[2] ?? 0) || (a.cell[1] ?? 0) - (b.cell[1] ?? 0) || a.cell[0] - b.cell[0]);
  }, [p.places, slice.join()]);
  const nx = axes[0]?.size ?? 1, ny = axes[1]?.size ?? 1, planes = useMemo(() => [...new Set(tiles.map((t) => t.cell[2] ?? 0))].sort((a, b) => a - b), [tiles]);
  const width = Math.max(200, room - 24), high = tiles.reduce((most, t) => Math.max(most, t.value), -Infinity), least = tiles.reduce((l, t) => Math.min(l, t.value), Infinity), low = p.extra.range === "zero" ? Math.min(0, least) : least;
  // Planes side by side: as many in a row as make the tiles largest.
  let across = 1, tile = 1;
  for (let n = 1; n <= Math.max(1, stacked ? 1 : planes.length); n++) {
    const size = Math.min(tiles.length > 200 ? 40 : 72, (width / n - 16) / (stacked ? nx + ny * 0.5 : nx), (stacked ? 1400 : 1600) / Math.ceil(planes.length / n) / (ny + 1.5));
    if (size >= tile) { tile = size; across = n; }
  }
  const inner = tile >= 5 ? 1 : 0, planeWidth = nx * tile + 16, planeHeight = ny * tile + 24, gap = stacked ? ny * tile * 0.5 + 14 : planeHeight;
  const height = stacked ? gap * planes.length + 20 : Math.ceil(planes.length / across) * planeHeight;
  const spot = (t: Tile): [number, number] => {
    const plane = planes.indexOf(t.cell[2] ?? 0), x = t.cell[0] * tile, y = (t.cell[1] ?? 0) * tile;
    if (stacked) return [x + (ny * tile - y) * 0.5, plane * gap + y * 0.5 + 10];
    return [(plane % across) * planeWidth + x, Math.floor(plane / across) * planeHeight + y + 18];
  };
  useEffect(() => {
    const node = canvas.current;
    if (!node || !room) return;
    const sharp = devicePixelRatio || 1, used = Math.min(width, stacked ? (nx + ny * 0.5) * tile + 90 : across * planeWidth);
    node.width = used * sharp; node.height = height * sharp;
    node.style.width = used + "px"; node.style.height = height + "px";
    const c = node.getContext("2d")!, style = getComputedStyle(node);
    c.scale(sharp, sharp);
    c.font = "12px " + style.fontFamily;
    const shape = (x: number, y: number, s: number): void => {
      c.beginPath();
      if (!stacked) c.rect(x, y, s, s);
      else { c.moveTo(x, y); c.lineTo(x + s, y); c.lineTo(x + s - s * 0.5, y + s * 0.5); c.lineTo(x - s * 0.5, y + s * 0.5); c.closePath(); }
    };
    planes.forEach((plane, i) => {
      c.fillStyle = style.color;
      if (axes.length === 3) c.fillText(`${label(axes[2].name, 20)} = ${plane}`, stacked ? (nx + ny * 0.5) * tile + 6 : (i % across) * planeWidth, stacked ? i * gap + 20 : Math.floor(i / across) * planeHeight + 13);
      c.fillStyle = MISSING;
      if (stacked) { c.beginPath(); const x = ny * tile * 0.5, y = i * gap + 10; c.moveTo(x, y); c.lineTo(x + nx * tile, y); c.lineTo(nx * tile, y + ny * tile * 0.5); c.lineTo(0, y + ny * tile * 0.5); c.fill(); }
      else c.fillRect((i % across) * planeWidth, Math.floor(i / across) * planeHeight + 18, nx * tile - inner, ny * tile - inner);
    });
    for (const t of tiles) {
      const [x, y] = spot(t);
      c.fillStyle = even(high > low ? (t.value - low) / (high - low) : 1);
      shape(x, y, tile - inner);
      c.fill();
    }
    c.strokeStyle = getComputedStyle(node.parentElement!).outlineColor;
    tiles.forEach((t, i) => {
      const chosen = t.items.some((item) => p.selected.has(item));
      if (!chosen && i !== cursor) return;
      const [x, y] = spot(t);
      c.lineWidth = i === cursor ? 3 : 2;
      c.strokeStyle = i === cursor ? style.color : style.caretColor;
      shape(x + 1, y + 1, tile - inner - 2);
      c.stroke();
    });
  });
  function under(e: MouseEvent): number {
    const area = canvas.current!.getBoundingClientRect(), mx = e.clientX - area.left, my = e.clientY - area.top;
    for (let i = tiles.length - 1; i >= 0; i--) {
      const [x, y] = spot(tiles[i]);
      if (stacked ? my >= y && my < y + tile * 0.5 && mx >= x - (my - y) && mx < x + tile - (my - y) : mx >= x && mx < x + tile && my >= y && my < y + tile) return i;
    }
    return -1;
  }
  function key(e: KeyboardEvent): void {
    const from = tiles[Math.max(0, cursor)];
    if (!from || e.ctrlKey || e.metaKey || e.altKey) return;
    const step: Record<string, [number, number]> = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 1], ArrowUp: [1, -1], PageDown: [2, 1], PageUp: [2, -1] };
    if (e.key === "Enter" || e.key === " ") p.onSelect(from.items);
    else if (e.key === "Home") setCursor(0);
    else if (e.key === "End") setCursor(tiles.length - 1);
    else if (step[e.key]) {
      const [d, by] = step[e.key], want = [...from.cell];
      if (cursor < 0) { setCursor(0); e.preventDefault(); return; }
      if (d < want.length) want[d] += by; else want[0] += by * 4;
      const to = tiles.findIndex((t) => t.cell.every((v, i) => v === want[i]));
      if (to >= 0) setCursor(to);
    } else return;
    e.preventDefault();
  }
  const where = (t: Tile): string => t.cell.map((v, d) => `${label(axes[d].name, 20)} ${v}`).join(", ");
  const shown = tiles[cursor], who = shown ? shown.items.map((i) => label(names[i], 40)).slice(0, 4).join(", ") : "";
  return (
    <div class="topology">
      <div class="bar" role="toolbar" aria-label="How places are shown">
        <Choice name="Colours" value={p.extra.range ?? ""} list={RANGES} onPick={(v) => p.onExtra("range", v)} />
        {axes.length === 3 && <Choice name="Planes" value={p.extra.look ?? ""} list={LOOKS} onPick={(v) => p.onExtra("look", v)} />}
        {more.map((d, i) => <Choice key={i} name={label(d.name, 20)} value={slice[i]} list={[["", "all, added up"], ...Array.from({ length: Math.min(d.size, 512) }, (_, v): [string, string] => [String(v), String(v)])]} onPick={(v) => p.onExtra("at" + (i + 3), v)} />)}
        {tiles.length > 0 && <Scale kind="even" low={num(low)} high={num(high)} note={p.unit} />}
      </div>
      <div class="card" ref={box}>
        {tiles.length === 0 && <Empty>No place here has a value.</Empty>}
        {tiles.length > 0 && <div class="places" role="application" tabIndex={0} onKeyDown={key} data-tiles={JSON.stringify(tiles.slice(0, 5000).map((t) => [...t.cell, t.value]))}
          aria-label={`${p.name}: ${tiles.length} places, ${dimensions.map((d) => `${d.size} ${d.name}`).join(" by ")}. Arrows move, Enter selects.`}>
          <canvas ref={canvas} onMouseMove={(e) => { const i = under(e); if (i >= 0 && i !== cursor) setCursor(i); }} onClick={(e) => { const i = under(e); if (i >= 0) p.onSelect(tiles[i].items); }} />
        </div>}
        {tiles.length > 0 && <p class="under" role="status">{shown ? `${where(shown)}: ${num(shown.value)} ${p.unit}${high > least ? `, ${percent((100 * (shown.value - least)) / (high - least))} of the way from least to most` : ""} (${who}${shown.items.length > 4 ? ", …" : ""})`
          : `${num(tiles.length)} places from ${num(least)} to ${num(high)}, ${num(tiles.reduce((sum, t) => sum + t.value, 0) / tiles.length)} on average. Point at a place, or move with the arrows.`}</p>}
      </div>
    </div>);
}
