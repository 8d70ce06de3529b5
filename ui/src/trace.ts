// A trace as typed arrays: events of `chiliad trace --format json` (docs/formats/trace.md), in rows by process and thread, and
// messages between them. Times are microseconds.

export interface RawEvent { ph: string; pid: number; tid: number; name: string; ts?: number; dur?: number; id?: number | string; cat?: string; args?: Record<string, unknown> }
export interface RawTrace { traceEvents: RawEvent[]; otherData?: { machine?: string; clock_mhz?: number; kind?: string } }
// Events of a thread, in the order of their times; `depth`: inside how many others.
export interface Lane { pid: number; tid: number; name: string; process: string; event: number[]; depth: number; top: number }
export interface Message { name: string; from: number; to: number; sent: number; received: number; args: Record<string, unknown> } // lanes

export class Trace {
  readonly lanes: Lane[] = [];
  readonly messages: Message[] = [];
  readonly start: Float64Array; readonly length: Float64Array; readonly depth: Uint16Array; readonly lane: Uint32Array;
  readonly events: RawEvent[];
  readonly rows: number; // of all lanes
  readonly from: number; readonly to: number;
  readonly unmatched: number; // messages of which only one end is in the trace

  constructor(readonly raw: RawTrace) {
    const all = (Array.isArray(raw.traceEvents) ? raw.traceEvents : []).filter((e) => e && typeof e === "object").map((e) => ({ ...e, name: String(e.name ?? "") }));
    const shown = all.filter((e) => e.ph === "X" && Number.isFinite(e.ts));
    this.events = shown;
    this.start = Float64Array.from(shown, (e) => e.ts!);
    this.length = Float64Array.from(shown, (e) => Math.max(0, Number(e.dur) || 0));
    this.depth = new Uint16Array(shown.length);
    this.lane = new Uint32Array(shown.length);
    const at = new Map<string, number>();
    const laneOf = (e: RawEvent): number => {
      const key = e.pid + " " + e.tid;
      let i = at.get(key);
      if (i === undefined) { at.set(key, (i = this.lanes.length)); this.lanes.push({ pid: e.pid, tid: e.tid, name: `thread ${e.tid}`, process: `process ${e.pid}`, event: [], depth: 1, top: 0 }); }
      return i;
    };
    // Rows of a process stand together.
    [...shown].sort((p, q) => p.pid - q.pid).forEach(laneOf);
    shown.forEach((e, i) => { this.lane[i] = laneOf(e); this.lanes[this.lane[i]].event.push(i); });
    this.unmatched = this.match(all, laneOf);
    for (const e of all) {
      if (e.ph !== "M") continue;
      const name = String(e.args?.name ?? "");
      if (e.name === "process_name") { for (const l of this.lanes) if (l.pid === e.pid) l.process = name; }
      const i = e.name === "thread_name" ? at.get(e.pid + " " + e.tid) : undefined;
      if (i !== undefined) this.lanes[i].name = name;
    }
    let rows = 0;
    for (const l of this.lanes) { this.nest(l); l.top = rows; rows += l.depth; }
    this.rows = rows;
    let from = Infinity, to = -Infinity;
    for (let i = 0; i < shown.length; i++) { from = Math.min(from, this.start[i]); to = Math.max(to, this.start[i] + this.length[i]); }
    this.from = shown.length ? from : 0;
    this.to = shown.length ? Math.max(to, from + 1e-6) : 1;
  }

  // Ends of messages belong together when category, name and id are the same.
  private match(all: RawEvent[], laneOf: (e: RawEvent) => number): number {
    const sent = new Map<string, RawEvent>();
    let alone = 0;
    const key = (e: RawEvent): string => [e.cat, e.name, e.id].join("\n");
    for (const e of all) if (e.ph === "s") { if (sent.has(key(e))) alone++; sent.set(key(e), e); }
    for (const e of all) {
      if (e.ph !== "f") continue;
      const begin = sent.get(key(e));
      if (!begin) { alone++; continue; }
      sent.delete(key(e));
      this.messages.push({ name: e.name, from: laneOf(begin), to: laneOf(e), sent: Number(begin.ts) || 0, received: Number(e.ts) || 0, args: { ...begin.args, ...e.args } });
    }
    this.messages.sort((a, b) => a.sent - b.sent);
    return alone + sent.size;
  }

  private nest(lane: Lane): void {
    const { start, length } = this, ends: number[] = [];
    lane.event.sort((a, b) => start[a] - start[b] || length[b] - length[a]);
    for (const i of lane.event) {
      while (ends.length && ends[ends.length - 1] <= start[i] + 1e-9) ends.pop();
      this.depth[i] = Math.min(ends.length, 60);
      ends.push(start[i] + length[i]);
      lane.depth = Math.max(lane.depth, this.depth[i] + 1);
    }
  }

  // What events differ in: where there are levels of memory, these; else names, unless they are many.
  mainKey(): string {
    const keys = this.keys(), names = new Set(this.events.slice(0, 5000).map((e) => e.name));
    return keys.includes("level") ? "level" : names.size <= 8 ? "name" : keys[1] ?? "name";
  }
  // What there is to colour and add up by: the name, and arguments with few values.
  keys(): string[] {
    const values = new Map<string, Set<unknown>>(), step = Math.max(1, Math.floor(this.events.length / 5000));
    for (let i = 0; i < this.events.length; i += step)
      for (const [key, v] of Object.entries(this.events[i].args ?? {})) { let set = values.get(key); if (!set) values.set(key, (set = new Set())); if (set.size <= 60) set.add(v); }
    return ["name", ...[...values].filter(([key, set]) => key !== "cycle" && set.size > 1 && set.size <= 60).map(([key]) => key)];
  }
  keyOf(event: number, key: string): string { const e = this.events[event]; return key === "name" ? e.name : String(e.args?.[key] ?? "–"); }

  // Number and time of the events by key; the time inside others of the same lane is theirs, not their callers'.
  summary(key: string): { key: string; count: number; own: number; most: number }[] {
    const rows = new Map<string, { key: string; count: number; own: number; most: number }>(), own = Float64Array.from(this.length);
    for (const lane of this.lanes) {
      const above: number[] = [];
      for (const i of lane.event) {
        above.length = Math.min(above.length, this.depth[i]);
        if (above.length) own[above[above.length - 1]] -= this.length[i];
        above.push(i);
      }
    }
    for (let i = 0; i < this.events.length; i++) {
      const name = this.keyOf(i, key), row = rows.get(name) ?? { key: name, count: 0, own: 0, most: 0 };
      row.count++;
      row.own += own[i];
      row.most = Math.max(row.most, this.length[i]);
      rows.set(name, row);
    }
    return [...rows.values()].sort((a, b) => b.own - a.own || b.count - a.count);
  }
}
