// An experiment of 1,000 nodes x 1,000 call paths x 1,000 metrics with 10 million values (bench/large_experiment): how long the
// page takes to open and to answer. The best of three; on a host where several processes wait for each processor, as many times
// as long.
import { check, done, open_browser, truth } from "./browser.mjs";
import { folder } from "./browser.mjs";
import { cpus, loadavg } from "node:os";

const busy = Math.max(1, loadavg()[0] / cpus().length), OPEN = 2000 * busy, CLICK = 100 * busy; // milliseconds
const browser = await open_browser();

await check("ten_million_values_open_in_two_seconds_and_a_click_takes_a_tenth", async () => {
  const opened = [], clicks = new Map();
  for (let round = 0; round < 3; round++) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(`file://${folder}/large.html#v=trees`);
    await page.waitForSelector("#tree-c [data-id]", { timeout: 60000 });
    opened.push(await page.evaluate(() => performance.now()));
    const click = async (name, selector) => {
      const ms = await page.evaluate(async (where) => {
        const e = document.querySelector(where), begin = performance.now();
        e.click();
        await new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
        return performance.now() - begin;
      }, selector);
      clicks.set(name, Math.min(ms, clicks.get(name) ?? Infinity));
    };
    await click("select a metric", "#tree-m [data-id='10']");
    await click("open it", "#tree-m [data-id='10'] .fold");
    await click("select a call path", "#tree-c [data-id='1']");
    await click("open it and what is below", "#tree-c [data-id='1'] .fold");
    await click("open the system", "#tree-s [data-id='0'] .fold");
    await click("select a node", "#tree-s [data-id='4']");
    for (const view of await page.$$eval(".views button", (list) => list.map((e) => e.textContent)))
      await click("view " + view, `.views button:nth-child(${1 + (await page.$$eval(".views button", (list) => list.map((e) => e.textContent))).indexOf(view)})`);
    await page.close();
  }
  console.log(`# load ${loadavg()[0]} on ${cpus().length} processors; opened in ${opened.map(Math.round)} ms; ${[...clicks].map(([name, ms]) => `${name} ${Math.round(ms)}`).join(", ")}`);
  truth(Math.min(...opened) < OPEN, "opened in " + opened);
  for (const [name, ms] of clicks) truth(ms < CLICK, `${name}: ${ms} ms`);
});

await browser.close();
done();
