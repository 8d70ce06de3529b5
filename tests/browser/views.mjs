// Every view of the page against what `report -j` and the other commands print.
import { accessibility, check, done, folder, go, open_browser, open_page, read, same, truth } from "./browser.mjs";
import { execFileSync } from "node:child_process";

const chiliad = process.argv[4];
const run = (...words) => execFileSync(chiliad, words, { cwd: folder, maxBuffer: 1 << 28, encoding: "utf8" });
const report = (...words) => JSON.parse(run("report", "-j", ...words));
const browser = await open_browser();
const near = (a, b) => a === b || Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
const numbers = (page, where, key) => page.$$eval(where, (list, k) => list.map((e) => Number(e.dataset[k])), key);

// Own values of a metric by call path, and with all below; from the text of the report.
function own(text, name) {
  const out = new Array(text.call_paths.length).fill(0);
  for (const [node, , value] of text.metrics.find((m) => m.name === name).cells) out[node] += value;
  return out;
}
function whole(text, name) {
  const out = own(text, name);
  for (let i = out.length - 1; i > 0; i--) if (text.call_paths[i].parent >= 0) out[text.call_paths[i].parent] += out[i];
  return out;
}
const function_name = (text, node) => text.regions[text.call_paths[node].region].name;
const total = (text, name) => own(text, name).reduce((a, b) => a + b, 0);

// Fault planted: a box was as wide as its own value.
await check("boxes_of_the_flame_graph_are_inclusive_values_of_report", async () => {
  const text = report("threads.cubex"), page = await open_page(browser, "threads.html", { hash: "v=flame&m=INSTRUCTION" }), want = whole(text, "INSTRUCTION");
  const boxes = await page.$$eval("[data-node]", (list) => list.map((e) => [Number(e.dataset.node), Number(e.dataset.value), e.getBoundingClientRect().width, e.getBoundingClientRect().left]));
  truth(boxes.length >= 10, `${boxes.length} boxes`);
  const all = boxes[0];
  for (const [node, value, width] of boxes) {
    same(value, want[node], "value of " + function_name(text, node));
    truth(Math.abs(width + 1 - ((all[2] + 1) * value) / all[1]) < 1.5, `${function_name(text, node)} is ${width} pixels wide`);
  }
  for (const [node, , width, left] of boxes.slice(1)) {
    const parent = boxes.find((b) => b[0] === text.call_paths[node].parent);
    truth(parent && left >= parent[3] - 1 && left + width <= parent[3] + parent[2] + 1, "a call is within its caller");
  }
  await page.focus(".flame");
  for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  truth((await page.evaluate(() => location.hash)).includes("x.z="), "Enter zooms, and the address says so");
  await page.keyboard.press("Escape");
  await page.fill(".bar input[type=search]", "main");
  truth(/^\d/.test(await page.textContent(".hits")), "the share of what was found");
  same(page.complaints, [], "complaints");
  await page.close();
});

// Faults planted: a function's callers had its inclusive values; a call below itself counted twice; the callers of callers were the
// callers again.
await check("functions_have_their_callers_and_what_they_call_with_recursion_once", async () => {
  const text = report("flops.cubex"), page = await open_page(browser, "flops.html", { hash: "v=functions&m=INSTRUCTION" }), self = own(text, "INSTRUCTION"), all = whole(text, "INSTRUCTION");
  // All rows are in the window, once it has been measured.
  const listed = async () => {
    for (let i = 0; i < 100 && await page.$eval("#tree-f", (e) => e.querySelectorAll("[data-id]").length !== Number(e.getAttribute("aria-rowcount")) - 1); i++) await page.waitForTimeout(50);
    return read_rows();
  };
  const read_rows = () => page.$$eval("#tree-f [data-id]", (list) => list.map((e) => ({ name: e.querySelector(".label").textContent, value: Number(e.dataset.value), percent: Number(e.dataset.percent), depth: Number(e.getAttribute("aria-level")) })));
  const up = (n) => text.call_paths[n].parent, above = (n, found) => { for (let at = up(n); at >= 0; at = up(at)) if (found.has(at)) return true; return false; };
  const sum = (calls) => calls.reduce((s, n) => s + self[n], 0), below = (calls) => calls.filter((n) => !above(n, new Set(calls))).reduce((s, n) => s + all[n], 0);
  const calls_of = (name) => self.map((_, n) => n).filter((n) => function_name(text, n) === name), names = [...new Set(self.map((_, n) => function_name(text, n)))];
  const order = (pairs) => pairs.filter(([, v]) => v !== 0).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const open_row = (name, level) => page.evaluate(([want, deep]) => [...document.querySelectorAll("#tree-f [data-id]")].find((e) => e.querySelector(".label").textContent === want && Number(e.getAttribute("aria-level")) === deep)?.querySelector(".fold").click(), [name, level]);
  await page.setViewportSize({ width: 1200, height: 6000 });
  const shown = await listed(), want = order(names.map((name) => [name, sum(calls_of(name))]));
  same(shown.map((r) => [r.name, r.value]), want, "functions by what they counted themselves");
  truth(near(shown[0].percent, (100 * want[0][1]) / total(text, "INSTRUCTION")), "the share");
  // even is called by odd and main, odd by even and main; then the callers of these.
  await page.fill(".bar input[type=search]", "even");
  await open_row("even", 1);
  await open_row("odd", 2);
  const split = (list) => { const out = new Map(); for (const [n, at] of list) if (up(at) >= 0) { const name = function_name(text, up(at)); out.set(name, [...(out.get(name) ?? []), [n, up(at)]]); } return out; };
  const callers = split(calls_of("even").map((n) => [n, n])), second = split(callers.get("odd")), value = (list) => sum(list.map(([n]) => n));
  truth(callers.size === 2 && second.size === 2, "two callers each");
  const rows_want = [["even", sum(calls_of("even")), 1]];
  for (const [name, v] of order([...callers].map(([n, l]) => [n, value(l)]))) {
    rows_want.push([name, v, 2]);
    if (name === "odd") for (const [n2, v2] of order([...second].map(([n, l]) => [n, value(l)]))) rows_want.push([n2, v2, 3]);
  }
  same((await listed()).map((r) => [r.name, r.value, r.depth]), rows_want, "callers of even");
  same(await accessibility(page), [], "accessibility");
  await page.selectOption(".bar label:has-text('Below') select", "callees");
  await open_row("even", 1);
  const kids = calls_of("even").flatMap((n) => self.map((_, k) => k).filter((k) => up(k) === n));
  same((await listed()).map((r) => [r.name, r.value]), [["even", below(calls_of("even"))], ["odd", below(kids.filter((k) => function_name(text, k) === "odd"))]], "calls of even");
  truth(below(calls_of("even")) < calls_of("even").reduce((s, n) => s + all[n], 0), "a recursive call counts once");
  await page.fill(".bar input[type=search]", "");
  await page.selectOption(".bar label:has-text('Grouped') select", "module");
  const modules = new Map();
  self.forEach((_, n) => { const m = text.regions[text.call_paths[n].region].module || "(no module)"; modules.set(m, [...(modules.get(m) ?? []), n]); });
  same((await listed()).map((r) => [r.name, r.value]), order([...modules].map(([m, list]) => [m, below(list)])), "modules");
  await page.selectOption(".bar label:has-text('Below') select", "callers");
  await page.focus("#tree-f");
  for (const key of ["ArrowRight", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  await page.click("button:has-text('in the trees')");
  await page.waitForSelector("#tree-c .selected");
  same(page.complaints, [], "complaints");
  await page.close();
});

// Faults planted: the time of a call had that of calls inside it; an end of a message was joined with any beginning.
await check("the_timeline_has_the_times_of_the_trace_and_its_messages", async () => {
  const trace = JSON.parse(read("misses.json")), page = await open_page(browser, "misses.html"), events = trace.traceEvents.filter((e) => e.ph === "X"), want = new Map();
  for (const e of events) { const r = want.get(e.args.level) ?? [0, 0]; want.set(e.args.level, [r[0] + 1, r[1] + e.dur]); }
  const rows = () => page.$$eval("[data-key]", (list) => list.map((e) => [e.dataset.key, Number(e.dataset.count), Number(e.dataset.own)]));
  const got = await rows();
  same(got.map((r) => r[0]).sort(), [...want.keys()].sort(), "levels");
  for (const [level, count, time] of got) truth(count === want.get(level)[0] && near(time, want.get(level)[1]), `${level}: ${count} events, ${time} µs`);
  await page.selectOption(".bar select", "name");
  truth((await rows()).every(([name, count]) => count === events.filter((e) => e.name === name).length), "events by name");
  const drawn = async (where) => {
    for (let i = 0; i < 100; i++) {
      const area = await (await where.$(".timeline canvas")).boundingBox();
      if (area.width > 1000) return area;
      await where.waitForTimeout(50);
    }
    throw new Error("the picture is not as wide as the window");
  };
  await drawn(page);
  const range = async () => (await page.getAttribute("[data-range]", "data-range")).split(" ").map(Number);
  await page.focus(".timeline [role=application]");
  await page.keyboard.press("ArrowRight");
  truth((await page.textContent(".timeline .under")).includes(events[0].name), "the first event by key");
  await page.keyboard.press("KeyW");
  const [low, high] = await range(), times = events.flatMap((e) => [e.ts, e.ts + e.dur]);
  truth(near(2 * (high - low), Math.max(...times) - Math.min(...times)), "W shows half");
  truth((await page.evaluate(() => location.hash)).includes("x.t="), "the address has the range");
  same(await accessibility(page), [], "accessibility");
  same(page.complaints, [], "complaints");
  await page.close();

  const calls = await open_page(browser, "messages.html");
  same(await calls.$$eval("[data-key]", (list) => list.map((e) => [e.dataset.key, Number(e.dataset.count), Number(e.dataset.own)])), [["main", 2, 153], ["MPI_Recv", 1, 25], ["MPI_Send", 2, 12]], "own times");
  same(await calls.$$eval("[data-message]", (list) => list.map((e) => e.dataset.message)), ["0 1 41 80", "0 1 11 29"], "messages, the slowest first");
  truth((await calls.textContent(".bar")).includes("1 ends of messages without the other"), "the lost message");
  await calls.click("[data-message='0 1 11 29'] button");
  same((await calls.getAttribute("[data-range]", "data-range")).split(" ").map(Number), [0, 54], "a message in the middle");
  const picture = await drawn(calls);
  await calls.mouse.click(picture.x + 190 + ((picture.width - 190) * 12) / 54, picture.y + 22 + 18 + 9); // the second row of rank 0 at 12 µs
  truth((await calls.textContent(".timeline .under")).startsWith("MPI_Send"), await calls.textContent(".timeline .under"));
  same(await calls.evaluate(() => window.harm), undefined, "a hostile name");
  same(calls.complaints, [], "complaints");
  await calls.close();
});

// Fault planted: the stack of a function had inclusive values.
await check("stacks_of_functions_add_up_to_their_cycles", async () => {
  const text = report("threads.cubex"), page = await open_page(browser, "threads.html", { hash: "v=stacks" });
  const rows = await page.$$eval("[data-function]", (list) => list.map((e) => [e.dataset.function, e.dataset.parts.split(" ").map(Number)]));
  truth(rows.length > 20, "functions");
  const cycles = own(text, "CYCLES"), sums = new Map();
  cycles.forEach((v, n) => sums.set(function_name(text, n), (sums.get(function_name(text, n)) ?? 0) + v));
  for (const [name, parts] of rows) truth(near(parts.reduce((a, b) => a + b, 0), sums.get(name)), `${name}: ${parts} is not ${sums.get(name)}`);
  await page.close();
});

// Faults planted: the count of a line was its first instruction's; every event had the values of the first.
await check("KOJ_36_the_page_shows_source_and_instructions_with_the_counts_of_report", async () => {
  const name = "main", page = await open_page(browser, "threads.html", { hash: "v=source&f=" + name });
  const text = run("report", "--annotate", name, "threads.cubex"), lines = new Map(), instructions = new Map();
  for (const line of text.split("\n").slice(2)) {
    const code = /^[* ]?\s*([\d,]+)\s+\| ([0-9a-f]{8})/.exec(line), source = /^[* ]?\s*([\d,]+)\s+(\d+) {2}/.exec(line);
    if (code) instructions.set(parseInt(code[2], 16), Number(code[1].replaceAll(",", "")));
    else if (source) lines.set(Number(source[2]), Number(source[1].replaceAll(",", "")));
  }
  truth(instructions.size > 10 && lines.size > 3, "the report has lines and instructions");
  const shown = new Map(await page.$$eval("[data-code]", (list) => list.map((e) => [Number(e.dataset.address), Number(e.dataset.count)])));
  for (const [address, count] of instructions) same(shown.get(address), count, "count at " + address.toString(16));
  same(shown.size, instructions.size, "instructions");
  const found = new Map(await page.$$eval("[data-executed]", (list) => list.map((e) => [Number(e.dataset.line.split(":")[1]), Number(e.dataset.executed)])));
  for (const [line, count] of found) same(count, lines.get(line), "line " + line);
  truth(found.size > 3, "lines with counts");
  truth((await page.textContent(".side")).includes("pthread_create"), "the source's text");
  // Events of each instruction, as the report prints them.
  for (const event of ["cycles", "BGL_STORE"]) {
    await go(page, `v=source&f=${name}&x.event=${event}`);
    const want = run("report", "--annotate", name, "--columns", event, "threads.cubex").split("\n").slice(2).map((line) => /^[* ]?\s*([\d,]+)\s+\| ([0-9a-f]{8})/.exec(line)).filter(Boolean);
    const got = new Map(await page.$$eval("[data-code]", (list) => list.map((e) => [Number(e.dataset.address), Number(e.querySelector("[data-value]").dataset.value)])));
    truth(want.length > 10 && want.some(([, value]) => value !== "0"), "the report has " + event);
    for (const [, value, address] of want) same(got.get(parseInt(address, 16)), Number(value.replaceAll(",", "")), `${event} at ${address}`);
  }
  await go(page, "v=source&f=" + name);
  await page.click("text=Next hottest line");
  same(await page.locator(".side:first-child tr.marked").count(), 1, "the hottest line is marked");
  await page.close();
});

// Fault planted: the second thread of a process replaced the first.
await check("KOJ_38_a_metric_in_a_grid_of_2x4x4_has_the_sum_of_each_process_threads", async () => {
  const page = await open_page(browser, "topology.html", { hash: "v=topology" });
  const tiles = async () => new Map(JSON.parse(await page.getAttribute(".places", "data-tiles")).map((t) => [t.slice(0, 3).join(), t[3]]));
  const all = await tiles();
  same(all.size, 32, "places");
  for (let p = 0; p < 32; p++) same(all.get([p % 2, Math.floor(p / 2) % 4, Math.floor(p / 8)].join()), 3 * ((p + 1) * 20 + 1), "process " + p);
  // One call path only.
  await go(page, "v=topology&c=main%2Fsolve");
  const one = await tiles();
  for (let p = 0; p < 32; p++) same(one.get([p % 2, Math.floor(p / 2) % 4, Math.floor(p / 8)].join()), 2 * ((p + 1) * 20 + 1), "solve of process " + p);
  // The picture: a tile for each, from dark to bright, as values grow.
  const colours = await page.$eval(".places canvas", (canvas) => { const c = canvas.getContext("2d"), out = []; for (let i = 0; i < canvas.width; i += 4) { const p = c.getImageData(i, Math.floor(canvas.height * 0.2), 1, 1).data; out.push(p[0] * 0.2 + p[1] * 0.7 + p[2] * 0.1); } return [Math.min(...out.filter((v) => v > 0)), Math.max(...out)]; });
  truth(colours[1] - colours[0] > 60, "colours differ: " + colours);
  await page.focus(".places");
  for (const key of ["Home", "ArrowRight", "ArrowDown", "PageDown", "Enter"]) await page.keyboard.press(key);
  const line = await page.textContent(".under");
  truth(line.includes("x 1, y 1, z 1") && line.includes("rank 11") && line.includes(String(2 * 241)), "the cursor's place: " + line);
  truth((await page.evaluate(() => location.hash)).includes("s="), "the place is selected, and the address says so");
  await page.selectOption("text=Planes >> select", "stack");
  same(await accessibility(page), [], "accessibility");
  same(page.complaints, [], "complaints");
  await page.close();
});

await check("threads_are_shown_in_their_nodes", async () => {
  const text = report("threads.cubex"), page = await open_page(browser, "threads.html", { hash: "v=topology&x.topology=1&m=CYCLES" });
  const threads = new Array(5).fill(0);
  for (const [, thread, value] of text.metrics.find((m) => m.name === "CYCLES").cells) threads[thread] += value;
  same(JSON.parse(await page.getAttribute(".places", "data-tiles")).map((t) => t.at(-1)).sort((a, b) => a - b), threads.sort((a, b) => a - b), "threads");
  await page.close();
});

// Faults planted: rows and columns exchanged; the rest of many names left out of the sums.
await check("a_joint_histogram_is_a_map_with_the_sums_of_rows_and_columns", async () => {
  const hist = JSON.parse(read("hist.json")), page = await open_page(browser, "hist.html");
  const table = (x, y, only = () => true) => { const sums = new Map(); for (const b of hist.bins) if (only(b)) { const key = b.values[y] + "\n" + b.values[x]; sums.set(key, (sums.get(key) ?? 0) + b.count); } return sums; };
  const shown = async () => page.$$eval(".heat tbody tr:not(.sum)", (rows) => rows.map((row) => ({ name: row.dataset.bin, sum: Number(row.dataset.count), cells: [...row.querySelectorAll("td[data-count]")].map((e) => Number(e.dataset.count)) })));
  const names = () => page.$$eval(".heat thead th", (list) => list.slice(1, -2).map((e) => e.textContent));
  const test = async (x, y, only) => {
    const want = table(x, y, only), columns = await names(), all = [...want.values()].reduce((a, b) => a + b, 0);
    let seen = 0;
    for (const row of await shown()) {
      same(row.cells.reduce((a, b) => a + b, 0), row.sum, "sum of row " + row.name);
      row.cells.forEach((v, i) => { if (!row.name.startsWith("all others") && !columns[i].startsWith("all others") && !columns[i].includes("…")) same(v, want.get(row.name + "\n" + columns[i]) ?? 0, `${row.name}, ${columns[i]}`); seen += v; });
    }
    same(seen, all, "all cells");
    const last = await page.$$eval(".heat tr.sum td[data-count]", (list) => list.map((e) => Number(e.dataset.count)));
    same(last.reduce((a, b) => a + b, 0), all, "sums of columns");
    same(Number(await page.getAttribute("[data-total]", "data-total")), all, "the total");
  };
  same(hist.bins.reduce((a, b) => a + b.count, 0), hist.total, "the histogram's total");
  await test(0, 1);
  await page.selectOption("text=Rows >> select", "2");
  await test(0, 2);
  await go(page, "v=hist&x.x=0&x.y=1&x.is2=l3");
  await test(0, 1, (b) => b.values[2] === "l3");
  await go(page, "v=hist&x.given=row");
  same(await accessibility(page), [], "accessibility");
  same(page.complaints, [], "complaints");
  await page.close();
});

// Fault planted: runs were in the order of the text, 16K before 4K.
await check("a_sweep_is_curves_and_a_table", async () => {
  const runs = JSON.parse(read("sweep.json")), page = await open_page(browser, "sweep.html");
  same(await numbers(page, "[data-run] td[data-value]:nth-of-type(2), [data-run] td.n:first-of-type", "value").then((l) => l.length > 0), true, "a table");
  const cycles = await page.$$eval(".curves:first-of-type", (list) => [...list[0].querySelectorAll("[data-y]")].map((e) => Number(e.dataset.y)));
  const want = [...new Set(runs.map((r) => r.settings["l3.latency"]))].flatMap((latency) => ["4K", "8K", "16K"].map((size) => runs.find((r) => r.settings["l1d.size"] === size && r.settings["l3.latency"] === latency).cycles));
  same(cycles, want, "the points of the first curves");
  same(await page.locator(".curves").count(), 1 + Object.keys(runs[0].counters).length, "curves");
  same(await accessibility(page), [], "accessibility");
  await page.close();
});

// Fault planted: each node had its neighbour's cycles.
await check("BGL_45_counts_of_several_chips_are_shown_at_their_places_in_the_torus", async () => {
  const page = await open_page(browser, "stat.html", { width: 1200 });
  for (const [doc, file] of [[0, "stat.json"], [1, "nodes.json"]]) {
    await go(page, "v=stat&d=" + doc);
    const text = JSON.parse(read(file)), shown = new Map(await page.$$eval("[data-counter]", (list) => list.map((e) => [e.dataset.counter, Number(e.dataset.value)])));
    for (const c of text.counters) same(shown.get(c.name) ?? 0, c.value, c.name);
    const ratios = new Map(await page.$$eval("[data-derived]", (list) => list.map((e) => [e.dataset.derived, Number(e.dataset.value)])));
    for (const r of text.derived) same(ratios.get(r.metric), r.value, r.metric);
    if (text.nodes) truth(new Set(text.nodes.map((n) => n.cycles)).size > 6, "nodes differ");
    if (text.nodes) same(JSON.parse(await page.getAttribute(".places", "data-tiles")), text.nodes.map((n) => [...n.at, n.cycles]), "cycles of the nodes");
    same(await accessibility(page), [], "accessibility of " + file);
  }
  await page.close();
});

// Fault planted: a metric that A lacks was zero there.
await check("differences_of_two_experiments_are_those_of_diff", async () => {
  const page = await open_page(browser, "compare.html", { hash: "v=compare" }), text = [report("threads.cubex"), report("small.cubex"), report("flops.cubex")];
  const rows = async () => page.$$eval("[data-key]", (list) => list.map((e) => [e.dataset.key, Number(e.dataset.a), Number(e.dataset.b)]));
  let missing = 0;
  for (const other of [2, 1]) {
    await go(page, `v=compare&vs=${other}${other === 2 ? "&x.what=all" : ""}`);
    const shown = await rows();
    truth(shown.length > 30, "metrics");
    for (const [name, a, b] of shown) {
      const sum = (t) => { const m = t.metrics.find((x) => x.name === name); return m ? m.cells.reduce((s, c) => s + c[2], 0) : NaN; };
      truth(Object.is(a, sum(text[other])) || near(a, sum(text[other])), `A of ${name} is ${a}`);
      truth(Object.is(b, sum(text[0])) || near(b, sum(text[0])), `B of ${name} is ${b}`);
      missing += Number.isNaN(a) || Number.isNaN(b) ? 1 : 0;
    }
  }
  truth(missing > 3, "some metrics are in one experiment only");
  const metrics = await rows(), diff = JSON.parse(run("diff", "-j", "small.cubex", "threads.cubex")), shown = new Map(metrics.map(([k, a, b]) => [k, b - a]));
  for (const row of diff.totals) if (shown.has(row.metric)) truth(near(shown.get(row.metric), row.change), row.metric);
  await go(page, "v=compare&x.what=paths&m=CYCLES");
  const paths = await rows();
  truth(paths.length > 50, "call paths");
  same(paths.reduce((most, [, , b]) => Math.max(most, b || 0), 0), total(text[0], "CYCLES"), "the root");
  await go(page, "v=compare&x.what=functions&m=CYCLES");
  same((await rows()).reduce((s, [, , b]) => s + (b || 0), 0), total(text[0], "CYCLES"), "own values of functions");
  truth((await page.textContent("main")).includes("not zero"), "what a dash is");
  same(await accessibility(page), [], "accessibility");
  await go(page, "v=flame&x.colour=vs.1");
  truth((await page.textContent(".detail")).includes("There"), "the flame graph has the other's value");
  same(page.complaints, [], "complaints");
  await page.close();
});

// Fault planted: bytes without those written.
await check("a_roofline_has_the_roofs_of_the_machine_and_counts_of_functions", async () => {
  const text = report("flops.cubex"), page = await open_page(browser, "flops.html", { hash: "v=roofline" });
  const dots = new Map(await page.$$eval("[data-dot]", (list) => list.map((e) => [e.dataset.dot, [Number(e.dataset.flops), Number(e.dataset.bytes), Number(e.dataset.cycles)]])));
  const count = (name) => { const m = text.metrics.find((x) => x.name === name || x.formula === name); return m ? total(text, m.name) : 0; };
  truth(count("BGL_FLOP") > 1000 && count("BGL_DDR_READ") > 1000 && count("BGL_DDR_WRITE") > 0, "flops and traffic");
  same(dots.get("Whole program"), [count("BGL_FLOP"), 128 * (count("BGL_DDR_READ") + count("BGL_DDR_WRITE")), total(text, "CYCLES")], "the whole program");
  truth(dots.size > 2, "functions");
  for (const [name, dot] of dots) {
    if (name === "Whole program") continue;
    const of = (event) => { const m = text.metrics.find((x) => x.name === event || x.formula === event); return m ? own(text, m.name).reduce((sum, v, n) => sum + (function_name(text, n) === name ? v : 0), 0) : 0; };
    same(dot, [of("BGL_FLOP"), 128 * (of("BGL_DDR_READ") + of("BGL_DDR_WRITE")), of("CYCLES")], name);
  }
  const roofs = new Map(await page.$$eval("[data-roof]", (list) => list.map((e) => [e.dataset.roof, Number(e.dataset.value)])));
  same(roofs.get("FMA in both pipes"), 3.4, "850 MHz, two pipes, two flops each");
  truth(near(roofs.get("memory, one core alone"), 13.6), "two controllers, 128 bytes in 16 cycles, 850 MHz");
  same(await accessibility(page), [], "accessibility");
  same(page.complaints, [], "complaints");
  await page.close();
});

// Faults planted: the range of all values; `small` of inclusive values used for own ones.
await check("KOJ_45_ratios_in_the_tree_have_a_scale_that_tiny_denominators_do_not_stretch", async () => {
  const text = report("threads.cubex"), page = await open_page(browser, "threads.html", { hash: "v=trees&oc=*&m=CYCLES&x.ratio=CPI", width: 1600, height: 24000 });
  const cycles = own(text, "CYCLES"), instructions = own(text, "INSTRUCTION"), all = instructions.reduce((a, b) => a + b, 0), below = [whole(text, "CYCLES"), whole(text, "INSTRUCTION")];
  const rows = await page.$$eval("#tree-c [data-id]", (list) => list.map((e) => { const cell = e.querySelector("[data-ratio]"); return { node: Number(e.dataset.id), open: e.getAttribute("aria-expanded") === "true", value: cell.dataset.ratio === "" ? NaN : Number(cell.dataset.ratio), small: cell.dataset.small === "true", colour: getComputedStyle(cell.querySelector(".box")).backgroundColor, hatched: cell.querySelector(".beyond") !== null }; }));
  truth(rows.length > 100, "rows");
  let low = Infinity, high = -Infinity, outside = 0;
  for (const r of rows) {
    const [up, down] = r.open ? [cycles[r.node], instructions[r.node]] : [below[0][r.node], below[1][r.node]];
    truth(down === 0 ? Number.isNaN(r.value) : near(r.value, up / down), `${function_name(text, r.node)}: ${r.value} is not ${up} / ${down}`);
    same(r.small, down > 0 && down < all / 1000, "a small denominator: " + down);
    if (!r.small && down > 0) { low = Math.min(low, r.value); high = Math.max(high, r.value); }
  }
  for (const r of rows) if (r.value < low * 0.999 || r.value > high * 1.001) outside++;
  truth(outside > 5, "some with tiny denominators are outside");
  const ends = (await page.$$eval(".bar .scale span", (list) => list.map((e) => e.textContent))).filter(Boolean).slice(0, 2).map(Number);
  truth(ends[1] <= high * 1.5 && ends[1] < Math.max(...rows.filter((r) => r.value).map((r) => r.value)), `the scale ends at ${ends[1]}, values that count at ${high}`);
  truth(rows.some((r) => r.small && r.hatched) && !rows.some((r) => !r.small && r.hatched), "what is outside is hatched");
  truth(new Set(rows.filter((r) => !r.small).map((r) => r.colour)).size > 3, "counting rows have colours of their own");
  await page.close();
});

// Fault planted: the name in the place of the formula.
await check("a_number_has_exactness_and_pedigree", async () => {
  const text = report("threads.cubex"), page = await open_page(browser, "threads.html", { hash: "v=trees&m=BUSY" });
  await page.click(".pedigree summary");
  const shown = await page.textContent(".pedigree"), metric = text.metrics.find((m) => m.name === "BUSY");
  truth(shown.includes(metric.formula), "the formula");
  truth(shown.includes(text.attributes.program_hash) && shown.includes("./threads") && shown.includes("one run"), "the run");
  const counters = await page.$$eval(".pedigree tbody tr", (list) => list.map((e) => e.querySelector("th").textContent));
  for (const name of metric.formula.match(/[A-Z_]+/g)) truth(counters.some((c) => c === name), `${name} is listed: ${counters}`);
  truth(shown.includes("modelled"), "exactness of the counters");
  await page.close();
});

// Fault planted: text for screen readers outside of what scrolls.
await check("no_view_is_wider_than_360_pixels", async () => {
  for (const file of ["compare.html", "topology.html", "hist.html", "sweep.html", "stat.html", "flops.html"]) {
    const page = await open_page(browser, file, { width: 360, height: 800 });
    for (const button of await page.$$(".views button")) {
      await button.click();
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      truth(over <= 0, `${file}, ${await button.textContent()}: ${over} pixels too wide`);
    }
    await page.close();
  }
});

await check("record_page_has_the_counts_of_the_recorded_file", async () => {
  const page = await open_page(browser, "recorded.html", { hash: "v=metrics" }), text = report("threads.cubex");
  await page.click("text=Show all");
  const shown = new Map(await page.$$eval("[data-metric]", (list) => list.map((e) => [e.dataset.metric, Number(e.dataset.value)])));
  for (const m of text.metrics) truth(near(shown.get(m.name), total(text, m.name)), `${m.name}: ${shown.get(m.name)} is not ${total(text, m.name)}`);
  await page.close();
});

await check("every_view_names_no_file_that_is_not_there_and_keys_reach_it", async () => {
  const page = await open_page(browser, "compare.html");
  const names = await page.$$eval(".views button", (list) => list.map((e) => e.textContent));
  same(names, ["Overview", "Trees", "Functions", "Flame graph", "Stacks", "Source", "Topology", "Compare", "All metrics"], "views");
  for (let i = 1; i <= names.length; i++) {
    await page.keyboard.press(String(i));
    same(await page.textContent(".views [aria-current]"), names[i - 1], "key " + i);
    truth((await page.textContent("main")).length > 40, names[i - 1] + " shows something");
  }
  same(page.complaints, [], "complaints");
  same(page.requests, [], "requests");
  await page.close();
});

await browser.close();
done();
