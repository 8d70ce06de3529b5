// Source lines and instructions of a function side by side, with how often each was executed.
import { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { magnitude } from "./colour";
import { CodeFunction, Experiment } from "./data";
import { Choice, Empty } from "./picture";
import { Store } from "./state";
import { clean, label, num, percent } from "./text";

const sum = (f: CodeFunction): number => { let all = 0; for (let i = 0; i < f.count.length; i++) all += f.count[i]; return all; };
const memo = new WeakMap<Experiment, { f: CodeFunction; count: number }[]>();
export function byCount(exp: Experiment): { f: CodeFunction; count: number }[] {
  let list = memo.get(exp);
  if (!list) memo.set(exp, (list = exp.code!.functions.map((f) => ({ f, count: sum(f) })).sort((a, b) => b.count - a.count || (a.f.name < b.f.name ? -1 : 1))));
  return list;
}

interface Line { file: number; line: number; executed: number; times: number; value: number }
// Lines of a function by falling value: of an event, or the instructions that were executed for them.
function linesOf(f: CodeFunction, values: ArrayLike<number>): Line[] {
  const lines = new Map<string, Line>();
  for (let i = 0; i < f.count.length; i++) {
    if (!f.line[i]) continue;
    const key = f.file[i] + ":" + f.line[i];
    let at = lines.get(key);
    if (!at) lines.set(key, (at = { file: f.file[i], line: f.line[i], executed: 0, times: 0, value: 0 }));
    at.executed += f.count[i];
    at.value += values[i];
    at.times = Math.max(at.times, f.count[i]);
  }
  return [...lines.values()].sort((a, b) => b.value - a.value);
}

const MOST = 4000;

export function Source({ store }: { store: Store }): JSX.Element {
  const exp = store.experiment!, s = store.state, code = exp.code!, list = byCount(exp), [find, setFind] = useState("");
  const chosen = list.find(({ f }) => f.name === s.fn) ?? list[0], all = list.reduce((total, x) => total + x.count, 0);
  const [at, setAt] = useState(0), [marked, setMarked] = useState<string>("");
  const event = code.events.indexOf(s.extra.event ?? ""), values = chosen ? (event < 0 ? chosen.f.count : chosen.f.values[event] ?? new Uint8Array(chosen.f.count.length)) : [];
  // A function opens at its hottest line.
  useEffect(() => {
    setAt(0); setMarked("");
    if (!chosen) return;
    const hot = linesOf(chosen.f, values)[0];
    for (const side of ["line", "code"]) {
      const row = hot && document.querySelector<HTMLElement>(`[data-${side}="${hot.file}:${hot.line}"]`), area = row?.closest(".scroll");
      if (row && area) area.scrollTop += row.getBoundingClientRect().top - area.getBoundingClientRect().top - area.clientHeight / 3;
    }
  }, [chosen?.f, event]);
  if (!chosen) return <Empty>No instructions were recorded.</Empty>;
  const { f, count } = chosen, lines = linesOf(f, values), byLine = new Map(lines.map((l) => [l.file + ":" + l.line, l]));
  const files = [...new Set(lines.map((l) => l.file))].filter((n) => n > 0).sort((a, b) => lines.filter((l) => l.file === b).length - lines.filter((l) => l.file === a).length);
  const most = Math.max(1, ...lines.map((l) => l.value)), top = Array.from(values).reduce((a, b) => Math.max(a, b), 1);
  const shown = list.filter((x) => !find || x.f.name.toLowerCase().includes(find.toLowerCase()));
  const go = (key: string, to: "line" | "code"): void => { setMarked(key); requestAnimationFrame(() => document.querySelector(`[data-${to}="${key}"]`)?.scrollIntoView({ block: "nearest" })); };
  const next = (): void => { const l = lines[at % lines.length]; if (!l) return; setAt(at + 1); go(l.file + ":" + l.line, "line"); go(l.file + ":" + l.line, "code"); };
  const range = (file: number): [number, number] => {
    const of = lines.filter((l) => l.file === file).map((l) => l.line), { first, lines: text } = code.files[file - 1];
    return [Math.max(first, of.reduce((a, b) => Math.min(a, b)) - 3), Math.min(first + text.length - 1, of.reduce((a, b) => Math.max(a, b)) + 3)];
  };
  return (
    <div class="source">
      <div class="bar" role="toolbar" aria-label="Which function">
        <label>Find <input type="search" value={find} onInput={(e) => setFind(e.currentTarget.value)} placeholder="function" /></label>
        <Choice name="Function" value={f.name} list={(shown.some((x) => x === chosen) ? shown : [chosen, ...shown]).slice(0, 500).map((x): [string, string] => [x.f.name, `${label(x.f.name, 60)} — ${percent((100 * x.count) / all)}`])} onPick={(v) => store.set({ fn: v }, true)} />
        {code.events.length > 0 && <Choice name="Event" value={event < 0 ? "" : code.events[event]} list={[["", "instructions executed"], ...code.events.map((e): [string, string] => [e, label(e, 50)])]} onPick={(v) => store.set({ extra: { ...s.extra, event: v } }, true)} />}
        <button type="button" onClick={next} disabled={!lines.length}>Next hottest line</button>
        <span class="dim">{num(count)} instructions executed, {percent((100 * count) / all)} of all; in <bdi>{label(f.object, 60)}</bdi></span>
      </div>
      <div class="sides">
        <section class="card side" aria-label="Source">
          {files.length === 0 && <Empty>There are no line numbers: compile the program with -g.</Empty>}
          {files.map((file) => {
            const { name, first, lines: text } = code.files[file - 1];
            if (!text.length) return <div key={file}><h2><bdi>{label(name, 80)}</bdi></h2><Empty>This file was not there when the page was made.</Empty></div>;
            const [from, to] = range(file);
            return (
              <div key={file}><h2><bdi>{label(name, 80)}</bdi></h2>
                <div class="scroll" role="region" tabIndex={0} aria-label={"Lines of " + label(name, 80)}><table class="code"><thead><tr>{event >= 0 && <th scope="col" class="n">{label(code.events[event], 24)}</th>}<th scope="col" class="n">instructions</th><th scope="col" class="n">executions</th><th scope="col" class="n">line</th><th scope="col">source</th></tr></thead><tbody>
                  {text.slice(from - first, to - first + 1).map((words, i) => {
                    const key = file + ":" + (from + i), l = byLine.get(key);
                    return (
                      <tr key={i} data-line={key} data-executed={l?.executed} class={key === marked ? "marked" : ""} onClick={() => l && go(key, "code")}>
                        {event >= 0 && <td class="n" data-event={l?.value}>{l && <span class="box" style={{ background: magnitude(l.value / most) }} aria-hidden="true" />}{l ? num(l.value) : ""}</td>}
                        <td class="n">{l && event < 0 && <span class="box" style={{ background: magnitude(l.value / most) }} aria-hidden="true" />}{l ? num(l.executed) : ""}</td><td class="n dim">{l ? num(l.times) : ""}</td>
                        <td class="n dim">{l ? <button type="button" class="link" aria-label={`Line ${from + i}: show its instructions`} onClick={() => go(key, "code")}>{from + i}</button> : from + i}</td><td class="text"><code>{clean(words).slice(0, 400)}</code></td></tr>);
                  })}</tbody></table></div></div>);
          })}
        </section>
        <section class="card side" aria-label="Instructions">
          <h2><bdi>{label(f.name, 80)}</bdi></h2>
          <div class="scroll" role="region" tabIndex={0} aria-label="Instructions of the function"><table class="code"><thead><tr>{event >= 0 && <th scope="col" class="n">{label(code.events[event], 24)}</th>}<th scope="col" class="n">executed</th><th scope="col">address</th><th scope="col">instruction</th><th scope="col" class="n">line</th></tr></thead><tbody>
            {f.text.slice(0, MOST).map((text, i) => {
              const key = f.file[i] + ":" + f.line[i], gap = i > 0 && f.address[i] !== f.address[i - 1] + 4;
              return (
                <tr key={i} data-code={key} data-address={f.address[i]} data-count={f.count[i]} class={(key === marked ? "marked" : "") + (gap ? " gap" : "")} onClick={() => f.line[i] && go(key, "line")}>
                  {event >= 0 && <td class="n" data-value={values[i]}><span class="box" style={{ background: magnitude(values[i] / top) }} aria-hidden="true" />{num(values[i])}</td>}
                  <td class="n">{event < 0 && <span class="box" style={{ background: magnitude(values[i] / top) }} aria-hidden="true" />}{num(f.count[i])}</td><td class="dim"><code>{f.address[i].toString(16).padStart(8, "0")}</code></td><td class="text"><code>{clean(text)}</code></td>
                  <td class="n dim">{f.line[i] ? <button type="button" class="link" aria-label={`Show line ${f.line[i]}`} onClick={() => go(key, "line")}>{f.line[i]}</button> : ""}</td></tr>);
            })}</tbody></table></div>
          {f.text.length > MOST && <p class="dim">The first {num(MOST)} of {num(f.text.length)} instructions.</p>}
        </section>
      </div>
    </div>);
}
