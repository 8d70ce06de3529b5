// Starts the page: decodes the data in a worker, then shows the view that the address names.
import { JSX, render } from "preact";
import { useEffect, useReducer, useState } from "preact/hooks";
import { Compare, comparable } from "./compare";
import { Data, decode, Document, Experiment } from "./data";
import { Flame } from "./flame";
import { Functions } from "./functions";
import { HistView } from "./hist";
import { Live } from "./live";
import { Metrics } from "./metrics";
import { Overview, stackMetric } from "./overview";
import { Roofline, roofs } from "./roofline";
import { fetchData, load, Server } from "./served";
import { Source } from "./source";
import { Stacks } from "./stacks";
import { StatView } from "./stat";
import { Store } from "./state";
import { SweepView } from "./sweep";
import { clean, label } from "./text";
import { Timeline } from "./timeline";
import { Topology } from "./topology";
import { Trees } from "./trees";
import { unpack } from "./unpack";

interface View { id: string; name: string; has(d: Document, all: Document[]): boolean; show(props: { store: Store }): JSX.Element }
const isExperiment = (d: Document): d is Experiment => d instanceof Experiment;
const VIEWS: View[] = [
  { id: "live", name: "Live", has: (d) => d.kind === "live", show: Live },
  { id: "overview", name: "Overview", has: isExperiment, show: Overview },
  { id: "trees", name: "Trees", has: isExperiment, show: Trees },
  { id: "functions", name: "Functions", has: isExperiment, show: Functions },
  { id: "flame", name: "Flame graph", has: isExperiment, show: Flame },
  { id: "stacks", name: "Stacks", has: (d) => isExperiment(d) && stackMetric(d) >= 0 && d.metrics[stackMetric(d)].children.length > 0, show: Stacks },
  { id: "source", name: "Source", has: (d) => isExperiment(d) && !!d.code?.functions.length, show: Source },
  { id: "topology", name: "Topology", has: isExperiment, show: Topology },
  { id: "roofline", name: "Roofline", has: (d) => isExperiment(d) && roofs(d) !== null, show: Roofline },
  { id: "stat", name: "Counts", has: (d) => d.kind === "stat", show: StatView },
  { id: "hist", name: "Histogram", has: (d) => d.kind === "hist", show: HistView },
  { id: "sweep", name: "Sweep", has: (d) => d.kind === "sweep", show: SweepView },
  { id: "trace", name: "Timeline", has: (d) => d.kind === "trace", show: Timeline },
  { id: "compare", name: "Compare", has: (d, all) => (isExperiment(d) || d.kind === "stat") && all.some((other) => comparable(other, d)), show: Compare },
  { id: "metrics", name: "All metrics", has: isExperiment, show: Metrics },
];

const THEMES = ["auto", "light", "dark"];
function stored(key: string): string | null { try { return localStorage.getItem("chiliad." + key); } catch { return null; } }
function store_(key: string, value: string): void { try { localStorage.setItem("chiliad." + key, value); } catch { /* not kept */ } }
function useTheme(): [string, () => void] {
  const [theme, set] = useState(() => (THEMES.includes(stored("theme") ?? "") ? stored("theme")! : "auto"));
  useEffect(() => { document.documentElement.style.colorScheme = theme === "auto" ? "light dark" : theme; store_("theme", theme); }, [theme]);
  return [theme, () => set(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length])];
}

const KEYS: [string, string][] = [
  ["1 … 9", "the views, in order"], ["↑ ↓ PageUp PageDown Home End", "move in a tree"], ["→ ←", "open or close; to the parent"],
  ["Enter, Space", "select; with Ctrl or Shift add to the selection"], ["e", "open the heaviest path below"], ["*", "open all below"],
  ["[ ]", "the tree to the left or right"], ["/", "find in the current tree"], ["?", "this help"],
];

function Help({ close }: { close(): void }): JSX.Element {
  return (
    <dialog class="help" aria-label="Help" ref={(node) => { if (node && !node.open) node.showModal(); }} onClose={close}>
      <h2>How to read this page</h2>
      <p>A closed row shows its inclusive value, an open row only its own. A selection in one tree limits the trees to its right.
        A coloured square shows the share: dark is little, bright is much. The address keeps what you see: copy it to share.</p>
      <table class="plain"><caption>Keys</caption><tbody>{KEYS.map(([key, text]) => <tr key={key}><th scope="row"><kbd>{key}</kbd></th><td>{text}</td></tr>)}</tbody></table>
      <button type="button" onClick={close}>Close</button>
    </dialog>);
}

function Page({ store }: { store: Store }): JSX.Element {
  const [, again] = useReducer((n: number) => n + 1, 0), [help, setHelp] = useState(false), [theme, nextTheme] = useTheme();
  useEffect(() => {
    store.subscribe(() => again(0));
    if (store.data.server) store.data.server.shown = () => store.arrived(false);
  }, [store]);
  const exp = store.experiment, documents = store.data.documents, views = VIEWS.filter((v) => v.has(store.document, documents));
  const view = views.find((v) => v.id === store.state.view) ?? views[0], name = clean(documents[store.state.doc].file).slice(0, 200);
  const waiting = store.document.kind === "pending" ? store.document : null;
  useEffect(() => { if (waiting && !waiting.failed) load(store, store.state.doc, waiting); }, [waiting]);
  useEffect(() => { document.title = `${name} · ${view?.name ?? ""} · Chiliad`; }, [name, view]);
  useEffect(() => {
    const key = (e: KeyboardEvent): void => {
      const target = e.target as HTMLElement;
      if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
      if (e.key === "?") setHelp(true);
      else if (e.key >= "1" && e.key <= "9" && views[Number(e.key) - 1]) store.set({ view: views[Number(e.key) - 1].id }, true);
      else if (e.key === "/") { ((target.closest(".pane") ?? document).querySelector("input[type=search]") as HTMLElement | null)?.focus(); e.preventDefault(); }
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  });
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to the content</a>
      <header class="top">
        <h1><span class="brand" aria-hidden="true"><svg viewBox="0 0 16 16" width="18" height="18"><rect x="1" y="9" width="3" height="6" /><rect x="6" y="5" width="3" height="10" /><rect x="11" y="1" width="3" height="14" /></svg></span>Chiliad</h1>
        {documents.length > 1
          ? <select class="file" aria-label="Result" value={store.state.doc} onChange={(e) => store.set({ ...store.initial(Number(e.currentTarget.value)) }, true)}>
            {documents.map((d, i) => <option key={i} value={i}>{label(d.file, 80)}</option>)}</select>
          : <span class="file"><bdi>{label(name, 80)}</bdi></span>}
        <nav class="views" aria-label="Views">
          {views.map((v) => <button key={v.id} type="button" aria-current={v === view ? "page" : undefined} onClick={() => store.set({ view: v.id }, true)}>{v.name}</button>)}
        </nav>
        <span class="tools">
          <button type="button" class="quiet" onClick={nextTheme} aria-label={`Colours: ${theme}. Change`} title="Light, dark, or as the system">{theme === "dark" ? "☾" : theme === "light" ? "☀" : "◐"} {theme}</button>
          <button type="button" class="quiet" onClick={() => setHelp(true)} aria-label="Help" title="Help (?)">?</button>
        </span>
      </header>
      {store.data.server?.failed && <p class="notice" role="alert">{label(store.data.server.failed, 300)}</p>}
      {store.notice && <p class="notice" role="status">{label(store.notice, 400)}</p>}
      <main id="main" tabIndex={-1} aria-label={view?.name} aria-busy={(store.data.server?.pending ?? 0) > 0}>{view && <view.show key={view.id + store.state.doc} store={store} />}
        {waiting && <p class="start" role="status">{waiting.failed ? label(waiting.failed, 300) : `Opening ${label(waiting.file, 80)}…`}</p>}</main>
      <footer class="bottom">{store.data.program}{exp?.attributes.program_hash ? ` · program ${clean(exp.attributes.program_hash)}` : ""}{exp?.specification ? ` · metrics ${clean(exp.specification)}` : ""}</footer>
      {help && <Help close={() => setHelp(false)} />}
    </>);
}

function fail(text: string): void {
  render(<div class="failure" role="alert"><h1>This page cannot be shown</h1><p>{label(text, 400)}</p>{document.location.protocol === "file:" && <p>Write it again with <code>chiliad page</code>, and use a browser of 2024 or later.</p>}</div>, document.getElementById("page")!);
}

function start(data: Data): void {
  const root = document.getElementById("page")!;
  root.replaceChildren();
  render(<Page store={new Store(data)} />, root);
}

// A page in a file has its data; a page of `chiliad serve` asks for them.
async function open(): Promise<void> {
  const element = document.getElementById("data")!, packed = (element.textContent ?? "").trim();
  element.remove();
  const data = packed === "served" ? await fetchData(new Server()) : decode(await unpack(packed));
  if (!data.documents.length) throw new Error("There are no results in this folder yet: .cubex, .cube and .json files are shown. Load this page again when there are.");
  start(data);
}
open().catch((error) => fail(String((error as Error).message ?? error)));
