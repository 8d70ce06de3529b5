// Every metric and counter as a table that can be searched and sorted, with exactness and formula.
import { JSX } from "preact";
import { useState } from "preact/hooks";
import { Store } from "./state";
import { clean, label, num, unitOf } from "./text";
import { Exactness } from "./trees";

const FIRST = 100;

export function Metrics({ store }: { store: Store }): JSX.Element {
  const exp = store.experiment!, [find, setFind] = useState(""), [byValue, setByValue] = useState(false), [all, setAll] = useState(false), shown = all ? Infinity : FIRST;
  const want = find.toLowerCase();
  const rows = exp.metrics.map((m, i) => ({ m, i, total: exp.total(i, false, null, null) }))
    .filter(({ m }) => !want || (m.name + " " + m.title + " " + m.text).toLowerCase().includes(want));
  if (byValue) rows.sort((a, b) => Math.abs(b.total) - Math.abs(a.total));
  return (
    <div class="listing">
      <div class="bar"><label>Find <input type="search" value={find} onInput={(e) => setFind(e.currentTarget.value)} placeholder="name or description" /></label>
        <label><input type="checkbox" checked={byValue} onChange={(e) => setByValue(e.currentTarget.checked)} /> largest first</label>
        <span role="status" class="dim">{rows.length} of {exp.metrics.length}{rows.length > shown ? `, the first ${FIRST} shown` : ""}</span>
        {rows.length > shown && <button type="button" onClick={() => setAll(true)}>Show all</button>}</div>
      <table class="plain full"><thead><tr><th scope="col">Metric</th><th scope="col" class="n">value</th><th scope="col">unit</th><th scope="col">exactness</th><th scope="col">comes from</th><th scope="col">what it is</th></tr></thead>
        <tbody>{rows.slice(0, shown).map(({ m, i, total }) => (
          <tr key={i}><th scope="row"><button type="button" class="link" onClick={() => { const open = new Set(store.state.open.m); for (let at = m.parent; at >= 0; at = exp.metrics[at].parent) open.add(at); if (m.apart) open.add(-2); store.set({ view: "trees", metric: i, open: { ...store.state.open, m: open } }, true); }}><bdi>{label(m.title || m.name, 60)}</bdi></button></th>
            <td class="n" data-metric={m.name} data-value={total}>{num(total)}</td><td>{unitOf(m.unit)}</td><td><Exactness word={m.exactness} /></td>
            <td>{m.from}{m.formula && m.formula !== m.name ? <>: <code>{label(m.formula, 80)}</code></> : ""}</td><td class="text">{clean(m.text).slice(0, 300)}</td></tr>))}
        </tbody></table>
    </div>);
}
