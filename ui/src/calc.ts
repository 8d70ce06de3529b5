// Rows of the three linked trees, and what percentages are of: as chil_report_rows has it (include/chiliad/report.h).
//
// A node shows its inclusive value while it is closed and its exclusive one while it is open. A tree sums over the
// selections in the trees to its left. A selected node that is open stands for itself without its children.
import { Experiment, Mask } from "./data";
import { OTHERS, Pane, State } from "./state";

export interface Row {
  id: number; depth: number; name: string; children: boolean; open: boolean;
  whole: number; value: number; percent: number; // NaN: undefined
  position: number; // 1.. among its siblings
  siblings: number; shown: boolean;
}

export const MODES: [string, string][] = [
  ["usual", "KOJAK percent"], ["absolute", "Absolute"], ["own-root", "% of own root"], ["metric-root", "% of metric root"],
  ["metric-selection", "% of metric selection"], ["call-root", "% of call root"], ["call-selection", "% of call selection"],
  ["system-root", "% of system root"], ["system-selection", "% of system selection"], ["peer", "% of largest peer"],
  ["peer-range", "Peer distribution"], ["external", "% of another experiment"],
];

function callMask(exp: Experiment, s: State): Mask {
  if (!s.calls.size) return null;
  const bits = new Uint8Array(exp.calls.length);
  let key = "c";
  exp.calls.forEach((c, i) => {
    const inside = c.parent >= 0 && bits[c.parent] === 2;
    if (inside) bits[i] = 2;
    if (s.calls.has(i)) { bits[i] = bits[i] === 2 || !s.open.c.has(i) || !c.children.length ? 2 : 1; key += i + (bits[i] === 2 ? "+" : "-"); }
  });
  return { bits, key };
}

function placeMask(exp: Experiment, s: State): Mask {
  if (!s.places.size) return null;
  const bits = new Uint8Array(exp.threads), inside = new Uint8Array(exp.places.length);
  exp.places.forEach((p, i) => {
    inside[i] = s.places.has(i) || (p.parent >= 0 && inside[p.parent]) ? 1 : 0;
    if (p.thread >= 0) bits[p.thread] = inside[i];
  });
  return { bits, key: "s" + [...s.places].sort().join(",") };
}

export class Calc {
  private nodes: Mask;
  private threads: Mask;
  readonly own: boolean; // the selected metric is open
  constructor(readonly exp: Experiment, readonly s: State, private reference: Experiment | null = null) {
    this.nodes = callMask(exp, s);
    this.threads = placeMask(exp, s);
    this.own = s.metric >= 0 && s.open.m.has(s.metric) && exp.metrics[s.metric].children.length > 0;
  }

  left(pane: Pane): { nodes: Mask; threads: Mask } {
    const before = this.s.order.slice(0, this.s.order.indexOf(pane));
    return { nodes: before.includes("c") ? this.nodes : null, threads: before.includes("s") ? this.threads : null };
  }
  private total(metric: number, own: boolean, masks: { nodes: Mask; threads: Mask }): number {
    return this.exp.total(metric, own, masks.nodes, masks.threads);
  }

  modeIn(pane: Pane): string {
    const usual = { m: "own-root", c: "metric-selection", s: "call-selection" }[pane], { mode } = this.s;
    if (mode === "usual" || mode === "absolute") return usual;
    return (mode === "peer" || mode === "peer-range") && pane !== "s" ? usual : mode;
  }
  private external(metric: number): number {
    const same = this.reference?.findMetric(this.exp.metrics[this.exp.rootOf(metric)].name) ?? -1;
    return same >= 0 ? this.reference!.total(same, false, null, null) : 0;
  }
  private base(mode: string): number {
    const { exp, s } = this, metric = s.metric;
    switch (mode) {
      case "metric-root": return this.total(exp.rootOf(metric), false, this.left("m"));
      case "metric-selection": return this.total(metric, this.own, this.left("m"));
      case "call-root": case "call-selection": return this.callBase(mode === "call-root");
      case "system-root": return this.total(metric, this.own, { ...this.left("s"), threads: null });
      case "system-selection": return this.total(metric, this.own, { ...this.left("s"), threads: this.threads });
      case "external": return this.external(metric);
      default: return 0;
    }
  }
  private callBase(roots: boolean): number {
    const { exp, s } = this, left = this.left("c");
    if (!this.nodes) return this.total(s.metric, this.own, left);
    if (!roots) return this.total(s.metric, this.own, { ...left, nodes: this.nodes });
    const whole = exp.inclusive(exp.byNode(s.metric, this.own, left.nodes, left.threads));
    let sum = 0;
    const seen = new Set<number>();
    for (const n of s.calls) seen.add(exp.path(n)[0]);
    seen.forEach((root) => { sum += whole[root]; });
    return sum;
  }

  private static share(value: number, base: number): number { return base !== 0 ? (100 * value) / base : value === 0 ? 0 : NaN; }

  metricWhole(metric: number): number { return this.total(metric, false, this.left("m")); }

  metricRows(): Row[] {
    const { exp, s } = this, rows: Row[] = [], mode = this.modeIn("m"), fixed = this.base(mode);
    const walk = (list: number[], depth: number, base: number, apart: boolean): void => {
      list.forEach((i, at) => {
        const m = exp.metrics[i], whole = this.metricWhole(i), open = s.open.m.has(i) && m.children.length > 0;
        let value = whole;
        if (open) for (const k of m.children) value -= this.metricWhole(k);
        if (Math.abs(value) < 1e-12 * Math.abs(whole)) value = 0;
        const root = depth === 0 || apart;
        const of = root && mode === "own-root" ? whole : root && mode === "external" ? this.external(i) : base;
        rows.push({ id: i, depth, name: (m.partial ? "~" : "") + (m.title || m.name), children: m.children.length > 0, open, whole, value,
          percent: Calc.share(value, of), position: at + 1, siblings: list.length, shown: true });
        if (open) walk(m.children, depth + 1, of, false);
      });
    };
    walk(exp.metricRoots, 0, fixed, false);
    if (exp.apart.length) {
      const open = s.open.m.has(OTHERS);
      rows.push({ id: OTHERS, depth: 0, name: `${exp.apart.length} counters in no hierarchy`, children: true, open, whole: NaN, value: NaN,
        percent: NaN, position: 1, siblings: 1, shown: false });
      if (open) walk(exp.apart, 1, fixed, true);
    }
    return rows;
  }

  callVectors(): { own: Float64Array; whole: Float64Array } {
    const left = this.left("c"), own = this.exp.byNode(this.s.metric, this.own, left.nodes, left.threads);
    return { own, whole: this.exp.inclusive(own) };
  }

  callRows(): Row[] {
    const { exp, s } = this, rows: Row[] = [], mode = this.modeIn("c"), base = this.base(mode);
    const { own, whole } = this.callVectors(), weight = exp.inclusive(own.map(Math.abs));
    const walk = (list: number[], depth: number, root: number): void => {
      const kept = list.filter((n) => weight[n] > 0 || s.calls.has(n)).sort((a, b) => weight[b] - weight[a] || a - b);
      kept.forEach((n, at) => {
        if (depth === 0) root = whole[n];
        const some = exp.calls[n].children.some((k) => weight[k] > 0), open = some && s.open.c.has(n), value = open ? own[n] : whole[n];
        rows.push({ id: n, depth, name: exp.region(n).name, children: some, open, whole: whole[n], value,
          percent: Calc.share(value, mode === "own-root" ? root : base), position: at + 1, siblings: kept.length, shown: true });
        if (open) walk(exp.calls[n].children, depth + 1, root);
      });
    };
    walk(exp.callRoots, 0, 0);
    return rows;
  }

  placeWhole(): Float64Array {
    const { exp, s } = this, left = this.left("s"), thread = exp.byThread(s.metric, this.own, left.nodes, left.threads);
    const whole = new Float64Array(exp.places.length);
    for (let i = exp.places.length - 1; i >= 0; i--) {
      const p = exp.places[i];
      if (p.thread >= 0) whole[i] += thread[p.thread];
      if (p.parent >= 0) whole[p.parent] += whole[i];
    }
    return whole;
  }

  placeRows(): Row[] {
    const { exp, s } = this, rows: Row[] = [], mode = this.modeIn("s"), whole = this.placeWhole();
    const peers = new Map<string, [number, number]>();
    if (mode === "peer" || mode === "peer-range")
      exp.places.forEach((p, i) => {
        const [low, high] = peers.get(p.level) ?? [Infinity, -Infinity];
        peers.set(p.level, [Math.min(low, whole[i]), Math.max(high, whole[i])]);
      });
    const base = this.base(mode);
    const walk = (list: number[], depth: number, root: number): void => {
      list.forEach((i, at) => {
        const p = exp.places[i], children = p.children.length > 0, open = children && s.open.s.has(i), value = open ? 0 : whole[i];
        if (depth === 0) root = whole[i];
        const [low, high] = peers.get(p.level) ?? [0, 0];
        const percent = mode === "peer" ? Calc.share(whole[i], high) : mode === "peer-range" ? Calc.share(whole[i] - low, high - low)
          : Calc.share(value, mode === "own-root" ? root : base);
        rows.push({ id: i, depth, name: p.name, children, open, whole: whole[i], value, percent, position: at + 1, siblings: list.length,
          shown: !open });
        if (open) walk(p.children, depth + 1, root);
      });
    };
    walk(exp.placeRoots, 0, 0);
    return rows;
  }
}
