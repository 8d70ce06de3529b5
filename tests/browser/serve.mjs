// `chiliad serve`: its answers to good, wrong, slow and broken clients; and, unless the fifth word is "http", the page in Chromium.
import { accessibility, check, done, folder, open_browser, open_page, read, same, truth } from "./browser.mjs";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";

const chiliad = process.argv[4], only_http = process.argv[6] === "http";
const wait = (ms) => new Promise((go) => setTimeout(go, ms));
const until = async (what, test) => { for (let i = 0; i < 600; i++) { const value = await test(); if (value) return value; await wait(50); } throw new Error("waited in vain: " + what); };
const children = [];
let servers = 0;

// A server; `ask` sends a request with the token, other headers replace its own.
async function serve(...words) {
  const file = `url${servers++}`;
  rmSync(`${folder}/${file}`, { force: true });
  const child = spawn(chiliad, ["serve", "--url-file", file, ...words], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  const s = { child, out: "", err: "" };
  children.push(child);
  child.stdout.on("data", (text) => { s.out += text; });
  child.stderr.on("data", (text) => { s.err += text; });
  s.ended = new Promise((go) => child.on("exit", (code, signal) => go(signal ?? code)));
  s.url = await until("the address", () => existsSync(`${folder}/${file}`) && readFileSync(`${folder}/${file}`, "utf8").trim());
  same(statSync(`${folder}/${file}`).mode & 0o777, 0o600, "who may read the address");
  [, s.port, s.token] = /^http:\/\/127\.0\.0\.1:(\d+)\/#token=([0-9a-f]{32})$/.exec(s.url);
  s.ask = (path, { method = "GET", headers = {}, agent } = {}) => new Promise((go, fail) => {
    const all = { Authorization: "Bearer " + s.token, ...headers };
    for (const key of Object.keys(all)) if (all[key] === null) delete all[key];
    const request = http.request({ host: "127.0.0.1", port: s.port, path, method, headers: all, agent, setHost: !("Host" in headers) }, (answer) => {
      const parts = [];
      answer.on("data", (part) => parts.push(part));
      answer.on("end", () => go({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }));
      answer.on("error", fail);
    });
    request.on("error", fail);
    request.setTimeout(15000, () => request.destroy(new Error("no answer to " + path)));
    request.end();
  });
  s.json = async (path) => JSON.parse((await s.ask(path)).body);
  s.stop = async () => { child.kill("SIGINT"); const end = await s.ended; truth(!/AddressSanitizer|runtime error/.test(s.err), s.err); return end; };
  return s;
}
const counters = (result) => Object.fromEntries(result.counters.filter((c) => c.value).map((c) => [c.name, c.value]));

// Faults planted: Host, then Origin, then the token not looked at; the token's first half only.
await check("gates_of_the_server_refuse_other_hosts_origins_tokens_and_methods", async () => {
  const s = await serve("threads.cubex"), code = async (path, options) => (await s.ask(path, options)).status;
  same(await code("/"), 200, "the page");
  same(await code("/", { headers: { Authorization: null } }), 200, "the page needs no token, and has no data");
  same(await code("/api/list"), 200, "with the token");
  for (const path of ["/api/list", "/api/result?id=0", "/api/live", "/metrics"]) {
    same(await code(path, { headers: { Authorization: null } }), 401, path + " without a token");
    for (const word of ["", "Bearer ", "Bearer " + s.token.slice(0, 16) + "0".repeat(16), "Bearer " + "0".repeat(16) + s.token.slice(16), "bearer " + s.token, "Bearer " + s.token + "0", "Basic " + s.token])
      same(await code(path, { headers: { Authorization: word } }), 401, `${path} with "${word}"`);
  }
  for (const host of ["evil.example", "evil.example:" + s.port, "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:" + s.port, "127.0.0.1.:" + s.port + "0"])
    same(await code("/", { headers: { Host: host } }), 421, "Host " + host);
  for (const host of ["localhost:", "LOCALHOST:", "localhost.:", "[::1]:"]) same(await code("/", { headers: { Host: host + s.port } }), 200, "Host " + host);
  for (const origin of ["http://evil.example", "null", "https://127.0.0.1:" + s.port, "http://127.0.0.1", "http://localhost:" + s.port])
    same(await code("/api/list", { headers: { Origin: origin } }), 403, "Origin " + origin);
  same(await code("/api/list", { headers: { Origin: "http://127.0.0.1:" + s.port } }), 200, "our own origin");
  for (const [site, status] of [["cross-site", 403], ["same-site", 403], ["same-origin", 200], ["none", 200]]) same(await code("/api/list", { headers: { "Sec-Fetch-Site": site } }), status, site);
  for (const method of ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"]) same(await code("/api/list", { method }), 405, method);
  same(await code("/api/list", { method: "POST" }), 405, "POST of a list");
  same(await code("/api/run?do=stop"), 405, "GET of an order");
  for (const path of ["/x", "/api", "/api/result", "/api/result?id=9", "/api/result?id=-1", "/api/result?id=0x0", "/api/result?id=99999999999999999999", "/../../etc/passwd", "/api/result?id=../threads.cubex", "/threads.cubex", "/api/live", "/api/live/experiment"])
    same(await code(path), 404, path);
  const { headers } = await s.ask("/api/list");
  for (const [name, value] of [["cache-control", "no-store"], ["x-content-type-options", "nosniff"], ["referrer-policy", "no-referrer"], ["cross-origin-resource-policy", "same-origin"]]) same(headers[name], value, name);
  truth(!Object.keys(headers).some((name) => name.startsWith("access-control")), "nothing for other origins");
  const s2 = await serve("threads.cubex");
  truth(s2.token !== s.token, "another token each time");
  await s2.stop();
  same(await s.stop(), "SIGINT", "how Ctrl-C ends it");
});

// Fault planted: the last snapshot was not taken at the end.
await check("counts_of_a_watched_paused_and_stepped_run_are_the_same_bits", async () => {
  const s = await serve("--paused", "--", "./threads"), want = JSON.parse(read("stat.json"));
  const state = () => s.json("/api/live");
  await until("the pause", async () => (await state()).state === "paused");
  for (const cycles of [1, 100000, 123456]) {
    const before = await state();
    await s.ask("/api/run?do=step&cycles=" + cycles, { method: "POST" });
    const after = await until("the step", async () => { const now = await state(); return now.state === "paused" && now.sequence > before.sequence + 2 && now; });
    const gone = after.result.cycles - before.result.cycles;
    truth(gone >= cycles && gone < cycles + 200000, `a step of ${cycles} is ${gone} cycles`);
  }
  same((await s.ask("/api/live?since=" + (await state()).sequence)).status, 204, "no news");
  await s.ask("/api/live/experiment");
  await until("call paths in a pause", async () => (await s.ask("/api/live/experiment")).status === 200);
  same((await s.ask("/api/run?do=fly", { method: "POST" })).status, 409, "an order that there is not");
  await s.ask("/api/run?do=go", { method: "POST" });
  const end = await until("the end", async () => { const now = await state(); return now.state === "ended" && now; });
  same(counters(end.result), counters(want), "counters");
  for (const key of ["cycles", "instructions", "exit_status", "busy_cycles", "laws"]) same(end.result[key], want[key], key);
  same(end.result.derived, want.derived, "derived");
  same((await s.ask("/api/run?do=pause", { method: "POST" })).status, 409, "after the end");
  same(s.out, execFileSync(`${folder}/../threads.sh`, { encoding: "utf8", cwd: folder }), "what the program wrote");
  same(await s.stop(), "SIGINT", "how Ctrl-C ends it");
});

await check("metrics_are_openmetrics_for_a_strict_parser_and_the_older_text_for_others", async () => {
  const s = await serve("--metrics-open", "--", "./threads");
  await until("the end", async () => (await s.json("/api/live")).state === "ended");
  const answer = await s.ask("/metrics", { headers: { Authorization: null, Accept: "application/openmetrics-text; version=1.0.0" } });
  same(answer.headers["content-type"], "application/openmetrics-text; version=1.0.0; charset=utf-8", "type");
  const script = `import sys, json
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
print(json.dumps([[s.name, s.labels, s.value] for f in parse(sys.stdin.read()) for s in f.samples]))`;
  const samples = JSON.parse(execFileSync("/usr/bin/python3", ["-c", script], { input: answer.body, maxBuffer: 1 << 26 }));
  const want = JSON.parse(read("stat.json")), events = Object.fromEntries(samples.filter(([name]) => name === "chiliad_events_total").map(([, labels, value]) => [labels.event, value]));
  same(events, counters(want), "events");
  const cores = samples.filter(([name, labels]) => name === "chiliad_core_events_total" && labels.event === "BGL_INST").map(([, labels, value]) => [Number(labels.core), value]);
  same(cores, want.counters.find((c) => c.name === "BGL_INST").cores.map((v, i) => [i, v]), "cores");
  const value = (name) => samples.find((x) => x[0] === name)?.[2];
  same([value("chiliad_cycles_total"), value("chiliad_ended"), value("chiliad_running")], [want.cycles, 1, 0], "the run");
  const older = await s.ask("/metrics", { headers: { Authorization: null } }), text = older.body.toString();
  same(older.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8", "the older type");
  truth(!text.includes("# EOF") && text.includes("# TYPE chiliad_events_total counter"), "the older text");
  same((await s.ask("/api/list", { headers: { Authorization: null } })).status, 401, "the rest stays closed");
  await s.stop();
});

// Debian's Prometheus, with the token: what it stored is what stat counts. Fault planted: the events' label had another name.
if (process.env.CHILIAD_TEST_LENGTH === "long" && !only_http) await check("prometheus_scrapes_what_stat_counts", async () => {
  const s = await serve("--", "./threads"), want = JSON.parse(read("stat.json")), home = `${folder}/prometheus`;
  await until("the end", async () => (await s.json("/api/live")).state === "ended");
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home);
  writeFileSync(`${home}/token`, s.token);
  writeFileSync(`${home}/config.yml`, `global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - job_name: chiliad
    authorization: {credentials_file: ${home}/token}
    static_configs: [{targets: ["127.0.0.1:${s.port}"]}]
`);
  const port = await new Promise((go) => { const probe = net.createServer().listen(0, "127.0.0.1", () => { const { port: free } = probe.address(); probe.close(() => go(free)); }); });
  const server = spawn("prometheus", [`--config.file=${home}/config.yml`, `--storage.tsdb.path=${home}/data`, `--web.listen-address=127.0.0.1:${port}`, "--log.level=warn"], { stdio: ["ignore", "pipe", "pipe"] });
  children.push(server);
  let said = "";
  server.stderr.on("data", (text) => { said += text; });
  const query = async (text) => { try { return (await (await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(text)}`)).json()).data.result; } catch { return []; } };
  await until("the first scrape; " + said, async () => (await query("chiliad_ended")).length);
  same(Object.fromEntries((await query("chiliad_events_total")).map((x) => [x.metric.event, Number(x.value[1])]).sort()), Object.fromEntries(Object.entries(counters(want)).sort()), "events");
  same((await query("chiliad_cycles_total")).map((x) => Number(x.value[1])), [want.cycles], "cycles");
  same((await query("up")).map((x) => x.value[1]), ["1"], "Prometheus says that the server is up");
  server.kill("SIGTERM");
  await s.stop();
});

// Fault planted: room for 32 connections.
await check("slow_broken_and_leaving_clients_and_100_watchers_do_no_harm", async () => {
  const s = await serve("--paused", "--", "./threads"), open = [];
  const raw = (text) => new Promise((go) => { const socket = net.connect(s.port, "127.0.0.1", () => { if (text) socket.write(text); go(socket); }); socket.on("error", () => {}); open.push(socket); });
  await until("the pause", async () => (await s.json("/api/live")).state === "paused");
  const host = `Host: 127.0.0.1:${s.port}\r\nAuthorization: Bearer ${s.token}\r\n`;
  for (let i = 0; i < 40; i++) await raw(`GET /api/list HTTP/1.1\r\n${host.slice(0, i)}`); // half a request, and silence
  for (const junk of ["\0\0\0\0", "GET", "GET / HTTP/9.9\r\n\r\n", "POST /api/run?do=stop HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00", `GET /${"a".repeat(60000)} HTTP/1.1\r\n${host}\r\n`, `GET / HTTP/1.1\r\n${"X: y\r\n".repeat(20000)}\r\n`,
    `GET /api/list HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nzzz\r\n`, `POST /api/run?do=go HTTP/1.1\r\n${host}Content-Length: 10\r\n\r\n12`]) await raw(junk);
  for (let i = 0; i < 20; i++) (await raw(`GET / HTTP/1.1\r\n${host}\r\n`)).pause(); // asks, and does not read
  for (let i = 0; i < 20; i++) { const socket = await raw(`GET / HTTP/1.1\r\n${host}\r\n`); setTimeout(() => socket.destroy(), i); } // asks, and leaves
  same((await s.ask("/api/list")).status, 200, "others are answered meanwhile");
  same((await s.json("/api/live")).state, "paused", "half an order is none");
  const agent = new http.Agent({ keepAlive: true, maxSockets: 200 }), seen = [];
  const watch = async (number) => {
    for (let since = -1, last = 0; ;) {
      const answer = await s.ask("/api/live?since=" + since, { agent });
      if (answer.status === 200) {
        const now = JSON.parse(answer.body);
        truth(!now.result || now.result.cycles >= last, "time goes forward");
        last = now.result?.cycles ?? 0;
        since = now.sequence;
        if (now.state === "ended") { seen.push(JSON.stringify(now.result)); return; }
      }
      if (number % 10 === 9) return; // leaves early
      await wait(20);
    }
  };
  const watchers = Array.from({ length: 100 }, (_, i) => watch(i));
  await wait(200);
  await s.ask("/api/run?do=go", { method: "POST" });
  await Promise.all(watchers);
  same([seen.length, new Set(seen).size], [90, 1], "watchers that saw the end, and what they saw");
  same(counters(JSON.parse(seen[0])), counters(JSON.parse(read("stat.json"))), "counters");
  agent.destroy();
  open.forEach((socket) => socket.destroy());
  same(await s.stop(), "SIGINT", "how it ends");
});

await check("a_watcher_stops_a_run_and_the_server_ends_with_the_program_when_asked", async () => {
  const s = await serve("--paused", "--", "./threads");
  await until("the pause", async () => (await s.json("/api/live")).state === "paused");
  await s.ask("/api/run?do=stop", { method: "POST" });
  const end = await until("the end", async () => { const now = await s.json("/api/live"); return now.state === "ended" && now; });
  same([end.result.exit_status, end.result.partial], [null, "stopped by a watcher"], "a run without an end");
  await s.stop();
  const ends = await serve("--end", "--", "./flops");
  same(await ends.ended, JSON.parse(read("sweep.json"))[0].exit_status, "the program's exit status");
});

await check("files_that_cannot_be_shown_are_refused_and_new_ones_appear", async () => {
  execFileSync("sh", ["-c", "rm -rf served && mkdir served && echo broken >served/broken.cubex && cp threads.cubex served/a.cubex && cp hist.json served && echo x >served/other.txt"], { cwd: folder });
  const s = await serve("served"), names = async () => (await s.json("/api/list")).results.map((r) => r.file);
  same(await names(), ["a.cubex", "broken.cubex", "hist.json"], "files");
  same((await s.ask("/api/result?id=1")).status, 422, "a broken file");
  const first = (await s.ask("/api/result?id=0")).body;
  truth(first.length > 1000 && (await s.ask("/api/result?id=0")).body.equals(first), "the same bytes again");
  execFileSync("sh", ["-c", "cp small.cubex served/a.cubex; cp flops.cubex served/b.cubex; rm served/broken.cubex"], { cwd: folder });
  truth(!(await s.ask("/api/result?id=0")).body.equals(first), "a file that changed is read again");
  same(await names(), ["a.cubex", "hist.json", "b.cubex"], "numbers stay, new files are behind");
  await s.stop();
  truth(s.err.includes("broken.cubex"), "the terminal says why");
});

// Faults planted: a metric's parts not taken away, threads not looked at, a range without its last number.
await check("an_experiment_without_values_is_asked_for_sums", async () => {
  const s = await serve("--sums-above", "100", "threads.cubex", "flops.cubex", "stat.json"), text = JSON.parse(execFileSync(chiliad, ["report", "-j", "threads.cubex"], { cwd: folder, maxBuffer: 1 << 28 }));
  same((await s.ask("/api/result?id=0")).status, 200, "the experiment");
  const sums = async (words) => {
    const { status, body } = await s.ask("/api/sums?id=0" + words);
    return status === 200 ? Array.from({ length: body.length / 8 }, (_, i) => body.readDoubleLE(8 * i)) : status;
  };
  const want = (metric, own, by, calls, threads) => {
    const out = new Array(by === "thread" ? 1 + Math.max(...text.places.map((p) => p.thread)) : text.call_paths.length).fill(0);
    const add = (m, sign) => { for (const [n, t, v] of text.metrics[m].cells) if ((!calls || calls.has(n)) && (!threads || threads.has(t))) out[by === "thread" ? t : n] += sign * v; };
    add(metric, 1);
    if (own) text.metrics.forEach((m, i) => { if (m.parent === metric) add(i, -1); });
    return out;
  };
  const parent = text.metrics.find((m) => m.parent >= 0).parent;
  truth(want(parent, true, "call").some((v, i) => v !== want(parent, false, "call")[i]), "the parts are not nothing");
  for (const metric of [parent, text.metrics.findIndex((m) => m.cells.length > 4)])
    for (const [by, own, calls, threads] of [["call", false], ["call", true], ["thread", true], ["call", false, null, [1]], ["thread", false, [0, 1, 2, 5]], ["call", true, [3, 4, 5, 6], [0, 2, 3]], ["thread", false, [], null]])
      same(await sums(`&metric=${metric}&by=${by}${own ? "&own=1" : ""}${calls ? "&calls=" + (calls.length > 1 ? calls.map((c, i) => (calls[i - 1] === c - 1 && calls[i + 1] === c + 1 ? "" : calls[i - 1] === c - 1 ? "-" + c : (i ? "," : "") + c)).join("") : calls.join(",")) : ""}${threads ? "&threads=" + threads.join(",") : ""}`),
        want(metric, own, by, calls && new Set(calls), threads && new Set(threads)), `${metric} ${by} ${own} ${calls} ${threads}`);
  same(await sums(""), text.metrics.map((m) => m.cells.reduce((sum, c) => sum + c[2], 0)), "totals");
  same(await sums("&threads=1&calls=0-5"), text.metrics.map((m) => m.cells.reduce((sum, c) => sum + (c[0] <= 5 && c[1] === 1 ? c[2] : 0), 0)), "totals of a selection");
  for (const bad of ["&metric=-1", "&metric=x", "&metric=99999", "&calls=x", "&calls=1-", "&calls=3-1", "&calls=0,", "&calls=0;1", "&calls=999999", "&threads=0-99", "&threads=0x1", "&metric=0&by=thread0", "&metric=0&by=", "&calls=18446744073709551616"]) same(await sums(bad), 400, bad);
  for (const id of ["2", "9", "-1"]) same((await s.ask("/api/sums?id=" + id)).status, 404, "id " + id);
  const two = await Promise.all([0, 1, 0, 1, 0, 1].map((id) => s.ask("/api/sums?id=" + id)));
  truth(two.every((a) => a.status === 200) && two[0].body.equals(two[4].body) && two[1].body.equals(two[5].body) && !two[0].body.equals(two[1].body), "two experiments in turns");
  await s.stop();
});

if (!only_http) {
  const browser = await open_browser();
  const report = (file) => JSON.parse(execFileSync(chiliad, ["report", "-j", file], { cwd: folder, maxBuffer: 1 << 28 }));

  // Fault planted: the token left in the address.
  await check("the_page_of_a_folder_shows_its_results_and_hides_the_token", async () => {
    const s = await serve("threads.cubex", "small.cubex", "hist.json"), page = await open_page(browser, s.url), text = report("threads.cubex");
    await page.waitForSelector(".overview");
    truth(!page.url().includes("token"), "no token in the address: " + page.url());
    await page.keyboard.press("2");
    const row = await page.$eval("#tree-m [data-id]", (e) => [Number(e.dataset.id), Number(e.dataset.whole)]);
    same(row[1], text.metrics[row[0]].cells.reduce((sum, c) => sum + c[2], 0), "the first metric");
    await page.click(".views button:has-text('Compare')");
    await page.waitForSelector("[data-key]");
    await page.selectOption("select.file", { label: "hist.json" });
    await page.waitForSelector(".heat");
    await page.reload();
    await page.waitForSelector(".heat");
    same(page.complaints, [], "complaints");
    const other = await open_page(browser, `http://127.0.0.1:${s.port}/`, { hash: "token=" + "0".repeat(32) });
    truth((await other.textContent(".failure")).includes("no token, or an old one"), "a wrong token is explained");
    await other.close();
    await page.close();
    await s.stop();
  });

  // Fault planted: an order of the trees in which the selection of threads was not sent.
  await check("views_of_an_experiment_without_values_are_those_of_one_with_them", async () => {
    const asked = await serve("--sums-above", "0", "threads.cubex", "small.cubex"), whole = await serve("threads.cubex", "small.cubex");
    const pages = [await open_page(browser, asked.url), await open_page(browser, whole.url)];
    const is_idle = (page) => page.evaluate(() => document.querySelector("main")?.getAttribute("aria-busy") === "false" && !document.querySelector("main .start"));
    for (const hash of ["v=overview", "v=trees", "v=trees&o=smc&s=" + encodeURIComponent("bgp.0/node%200.0/process%201000.1000/thread%201%20on%20core%201.1"), "v=trees&om=CYCLES&p=absolute", "v=flame", "v=functions", "v=stacks", "v=topology", "v=roofline", "v=metrics", "v=compare&vs=1", "v=compare&vs=1&x.what=functions"]) {
      const texts = [];
      for (const page of pages) {
        await page.evaluate((text) => { location.hash = text; }, hash);
        let last = "";
        await until("an end of " + hash, async () => { const idle = await is_idle(page), before = last; last = await page.$eval("main", (e) => e.innerText); return idle && last === before && last.length > 40; });
        texts.push(last);
        if (hash.includes("&s=")) truth(await page.$("#tree-s .selected"), "the selected thread");
      }
      same(texts[0], texts[1], hash);
      truth(!/NaN/.test(texts[0]), "no NaN in " + hash);
    }
    for (const page of pages) same(page.complaints, [], "complaints");
    // Without the server the page says so, and does not ask again and again. Fault planted: no pause between tries.
    await pages[1].close();
    await asked.stop();
    let tries = 0;
    pages[0].on("request", (r) => { if (r.url().includes("/api/sums")) tries++; });
    await pages[0].evaluate(() => { location.hash = "v=trees&o=smc&m=INSTRUCTION&s=" + encodeURIComponent("bgp.0/node%200.0/process%201000.1000/thread%202%20on%20core%202.2"); });
    await until("a notice", async () => (await pages[0].$$eval("[role=alert]", (list) => list.map((e) => e.textContent).join(""))).length > 5);
    await wait(1500);
    truth(tries > 0 && tries < 30, `${tries} requests to a server that has ended`);
    await pages[0].close();
    await whole.stop();
  });

  await check("a_page_of_another_origin_reads_nothing_and_orders_nothing", async () => {
    const s = await serve("--paused", "--", "./threads");
    const evil = http.createServer((request, answer) => { answer.setHeader("Content-Type", "text/html"); answer.end("<p>evil</p>"); });
    await new Promise((go) => evil.listen(0, "127.0.0.1", go));
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${evil.address().port}/`);
    const got = await page.evaluate(async ([port, token]) => {
      const out = [], base = `http://127.0.0.1:${port}`;
      for (const [path, options] of [["/", {}], ["/api/list", { headers: { Authorization: "Bearer " + token } }], ["/api/run?do=stop", { method: "POST" }], ["/api/run?do=stop", { method: "POST", mode: "no-cors" }]])
        out.push(await fetch(base + path, options).then((r) => r.type === "opaque" ? "opaque" : "read", () => "refused"));
      const frame = document.createElement("iframe");
      frame.src = base + "/";
      document.body.append(frame);
      await new Promise((go) => { frame.onload = go; setTimeout(go, 2000); });
      let inside = "closed";
      try { inside = frame.contentDocument ? "open" : "closed"; } catch { /* closed */ }
      return [...out, inside];
    }, [s.port, s.token]);
    same(got, ["refused", "refused", "refused", "refused", "closed"], "what it got");
    same((await s.json("/api/live")).state, "paused", "the run");
    evil.close();
    await page.close();
    await s.stop();
  });

  await check("a_running_program_is_watched_stepped_and_its_call_paths_shown", async () => {
    const s = await serve("--paused", "--", "./threads"), page = await open_page(browser, s.url), want = JSON.parse(read("stat.json"));
    await page.waitForSelector(".state.paused");
    await page.fill("input.number", "200000");
    await page.click("button:text-is('Step')");
    await until("the step", async () => (await s.json("/api/live")).result.cycles >= 300000);
    await page.waitForSelector(".state.paused");
    same(await accessibility(page), [], "accessibility");
    await page.click("button:has-text('Call paths so far')");
    await page.waitForSelector("#tree-c [data-id]");
    await page.selectOption("select.file", "0");
    await page.click("button:has-text('Continue')");
    await page.waitForSelector(".state.ended");
    const shown = Object.fromEntries(await page.$$eval("[data-counter]", (list) => list.map((e) => [e.dataset.counter, Number(e.dataset.value)])));
    same(shown, counters(want), "counters at the end");
    await page.click("button:has-text('Call paths so far')");
    await page.waitForSelector("#tree-m [data-id]");
    const text = report("threads.cubex"), total = (name) => text.metrics.find((m) => m.name === name).cells.reduce((sum, c) => sum + c[2], 0);
    same(await page.$eval("#tree-m [data-id]", (e) => Number(e.dataset.whole)), total("CYCLES"), "cycles of all call paths");
    same(page.complaints, [], "complaints");
    await page.close();
    await s.stop();
  });
  await browser.close();
}
for (const child of children) child.kill("SIGKILL");
done();
