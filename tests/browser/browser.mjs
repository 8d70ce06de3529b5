// What the browser tests share: Debian's Chromium by playwright-core, and results as TAP.
// Used as: node tests/browser/NAME.mjs BUILD FOLDER PROGRAM [PART OF A TEST'S NAME]; the packages are in BUILD/ui, files made by
// the program in FOLDER.
import { createRequire } from "node:module";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const [build, folder] = process.argv.slice(2).map((path) => resolve(path));
const require = createRequire(build + "/ui/package.json");
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
let number = 0, failed = 0;

export { build, folder };
export const read = (name) => readFileSync(`${folder}/${name}`, "utf8");

export async function check(name, body) {
  if (process.argv[5] && !name.includes(process.argv[5])) return;
  number++;
  try {
    await body();
    console.log(`ok ${number} - ${name}`);
  } catch (error) {
    failed++;
    console.log(`not ok ${number} - ${name}`);
    console.log(String(error.stack ?? error).slice(0, 3000).replace(/^/gm, "# "));
  }
}
export function done() {
  console.log(`1..${number}`);
  process.exitCode = failed ? 1 : 0;
}
export function same(got, want, what) {
  const a = JSON.stringify(got), b = JSON.stringify(want);
  if (a !== b) throw new Error(`${what}: got ${a?.slice(0, 600)}, expected ${b?.slice(0, 600)}`);
}
export function truth(value, what) {
  if (!value) throw new Error(what);
}

export async function open_browser() {
  const path = execFileSync("sh", ["-c", "command -v chromium"], { encoding: "utf8" }).trim();
  return chromium.launch({ executablePath: path, args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
}

// A page of FOLDER. What it asks the network for and what it complains of are collected.
export async function open_page(browser, file, { hash = "", width = 1440, height = 900, dark = false } = {}) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" });
  page.requests = [];
  page.complaints = [];
  page.on("request", (request) => { if (!/^(file|blob|data):/.test(request.url())) page.requests.push(request.url()); });
  page.on("console", (message) => { if (message.type() === "error") page.complaints.push(message.text()); });
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.setDefaultTimeout(10000);
  await page.goto((/^http/.test(file) ? file : `file://${folder}/${file}`) + (hash ? "#" + hash : ""));
  await page.waitForSelector("main > *, .failure");
  return page;
}
// To another place of the page, by its address.
export async function go(page, hash) {
  await page.evaluate((text) => { location.hash = text; }, hash);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}
// The rows of a tree: by id, value, inclusive value and percentage, as numbers.
export const rows = (page, pane) => page.$$eval(`#tree-${pane} [data-id]`, (list) => list.map((row) => ({
  index: Number(row.dataset.id), value: row.dataset.value === "" ? null : Number(row.dataset.value), whole: Number(row.dataset.whole),
  percent: row.dataset.percent === "" ? null : Number(row.dataset.percent), depth: Number(row.getAttribute("aria-level")) - 1,
  text: row.textContent,
})));

// What axe-core finds wrong, as text.
export async function accessibility(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + (n.any[0]?.message ?? "")).join(" | ")}`);
}
