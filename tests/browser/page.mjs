// The page of experiments in a browser: numbers, keys, accessibility, names that try to be markup.
import { accessibility, check, done, folder, go, open_browser, open_page, read, rows, same, truth } from "./browser.mjs";
import { execFileSync } from "node:child_process";

const chiliad = process.argv[4];
const report = (...words) => JSON.parse(execFileSync(chiliad, ["report", "-j", ...words], { cwd: folder, maxBuffer: 1 << 28 }));
const browser = await open_browser();
const tall = { width: 1600, height: 24000 }; // all rows are there
const near = (a, b) => a === b || Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));

// Rows of the program and of the page, by index; rows that the program gathers or leaves out are zero.
async function compare(page, pane, want, what) {
  const got = new Map((await rows(page, pane)).map((r) => [r.index, r]));
  truth(want.length > 0, what + ": the report has rows");
  for (const row of want) {
    const other = got.get(row.index);
    truth(other, `${what}: row ${row.index} is there`);
    const value = other.value ?? 0;
    if (!near(value, row.value) || !near(other.whole, row.whole) || (other.percent === null) !== (row.percent === null) ||
        (row.percent !== null && !near(other.percent, row.percent)))
      throw new Error(`${what}: row ${row.index} is ${JSON.stringify(other)}, not ${JSON.stringify(row)}`);
    got.delete(row.index);
  }
  for (const row of got.values()) truth(row.index < 0 || !row.value || row.depth === 1 && pane === "m", `${what}: row ${row.index} is not in the report`);
}
const openAll = async (page, pane) => {
  const closed = page.locator(`#tree-${pane} [aria-expanded=false]:not([data-id="-2"])`);
  for (let i = 0; i < 100 && (await closed.count()); i++) {
    await closed.first().locator(".fold").click();
    await page.keyboard.press("*");
  }
  await page.keyboard.press("Home");
};

// Fault planted: an open row showed its inclusive value.
await check("the_three_trees_have_the_values_of_report", async () => {
  const page = await open_page(browser, "threads.html", { hash: "v=trees", ...tall });
  for (const pane of ["m", "s"]) await openAll(page, pane);
  const everything = ["--metric-depth", "1000", "--threshold", "0"], text = report(...everything, "threads.cubex");
  await compare(page, "m", text.metric_rows, "metrics");
  const state = "v=trees&oc=*";
  await go(page, state);
  await compare(page, "c", text.call_rows, "call paths");
  await compare(page, "s", text.system_rows, "system");
  const metrics = text.metrics.filter((m) => !m.apart && m.cells.length).slice(0, 6).concat(text.metrics.filter((m) => m.apart && m.cells.length).slice(0, 2));
  for (const m of metrics) {
    const q = new URLSearchParams(state);
    q.set("m", m.name);
    q.delete("om"); // the selected metric is closed
    await go(page, q.toString());
    const other = report(...everything, "-m", m.name, "threads.cubex");
    await compare(page, "c", other.call_rows, "call paths of " + m.name);
    await compare(page, "s", other.system_rows, "system of " + m.name);
  }
  same(page.requests, [], "requests");
  same(page.complaints, [], "complaints");
  await page.close();
});

// Fault planted: the metric root's value was that of the selection.
await check("the_percentages_are_those_of_report_in_every_mode_and_order", async () => {
  const page = await open_page(browser, "threads.html", { hash: "v=trees", ...tall });
  const state = new URLSearchParams("v=trees");
  const text = report("threads.cubex"), metric = text.metrics.find((m) => m.parent >= 0 && m.cells.length).name;
  const main = "threads/__libc_start_main/__libc_start_call_main/main";
  for (const mode of ["usual", "own-root", "metric-root", "metric-selection", "call-root", "call-selection", "system-root",
    "system-selection", "peer", "peer-range"])
    for (const order of mode === "usual" ? ["mcs", "msc", "cms", "csm", "smc", "scm"] : ["mcs", "scm"]) {
      const q = new URLSearchParams(state);
      for (const [key, value] of [["p", mode], ["o", order], ["m", metric]]) q.set(key, value);
      q.set("c", main);
      q.set("oc", ""); // closed: the selection is the whole of main
      await go(page, q.toString());
      const want = report("--metric-depth", "0", "--threshold", "0", "--depth", "0", "--percent", mode, "--order", order, "-m", metric, "-c", "/" + main, "threads.cubex");
      await compare(page, "m", want.metric_rows, `metrics, ${mode} ${order}`);
      await compare(page, "c", want.call_rows, `call paths, ${mode} ${order}`);
      const closed = (await rows(page, "s")).filter((r) => r.value !== null), peers = report("--threshold", "0", "--percent", mode, "--order", order, "-m", metric, "-c", "/" + main, "threads.cubex");
      for (const row of closed) {
        const other = peers.system_rows.find((r) => r.index === row.index);
        truth(other && near(row.value, other.value) && near(row.percent ?? NaN, other.percent ?? NaN), `system, ${mode} ${order}: ${JSON.stringify(row)}, not ${JSON.stringify(other)}`);
      }
    }
  await page.close();
});

// Fault planted: sums of 32 bits.
await check("every_metric_has_the_total_of_report", async () => {
  const page = await open_page(browser, "threads.html", { hash: "v=metrics" });
  await page.click("text=Show all");
  const shown = new Map(await page.$$eval("[data-metric]", (list) => list.map((e) => [e.dataset.metric, Number(e.dataset.value)])));
  for (const m of report("threads.cubex").metrics) {
    const total = m.cells.reduce((sum, cell) => sum + cell[2], 0);
    truth(near(shown.get(m.name) ?? NaN, total), `${m.name}: ${shown.get(m.name)}, not ${total}`);
  }
  await page.close();
});

// Fault planted: the box of an open row had the colour of its inclusive value.
await check("KOJ_35_a_box_has_the_colour_of_its_value_on_the_scale_below_and_a_line_says_what_is_selected", async () => {
  const page = await open_page(browser, "threads.html", { hash: "v=trees&oc=*&m=CYCLES", ...tall });
  const boxes = await page.$$eval("#tree-c [data-id]", (list) => list.map((row) => [Number(row.dataset.percent), getComputedStyle(row.querySelector(".box")).backgroundColor]));
  const light = (colour) => colour.match(/\d+/g).map(Number).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const values = boxes.filter(([percent]) => percent !== 0).sort((a, b) => a[0] - b[0]);
  truth(values.length > 100 && values.at(-1)[0] > 10, "there are small and large values");
  for (let i = 1; i < values.length; i++) truth(light(values[i][1]) >= light(values[i - 1][1]), `${values[i]} is no darker than ${values[i - 1]}`);
  truth(light(values.at(-1)[1]) > light(values[0][1]) + 60, "a large value is much brighter than a small one");
  same([...new Set(boxes.filter(([percent]) => percent === 0).map(([, colour]) => colour))], ["rgb(255, 255, 255)"], "zero is white");
  const place = await page.evaluate(() => [document.querySelector(".panes").getBoundingClientRect().bottom, document.querySelector(".scale").getBoundingClientRect().top]);
  truth(place[1] >= place[0], "the scale is below the trees");
  const ends = (await page.$eval(".ramp", (e) => e.style.background)).match(/rgb\(\d+, \d+, \d+\)/g);
  truth(light(ends[0]) <= light(values[0][1]) && light(ends.at(-1)) >= light(values.at(-1)[1]), "the scale has all colours");
  await page.click("#tree-c [data-id='0'] .label");
  const line = await page.textContent(".detail"), whole = report("threads.cubex").metrics.find((m) => m.name === "CYCLES").cells.reduce((sum, c) => sum + c[2], 0);
  same(await page.$eval("[data-total]", (e) => Number(e.dataset.total)), whole, "the selection's total");
  truth(line.includes("CYCLES") && line.includes("threads: inclusive") && line.includes("measured"), "the line names the selection: " + line);
  await page.close();
});

// Fault planted: the first order was system, metrics, call paths.
await check("ERR_15_the_system_is_the_tree_on_the_right", async () => {
  const page = await open_page(browser, "threads.html", { hash: "v=trees" });
  const left = async (pane) => (await page.locator(`#tree-${pane}`).boundingBox()).x;
  truth((await left("m")) < (await left("c")) && (await left("c")) < (await left("s")), "metrics, call paths, system");
  await page.close();
});

await check("findings_lead_to_their_call_paths", async () => {
  const page = await open_page(browser, "threads.html"), text = report("threads.cubex");
  if (text.findings.length > 6) await page.click(".findings ~ button");
  same(await page.locator(".finding").count(), text.findings.length, "findings");
  const place = text.findings.findIndex((f) => f.call_path >= 0);
  await page.locator(".finding").nth(place).click();
  same(await page.$$eval("#tree-c [aria-selected=true]", (list) => list.map((e) => Number(e.dataset.id))), [text.findings[place].call_path], "selected");
  await page.goBack();
  await page.waitForSelector(".findings");
  await page.close();
});

// Fault planted: Left did not close.
await check("the_trees_are_walked_by_keyboard_and_the_address_follows", async () => {
  const page = await open_page(browser, "threads.html", { hash: "v=trees" });
  for (let i = 0; i < 40 && !(await page.evaluate(() => document.activeElement.id === "tree-m")); i++) await page.keyboard.press("Tab");
  const at = () => page.evaluate(() => document.getElementById(document.activeElement.getAttribute("aria-activedescendant"))?.textContent);
  truth((await at())?.includes("CYCLES"), "Tab comes to the metrics: " + (await at()));
  const before = await page.locator("#tree-m [data-id]").count();
  await page.keyboard.press("ArrowRight");
  const after = await page.locator("#tree-m [data-id]").count();
  truth(after > before, "Right opens");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  const chosen = await page.locator("#tree-m [aria-selected=true]").textContent();
  truth(!chosen.includes("CYCLES"), "Enter selects a part");
  truth((await page.evaluate(() => location.hash)).includes("m="), "the address names it");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  same(await page.locator("#tree-m [data-id]").count(), before, "rows after Left");
  await page.keyboard.press("]");
  same(await page.evaluate(() => document.activeElement.id), "tree-c", "] goes to the right");
  await page.keyboard.press("End");
  await page.keyboard.press("Home");
  await page.keyboard.press("Space");
  const link = await page.evaluate(() => location.hash.slice(1)), again = await open_page(browser, "threads.html", { hash: link });
  same(await again.$$eval("[aria-selected=true]", (l) => l.map((e) => e.textContent)), await page.$$eval("[aria-selected=true]", (l) => l.map((e) => e.textContent)), "the link selects the same");
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  await page.keyboard.press("Escape");
  await page.close();
  await again.close();
});

await check("axe_core_finds_nothing_in_any_view_dark_and_light_narrow_and_wide", async () => {
  for (const [width, dark] of [[1440, false], [360, true]]) {
    const page = await open_page(browser, "threads.html", { width, dark });
    const views = await page.$$eval(".views button", (list) => list.length);
    for (let i = 0; i < views; i++) {
      await page.locator(".views button").nth(i).click();
      same(await accessibility(page), [], `view ${i + 1} at ${width}`);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      truth(over <= 0, `view ${i + 1} at ${width} is ${over} pixels too wide`);
    }
    same(page.complaints, [], "complaints");
    await page.close();
  }
});

// Fault planted: names without `clean`.
await check("names_are_text_whatever_is_in_them", async () => {
  const page = await open_page(browser, "hostile.html", { hash: "v=trees", ...tall });
  await openAll(page, "c");
  await page.click("#tree-c [data-id] .label >> nth=0");
  const text = await page.textContent("body");
  truth(text.includes("<script>window.harm=1</script>"), "markup is shown as text");
  truth(text.includes('"><img src=x onerror=window.harm=1>'), "an attribute's end is shown as text");
  truth(!/[\u202a-\u202e\u2066-\u2069]/.test(text), "marks of direction are not shown");
  truth(!text.includes("\u200b"), "a character of no width is not shown");
  const lengths = await page.$$eval("#tree-c .label", (list) => list.map((e) => e.textContent.length));
  truth(Math.max(...lengths) <= 170, "a name of 10,000 characters is cut");
  const views = await page.$$eval(".views button", (list) => list.length);
  for (let i = 0; i < views; i++) await page.locator(".views button").nth(i).click();
  same(await page.evaluate(() => [window.harm, document.querySelectorAll("#page script, #page img").length]), [null, 0], "harm");
  same(page.requests, [], "requests");
  truth((await page.title()).length < 300, "the title is short");
  await page.close();
});

// Fault planted: 'unsafe-inline' in the policy.
await check("the_file_itself_forbids_other_scripts_and_the_network", async () => {
  const page = await open_page(browser, "threads.html");
  const harm = await page.evaluate(async () => {
    const script = document.createElement("script");
    try { script.text = "window.harm = 1"; document.body.append(script); } catch { /* refused at once */ }
    const fetched = await fetch("https://localhost/").then(() => "yes", () => "no");
    let html = "no";
    try { document.createElement("p").innerHTML = "<b>x</b>"; html = "yes"; } catch { /* refused */ }
    return [window.harm ?? null, fetched, html];
  });
  same(harm, [null, "no", "no"], "script, network, innerHTML");
  same(page.requests, [], "requests");
  await page.close();
});

// Fault planted: only the rows of the window.
await check("a_printed_tree_has_all_its_rows", async () => {
  const page = await open_page(browser, "threads.html", { hash: "v=trees&oc=*", height: 500 }), count = () => page.$$eval("#tree-c [data-id]", (list) => list.length);
  const all = Number(await page.getAttribute("#tree-c", "aria-rowcount")) - 1, before = await count();
  truth(before < all, `${before} of ${all} rows are seen`);
  await page.evaluate(() => addEventListener("beforeprint", () => { void Promise.resolve().then(() => 0).then(() => { document.documentElement.dataset.printed = document.querySelectorAll("#tree-c [data-id]").length; }); }));
  await page.pdf();
  same(await page.getAttribute("html", "data-printed"), String(all), "rows when the printer looks");
  truth((await count()) < all, "rows on the screen again");
  same(page.complaints, [], "complaints");
  await page.close();
});

await browser.close();
done();
