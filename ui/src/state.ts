// What is shown: one object, mirrored in the address's fragment by names and paths, so that a link fits another run.
import { Data, Document, Experiment } from "./data";

export type Pane = "m" | "c" | "s";
export interface State {
  doc: number; view: string; metric: number; order: string; mode: string;
  calls: Set<number>; places: Set<number>;
  open: Record<Pane, Set<number>>;
  find: string; against: number; fn: string; extra: Record<string, string>;
}

export const OTHERS = -2; // in the tree of metrics: the row above the counters that are in no hierarchy

const step = (text: string): string => encodeURIComponent(text);

// A call path as "main/solve/dot"; the second of two with the same name is "dot~2".
export function pathText(exp: Experiment, call: number): string {
  return exp.path(call).map((at) => {
    const { parent, region } = exp.calls[at], same = (parent < 0 ? exp.callRoots : exp.calls[parent].children)
      .filter((k) => exp.regions[exp.calls[k].region].name === exp.regions[region].name);
    const number = same.indexOf(at) + 1;
    return step(exp.regions[region].name) + (number > 1 ? "~" + number : "");
  }).join("/");
}
export function pathFind(exp: Experiment, text: string): number {
  let at = -1;
  for (const part of text.split("/")) {
    const [name, number] = part.split("~");
    let want: string;
    try { want = decodeURIComponent(name); } catch { return -1; }
    const same = (at < 0 ? exp.callRoots : exp.calls[at].children).filter((k) => exp.region(k).name === want);
    at = same[Number(number ?? 1) - 1] ?? -1;
    if (at < 0) return -1;
  }
  return at;
}
const placeText = (exp: Experiment, place: number): string => {
  const names: string[] = [];
  for (let at = place; at >= 0; at = exp.places[at].parent) names.push(step(exp.places[at].name + "." + exp.places[at].rank));
  return names.reverse().join("/");
};

export class Store {
  state: State;
  private listeners = new Set<() => void>();
  notice = "";

  constructor(readonly data: Data) {
    this.state = this.initial(0);
    this.read();
    addEventListener("hashchange", () => { this.read(); this.changed(false); });
  }

  get document(): Document { return this.data.documents[this.state.doc]; }
  get experiment(): Experiment | null { const d = this.document; return d instanceof Experiment ? d : null; }

  // A document's first view: the roots open, and the heaviest path.
  initial(doc: number): State {
    const d = this.data.documents[doc], state: State = {
      doc, view: d instanceof Experiment ? "overview" : d.kind, metric: -1, order: "mcs", mode: "usual",
      calls: new Set(), places: new Set(), open: { m: new Set(), c: new Set(), s: new Set() },
      find: "", against: -1, fn: "", extra: {},
    };
    if (!(d instanceof Experiment)) return state;
    state.metric = d.selectedMetric;
    if (state.metric >= 0) heaviest(d, state.metric, -1).forEach((n) => state.open.c.add(n));
    d.places.forEach((p, i) => { if (p.level !== "thread" && d.threads <= 64) state.open.s.add(i); });
    return state;
  }

  subscribe(listener: () => void): void { this.listeners.add(listener); }
  set(change: Partial<State>, remember = false): void {
    this.state = { ...this.state, ...change };
    this.changed(true, remember);
  }
  // A document has come: the state is read again, since names in the address may now be known.
  arrived(read = true): void {
    if (read) this.read();
    this.changed(false);
  }
  private changed(write: boolean, remember = false): void {
    if (write) {
      const hash = "#" + this.text();
      try { if (remember) history.pushState(null, "", hash); else history.replaceState(null, "", hash); } catch { /* no history here */ }
    }
    this.listeners.forEach((listener) => listener());
  }

  text(): string {
    const s = this.state, exp = this.experiment, out = new URLSearchParams();
    out.set("v", s.view);
    if (s.doc) out.set("d", String(s.doc));
    if (s.against >= 0) out.set("vs", String(s.against));
    if (s.fn) out.set("f", s.fn);
    for (const [key, value] of Object.entries(s.extra)) out.set("x." + key, value);
    if (exp) {
      if (s.metric >= 0) out.set("m", exp.metrics[s.metric].name);
      if (s.order !== "mcs") out.set("o", s.order);
      if (s.mode !== "usual") out.set("p", s.mode);
      s.calls.forEach((n) => out.append("c", pathText(exp, n)));
      s.places.forEach((n) => out.append("s", placeText(exp, n)));
      [...s.open.m].slice(0, 60).forEach((n) => out.append("om", n < 0 ? "" : exp.metrics[n].name));
      const most = 60; // of more, the link has none, or "*" for all
      if (s.open.c.size > most && exp.calls.every((c, i) => !c.children.length || s.open.c.has(i))) out.set("oc", "*");
      else if (s.open.c.size <= most) s.open.c.forEach((n) => out.append("oc", pathText(exp, n)));
    }
    return out.toString();
  }

  private read(): void {
    const q = new URLSearchParams(location.hash.slice(1)), unknown: string[] = [];
    const doc = Math.min(Math.max(Number(q.get("d")) || 0, 0), this.data.documents.length - 1);
    const s = this.initial(doc), exp = this.data.documents[doc];
    if (q.get("v")) s.view = q.get("v")!;
    s.against = q.has("vs") ? Number(q.get("vs")) : -1;
    s.fn = q.get("f") ?? "";
    q.forEach((value, key) => { if (key.startsWith("x.")) s.extra[key.slice(2)] = value; });
    if (exp instanceof Experiment) {
      const metric = q.get("m"), found = metric ? exp.findMetric(metric) : s.metric;
      if (metric && found < 0) unknown.push(metric); else s.metric = found;
      const order = q.get("o");
      if (order && [...order].sort().join("") === "cms") s.order = order;
      s.mode = q.get("p") ?? s.mode;
      for (const text of q.getAll("c")) { const n = pathFind(exp, text); if (n >= 0) s.calls.add(n); else unknown.push(text); }
      for (const text of q.getAll("s")) {
        const n = exp.places.findIndex((_, i) => placeText(exp, i) === text);
        if (n >= 0) s.places.add(n); else unknown.push(text);
      }
      q.getAll("om").forEach((name) => { const n = name ? exp.findMetric(name) : OTHERS; if (n !== -1) s.open.m.add(n); });
      if (q.get("oc") === "*") exp.calls.forEach((c, i) => { if (c.children.length) s.open.c.add(i); });
      else if (q.has("oc")) s.open.c = new Set(q.getAll("oc").map((text) => pathFind(exp, text)).filter((n) => n >= 0));
    }
    this.notice = unknown.length ? "This link names what is not here: " + unknown.join(", ") : "";
    this.state = s;
  }
}

// From a call path (-1: the roots) down the child with the largest inclusive value.
export function heaviest(exp: Experiment, metric: number, from: number): number[] {
  const whole = exp.inclusive(exp.byNode(metric, false, null, null)), path = from < 0 ? [] : [from];
  for (let at = from; ;) {
    const children = at < 0 ? exp.callRoots : exp.calls[at].children;
    let best = -1;
    for (const k of children) if (best < 0 || Math.abs(whole[k]) > Math.abs(whole[best])) best = k;
    if (best < 0 || whole[best] === 0 || !exp.calls[best].children.length) return path;
    path.push(best);
    at = best;
  }
}
