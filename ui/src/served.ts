// The page when `chiliad serve` sends it: results are fetched when they are looked at, a program is watched while it runs
// (docs/formats/serve.md).
import { Ask, Data, decode, Document, Experiment, Mask, PendingDocument, SumsQuery } from "./data";
import { Stat } from "./stat";
import { Store } from "./state";
import { unpack } from "./unpack";

export interface LiveState { state: "running" | "paused" | "ended"; sequence: number; experiment: number; clock_hz: number; result: Stat | null }
interface List { program: string; results: { id: number; file: string; kind: string; bytes: number; modified: number }[]; live: boolean; records: boolean }

const KEPT = "chiliad.token", RETRY = 2000; // milliseconds

// The token is in the fragment of the address that the command printed. It is kept for this tab and taken out of the address.
function token(): string {
  const q = new URLSearchParams(location.hash.slice(1)), given = q.get("token");
  if (given) {
    q.delete("token");
    try { sessionStorage.setItem(KEPT, given); } catch { /* until the page is loaded again */ }
    history.replaceState(null, "", "#" + q.toString());
    return given;
  }
  try { return sessionStorage.getItem(KEPT) ?? ""; } catch { return ""; }
}

export class Server {
  private readonly token = token();

  private async ask(path: string, method = "GET"): Promise<Response> {
    const answer = await fetch(path, { method, headers: { Authorization: "Bearer " + this.token }, cache: "no-store", credentials: "omit" });
    if (answer.status === 401) throw new Error("This address has no token, or an old one. Open the address that chiliad serve printed.");
    if (!answer.ok && answer.status !== 409) throw new Error((await answer.text()).trim() || "the server answered " + answer.status);
    return answer;
  }
  async list(): Promise<List> { return (await this.ask("/api/list")).json(); }
  async live(since: number): Promise<LiveState | null> {
    const answer = await this.ask("/api/live?since=" + since);
    return answer.status === 204 ? null : answer.json();
  }
  async run(what: string, cycles = 0): Promise<void> { await this.ask(`/api/run?do=${what}&cycles=${cycles}`, "POST"); }
  async document(d: PendingDocument): Promise<Document | null> {
    const answer = await this.ask(d.id < 0 ? "/api/live/experiment" : "/api/result?id=" + d.id);
    if (answer.status === 204) return null;
    const data = decode(await unpack(await answer.arrayBuffer())), document = data.documents[0];
    document.file = d.file;
    if (document instanceof Experiment && document.asks) await this.attach(document, d.id);
    return document;
  }

  pending = 0; // sums that were asked for
  failed = "";
  shown: () => void = () => undefined; // sums have come

  // An experiment that is too large for a browser: its sums are asked for when they are shown. What the first view needs is
  // there before it is shown.
  private async attach(exp: Experiment, id: number): Promise<void> {
    const waiting: Promise<void>[] = [];
    let started = false, again = 0;
    const show = (): void => { again ||= setTimeout(() => { again = 0; this.shown(); }, 0) as unknown as number; };
    const ask: Ask = (query, good, bad) => {
      this.pending++;
      const one = this.sums(id, query).then((sums) => { this.failed = ""; good(sums); });
      if (!started) { waiting.push(one.finally(() => { this.pending--; })); return; }
      // What failed is asked for again, but not at once.
      void one.catch((error) => { this.failed = String(error.message ?? error); setTimeout(() => { bad(); show(); }, RETRY); })
        .finally(() => { this.pending--; show(); });
    };
    exp.ask = ask;
    exp.total(0, false, null, null);
    if (exp.selectedMetric >= 0) exp.byNode(exp.selectedMetric, false, null, null);
    await Promise.all(waiting);
    started = true;
  }
  private async sums(id: number, query: SumsQuery): Promise<Float64Array> {
    const words = new URLSearchParams({ id: String(id) });
    if (query.metric >= 0) { words.set("metric", String(query.metric)); words.set("by", query.by); }
    if (query.metric >= 0 && query.own) words.set("own", "1");
    if (query.calls) words.set("calls", ranges(query.calls));
    if (query.threads) words.set("threads", ranges(query.threads));
    return new Float64Array(await (await this.ask("/api/sums?" + words)).arrayBuffer());
  }
}

// A selection as "0-3,7".
function ranges(mask: NonNullable<Mask>): string {
  const { bits } = mask, out: string[] = [];
  for (let i = 0; i < bits.length; i++) {
    if (!bits[i]) continue;
    const first = i;
    while (i + 1 < bits.length && bits[i + 1]) i++;
    out.push(first === i ? String(i) : first + "-" + i);
  }
  return out.join(",");
}

export async function fetchData(server: Server): Promise<Data> {
  const list = await server.list(), documents: Document[] = [];
  if (list.live) {
    documents.push({ kind: "live", file: "the running program", state: null, history: { points: [], before: null, rates: new Map() } });
    if (list.records) documents.push({ kind: "pending", id: -1, file: "its call paths so far", hint: "experiment", failed: "" });
  }
  for (const r of list.results) documents.push({ kind: "pending", id: r.id, file: r.file, hint: r.kind, failed: "" });
  return { program: list.program, documents, server };
}

const loading = new Set<number>();
// Fetches a document in the place of one that was not fetched, or of an older one.
export function load(store: Store, at: number, d: PendingDocument): void {
  if (loading.has(at)) return;
  loading.add(at);
  const again = (): void => { setTimeout(() => { loading.delete(at); load(store, at, d); }, 400); };
  store.data.server!.document(d).then((got) => {
    if (!got) { again(); return; } // the run has not come to a pause yet
    loading.delete(at);
    store.data.documents[at] = got;
    store.arrived();
  }, (error) => {
    loading.delete(at);
    if (store.data.documents[at].kind === "pending") store.data.documents[at] = { ...d, failed: String(error.message ?? error) };
    store.arrived();
  });
}
