// A tree as a grid whose rows exist only while they can be seen. Focus stays on the grid (aria-activedescendant), so
// recycled rows never lose it. Keys are those of the WAI-ARIA tree grid.
import { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Row } from "./calc";
import { difference, magnitude } from "./colour";
import { label, num, percent } from "./text";

export interface RatioColumn { head: string; title: string; of(row: Row): { value: number; colour: string; beyond: boolean; small: boolean } }
export interface TreeProps {
  name: string; id: string; rows: Row[]; selected: Set<number>; showPercent: boolean; highest: number; percentHead: string; valueHead: string;
  found: Set<number>; ratio?: RatioColumn; title(id: number): string;
  onToggle(id: number, open: boolean): void;
  onSelect(id: number, add: boolean): void;
  onSubtree(id: number): void;
  onLargest(id: number): void;
  onMove(by: number): void; // to the pane beside
}

const HEIGHT = 26, AROUND = 8, PRINTED = 3000;

// Whether the page is being printed: then all rows are needed, not those of the window.
function usePrinting(): boolean {
  const [printing, set] = useState(false);
  useEffect(() => {
    const media = matchMedia("print"), changed = (): void => set(media.matches), before = (): void => set(true), after = (): void => set(false);
    media.addEventListener("change", changed);
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    return () => { media.removeEventListener("change", changed); removeEventListener("beforeprint", before); removeEventListener("afterprint", after); };
  }, []);
  return printing;
}

export function Tree(p: TreeProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const printing = usePrinting();
  const [focus, setFocus] = useState(-1), [top, setTop] = useState(0), [height, setHeight] = useState(600);
  const at = p.rows.findIndex((r) => r.id === focus), current = at >= 0 ? at : Math.max(0, p.rows.findIndex((r) => p.selected.has(r.id)));

  useLayoutEffect(() => {
    const node = box.current!;
    const measure = (): void => setHeight(node.clientHeight || 600);
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(node);
    return () => watch.disconnect();
  }, []);
  // What is found first comes into view.
  const first = p.found.size ? p.rows.findIndex((r) => p.found.has(r.id)) : -1;
  useEffect(() => { if (first >= 0) show(first); }, [p.found]);

  function show(index: number): void {
    const node = box.current!, y = index * HEIGHT;
    if (y < node.scrollTop) node.scrollTop = y;
    else if (y + 2 * HEIGHT > node.scrollTop + node.clientHeight) node.scrollTop = y + 2 * HEIGHT - node.clientHeight;
    setTop(node.scrollTop);
  }
  function go(index: number): void {
    const to = Math.min(Math.max(index, 0), p.rows.length - 1);
    if (to < 0) return;
    setFocus(p.rows[to].id);
    show(to);
  }
  function parentOf(index: number): number {
    for (let i = index - 1; i >= 0; i--) if (p.rows[i].depth < p.rows[index].depth) return i;
    return index;
  }
  function key(e: KeyboardEvent): void {
    const row = p.rows[current], page = Math.max(1, Math.floor(height / HEIGHT) - 1);
    if (!row || e.altKey || e.metaKey) return;
    const moves: Record<string, () => void> = {
      ArrowDown: () => go(current + 1), ArrowUp: () => go(current - 1), PageDown: () => go(current + page), PageUp: () => go(current - page),
      Home: () => go(0), End: () => go(p.rows.length - 1),
      ArrowRight: () => { if (row.children && !row.open) p.onToggle(row.id, true); else if (row.children) go(current + 1); },
      ArrowLeft: () => { if (row.open) p.onToggle(row.id, false); else go(parentOf(current)); },
      Enter: () => p.onSelect(row.id, e.ctrlKey), " ": () => p.onSelect(row.id, e.ctrlKey || e.shiftKey),
      "*": () => p.onSubtree(row.id), e: () => p.onLargest(row.id), "[": () => p.onMove(-1), "]": () => p.onMove(1),
    };
    if (!moves[e.key]) return;
    setFocus(row.id);
    moves[e.key]();
    e.preventDefault();
    e.stopPropagation();
  }

  const from = printing ? 0 : Math.max(0, Math.floor(top / HEIGHT) - AROUND), to = Math.min(p.rows.length, printing ? PRINTED : Math.ceil((top + height) / HEIGHT) + AROUND);
  const rows: JSX.Element[] = [];
  for (let i = from; i < to; i++) {
    const r = p.rows[i], selected = p.selected.has(r.id), share = p.showPercent ? r.percent / 100 : r.value / (p.highest || 1);
    const colour = !r.shown || Number.isNaN(share) ? "transparent" : r.value === 0 && share === 0 ? "var(--zero)" : r.value < 0 ? difference(-Math.min(1, Math.abs(share))) : magnitude(share);
    rows.push(
      <div key={r.id} id={`${p.id}-${r.id}`} role="row" class={"row" + (selected ? " selected" : "") + (i === current ? " current" : "") + (p.found.has(r.id) ? " found" : "")}
        aria-level={r.depth + 1} aria-posinset={r.position} aria-setsize={r.siblings} aria-rowindex={i + 2} aria-selected={selected}
        aria-expanded={r.children ? r.open : undefined} data-id={r.id} data-value={r.shown ? r.value : ""} data-whole={r.whole}
        data-percent={Number.isNaN(r.percent) ? "" : r.percent} style={{ transform: `translateY(${i * HEIGHT}px)` }}
        onClick={(e) => { setFocus(r.id); p.onSelect(r.id, e.ctrlKey || e.metaKey || e.shiftKey); }}>
        <span role="gridcell" class="value">{r.shown && !Number.isNaN(r.value) ? num(r.value) : "–"}</span>
        {p.showPercent && <span role="gridcell" class="percent">{r.shown ? percent(r.percent) : "–"}</span>}
        {p.ratio && ratioCell(p.ratio, r)}
        <span role="rowheader" class="name" title={p.title(r.id)}>
          <span class="indent" style={{ width: Math.min(r.depth, 40) * 14 + "px" }} />
          <span class="fold" aria-hidden="true" onClick={(e) => { if (r.children) { e.stopPropagation(); setFocus(r.id); p.onToggle(r.id, !r.open); } }}>
            {r.children ? (r.open ? "▾" : "▸") : ""}
          </span>
          <span class={"box" + (r.value < 0 ? " negative" : "")} aria-hidden="true" style={{ background: colour }} />
          <bdi class="label">{label(r.name)}</bdi>
        </span>
      </div>);
  }
  return (
    <div class="grid" role="treegrid" tabIndex={0} ref={box} aria-label={p.name} aria-rowcount={p.rows.length + 1} aria-multiselectable="true"
      aria-activedescendant={p.rows.length ? `${p.id}-${p.rows[current]?.id}` : undefined} id={p.id} onKeyDown={key}
      onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
      <div role="row" class="head" aria-rowindex={1}>
        <span role="columnheader" class="value">{p.valueHead}</span>
        {p.showPercent && <span role="columnheader" class="percent" title={p.percentHead}>share</span>}
        {p.ratio && <span role="columnheader" class="ratio" title={p.ratio.title}>{p.ratio.head}</span>}
        <span role="columnheader" class="name">name</span>
      </div>
      <div role="rowgroup" class="rows" style={{ height: p.rows.length * HEIGHT + "px" }}>{rows}</div>
      {printing && p.rows.length > PRINTED && <p class="empty">The first {PRINTED} of {p.rows.length} rows.</p>}
      {p.rows.length === 0 && <p class="empty">No values here.</p>}
    </div>
  );
}

// A ratio beside the value: its colour is on the scale that most of the program is on; what has next to
// nothing in its denominator is pale, and hatched where it is outside.
function ratioCell(column: RatioColumn, row: Row): JSX.Element {
  const { value, colour, beyond, small } = column.of(row);
  return (
    <span role="gridcell" class={"ratio" + (small ? " small" : "")} data-ratio={Number.isNaN(value) ? "" : value} data-small={small}>
      {Number.isNaN(value) ? "–" : num(value)}<span class={"box" + (beyond ? " beyond" : "")} aria-hidden="true" style={{ background: colour }} /></span>);
}
