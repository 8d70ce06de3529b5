// The data of the page: the container (docs/formats/page.md), and an experiment as typed arrays.
// Sums are doubles: counts are exact up to 2^53.

import type { History } from "./live";
import type { LiveState, Server } from "./served";

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array;
type Block = [string, number, number];

export interface Metric {
  name: string; title: string; unit: string; text: string; formula: string; exactness: string;
  parent: number; from: string; partial: boolean; apart: boolean; runs: number; low: number; high: number;
  node: Numbers; first: Numbers; thread: Numbers | null; value: Numbers; children: number[];
  cells: number; // how many values
}
export interface Region { name: string; module: string; begin: number; end: number; paradigm: string; role: string }
export interface Call { parent: number; region: number; line: number; module: string; children: number[]; depth: number }
export interface Place { name: string; level: string; parent: number; rank: number; thread: number; children: number[] }
export interface Ratio {
  name: string; text: string; unit: string; formula: string; value: number | null; partial: boolean;
  own?: Numbers; whole?: Numbers; small?: Numbers; // small: 1 own, 2 whole: the denominator is less than a thousandth of the program's
}
export interface Finding { name: string; call_path: number; share: number; text: string; evidence: Record<string, number> }
export interface Topology { name: string; dimensions: { name: string; size: number; periodic: boolean }[]; threads: number[][] }
export interface CodeFunction {
  name: string; object: string; address: Numbers; count: Numbers; line: Numbers; file: Numbers; text: string[]; values: (Numbers | null)[];
}
export interface Code { events: string[]; functions: CodeFunction[]; files: { name: string; first: number; lines: string[] }[] }
export interface ResultDocument { kind: "stat" | "hist" | "sweep" | "trace"; file: string; result: unknown }

// eslint-disable-next-line -- the header is what the program wrote
type Json = any;

export class Experiment {
  kind = "experiment" as const;
  file: string; attributes: Record<string, string>; specification: string | null;
  metrics: Metric[]; regions: Region[]; calls: Call[]; places: Place[]; topologies: Topology[];
  ratios: Ratio[]; findings: Finding[]; findingsNeed: string | null; selectedMetric: number;
  machine: Record<string, string> | null; code: Code | null;
  threads = 0; threadPlace: number[] = []; callRoots: number[] = []; placeRoots: number[] = []; metricRoots: number[] = [];
  apart: number[] = [];
  ask: Ask | null = null; // the values are with the server, which is asked for sums
  readonly asks: boolean;
  version = 0; // grows when sums come
  private cache = new Map<string, Float64Array>();

  constructor(doc: Json, block: (b: Block) => Numbers) {
    this.file = doc.file; this.attributes = doc.attributes; this.specification = doc.specification;
    this.asks = doc.asks ?? false;
    const none = new Uint8Array(0);
    this.metrics = doc.metrics.map((m: Json): Metric => (this.asks
      ? { ...m, children: [], cells: m.cells.count, node: none, first: none, thread: null, value: none }
      : { ...m, children: [], cells: m.cells.value[2], node: block(m.cells.node), first: block(m.cells.first),
        thread: m.cells.thread ? block(m.cells.thread) : null, value: block(m.cells.value) }));
    this.regions = doc.regions;
    this.calls = doc.call_paths.map((c: Json): Call => ({ ...c, children: [], depth: 0 }));
    this.places = doc.places.map((p: Json): Place => ({ ...p, children: [] }));
    this.topologies = doc.topologies;
    this.ratios = doc.ratios.map((r: Json): Ratio => ({
      ...r, own: r.own ? block(r.own) : undefined, whole: r.whole ? block(r.whole) : undefined,
      small: r.small ? block(r.small) : undefined,
    }));
    this.findings = doc.findings; this.findingsNeed = doc.findings_need; this.selectedMetric = doc.selected_metric;
    this.machine = doc.machine;
    this.code = doc.code ? {
      files: doc.code.files, events: doc.code.events ?? [],
      functions: doc.code.functions.map((f: Json): CodeFunction => ({
        ...f, address: block(f.address), count: block(f.count), line: block(f.line), file: block(f.file), values: (f.values ?? []).map((v: Block | null) => v && block(v)),
      })),
    } : null;
    this.link();
  }

  private link(): void {
    this.calls.forEach((c, i) => {
      if (c.parent < 0) { this.callRoots.push(i); return; }
      this.calls[c.parent].children.push(i);
      c.depth = this.calls[c.parent].depth + 1;
    });
    this.places.forEach((p, i) => {
      if (p.parent < 0) this.placeRoots.push(i); else this.places[p.parent].children.push(i);
      if (p.thread >= 0) { this.threadPlace[p.thread] = i; this.threads = Math.max(this.threads, p.thread + 1); }
    });
    this.metrics.forEach((m, i) => {
      if (m.apart) this.apart.push(i);
      else if (m.parent < 0) this.metricRoots.push(i);
      if (m.parent >= 0) this.metrics[m.parent].children.push(i);
    });
  }

  region(call: number): Region { return this.regions[this.calls[call].region]; }

  path(call: number): number[] {
    const path: number[] = [];
    for (let at = call; at >= 0; at = this.calls[at].parent) path.push(at);
    return path.reverse();
  }

  rootOf(metric: number): number {
    let at = metric;
    while (this.metrics[at].parent >= 0) at = this.metrics[at].parent;
    return at;
  }

  findMetric(name: string): number {
    const exact = this.metrics.findIndex((m) => m.name === name);
    return exact >= 0 ? exact : this.metrics.findIndex((m) => m.title === name || m.formula === name);
  }

  private memo(key: string, make: () => Float64Array): Float64Array {
    let value = this.cache.get(key);
    if (value) return value;
    if (this.cache.size > 512) this.cache.clear();
    value = make();
    this.cache.set(key, value);
    return value;
  }

  // Sums from the server; until they come, values are undefined.
  private asked(query: SumsQuery, size: number): Float64Array {
    const key = JSON.stringify([query.metric, query.own, query.by, query.calls?.key, query.threads?.key]), value = this.cache.get(key);
    if (value) return value;
    if (this.cache.size > 512) this.cache.clear();
    const none = new Float64Array(size).fill(NaN);
    this.cache.set(key, none);
    this.ask?.(query, (sums) => { this.cache.set(key, sums); this.version++; }, () => { this.cache.delete(key); });
    return none;
  }

  private add(metric: number, sign: number, nodes: Mask, threads: Mask, byThread: boolean, out: Float64Array): void {
    const { node, first, thread, value } = this.metrics[metric], rows = node.length, cells = value.length;
    const chosen = nodes?.bits, wanted = threads?.bits;
    for (let r = 0; r < rows; r++) {
      const n = node[r], end = r + 1 < rows ? first[r + 1] : cells;
      if (chosen && !chosen[n]) continue;
      for (let i = first[r]; i < end; i++) {
        const t = thread ? thread[i] : 0;
        if (wanted && !wanted[t]) continue;
        out[byThread ? t : n] += sign * value[i];
      }
    }
  }

  private sums(metric: number, own: boolean, nodes: Mask, threads: Mask, byThread: boolean): Float64Array {
    if (this.asks) return this.asked({ metric, own, by: byThread ? "thread" : "call", calls: nodes, threads }, byThread ? this.threads : this.calls.length);
    const key = `${metric} ${own} ${nodes?.key ?? ""} ${threads?.key ?? ""} ${byThread}`;
    return this.memo(key, () => {
      const out = new Float64Array(byThread ? this.threads : this.calls.length);
      this.add(metric, 1, nodes, threads, byThread, out);
      if (own) for (const child of this.metrics[metric].children) this.add(child, -1, nodes, threads, byThread, out);
      return out;
    });
  }

  // What each call path counted itself; of a metric, or with `own` of it without its children.
  byNode(metric: number, own: boolean, nodes: Mask, threads: Mask): Float64Array {
    return this.sums(metric, own, nodes, threads, false);
  }
  byThread(metric: number, own: boolean, nodes: Mask, threads: Mask): Float64Array {
    return this.sums(metric, own, nodes, threads, true);
  }
  total(metric: number, own: boolean, nodes: Mask, threads: Mask): number {
    const make = (): number => {
      let sum = this.sum(metric, nodes, threads);
      if (own) for (const child of this.metrics[metric].children) sum -= this.sum(child, nodes, threads);
      return sum;
    };
    if (this.asks) return make();
    return this.memo(`total ${metric} ${own} ${nodes?.key ?? ""} ${threads?.key ?? ""}`, () => Float64Array.of(make()))[0];
  }
  private sum(metric: number, nodes: Mask, threads: Mask): number {
    if (this.asks) return this.asked({ metric: -1, own: false, by: "thread", calls: nodes, threads }, this.metrics.length)[metric];
    const { value } = this.metrics[metric];
    let sum = 0;
    if (!nodes && !threads) {
      for (let i = 0; i < value.length; i++) sum += value[i];
      return sum;
    }
    const part = this.byThread(metric, false, nodes, threads);
    for (let i = 0; i < part.length; i++) sum += part[i];
    return sum;
  }

  // Own values of call paths as inclusive ones: a caller comes before what it calls.
  inclusive(own: Float64Array): Float64Array {
    const whole = own.slice();
    for (let i = whole.length - 1; i > 0; i--) {
      const parent = this.calls[i].parent;
      if (parent >= 0) whole[parent] += whole[i];
    }
    return whole;
  }
}

// A selection of call paths or threads; null: all. Equal keys are equal selections.
export type Mask = { bits: Uint8Array; key: string } | null;

// What a server is asked: the sums of a metric by call path or thread, or with metric -1 one for each metric.
export interface SumsQuery { metric: number; own: boolean; by: "call" | "thread"; calls: Mask; threads: Mask }
export type Ask = (query: SumsQuery, good: (sums: Float64Array) => void, bad: () => void) => void;

// Of a server: not fetched yet (id -1: the call paths of the running program), and the running program.
export interface PendingDocument { kind: "pending"; id: number; file: string; hint: string; failed: string }
export interface LiveDocument { kind: "live"; file: string; state: LiveState | null; history: History }

export type Document = Experiment | ResultDocument | PendingDocument | LiveDocument;
export interface Data { program: string; documents: Document[]; server?: Server }

export function decode(buffer: ArrayBuffer): Data {
  const bytes = new Uint8Array(buffer), view = new DataView(buffer);
  if (new TextDecoder().decode(bytes.subarray(0, 8)) !== "CHILPAGE") throw new Error("this is no data of a page");
  const size = Number(view.getBigUint64(8, true)), begin = Math.ceil((16 + size) / 8) * 8;
  const header: Json = JSON.parse(new TextDecoder().decode(bytes.subarray(16, 16 + size)));
  if (header.format !== "chiliad-page" || header.version !== 1) throw new Error("this page is of another version");
  const block = ([type, offset, count]: Block): Numbers => {
    const at = begin + offset;
    switch (type) {
      case "u8": return new Uint8Array(buffer, at, count);
      case "u16": return new Uint16Array(buffer, at, count);
      case "u32": return new Uint32Array(buffer, at, count);
      case "f64": return new Float64Array(buffer, at, count);
      default: return Float64Array.from(new BigInt64Array(buffer, at, count), Number);
    }
  };
  return {
    program: header.program,
    documents: header.documents.map((d: Json): Document => (d.kind === "experiment" ? new Experiment(d, block) : d)),
  };
}
