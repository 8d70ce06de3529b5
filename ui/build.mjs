// Bundles the page's template: node build.mjs OUTPUT. The policy in the file names the exact script and style.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url)), output = process.argv[2];
const common = { bundle: true, minify: true, write: false, format: "iife", target: "es2022", charset: "utf8", legalComments: "none" };
const bundle = async (entry, more = {}) =>
  (await build({ ...common, ...more, entryPoints: [join(here, entry)] })).outputFiles[0].text.trimEnd();

const worker = await bundle("src/worker.ts");
const licence = readFileSync(join(here, "node_modules/preact/LICENSE"), "utf8").trim();
const script = "/* Contains preact:\n" + licence + "\n*/\n" + await bundle("src/main.tsx", {
  jsx: "automatic", jsxImportSource: "preact", define: { WORKER_SOURCE: JSON.stringify(worker) },
});
const style = await bundle("src/style.css");
for (const text of [script, style]) if (/<\/(script|style)|<!--/i.test(text)) throw new Error("an element would end early");

const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data: blob:; worker-src blob:; ` +
  "connect-src 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types chiliad";
const parts = { "@CSP@": policy, "@STYLE@": style, "@SCRIPT@": script };
const page = readFileSync(join(here, "src/template.html"), "utf8").replace(/@(CSP|STYLE|SCRIPT)@/g, (word) => parts[word]);
mkdirSync(dirname(output), { recursive: true });
writeFileSync(output + ".new", page);
renameSync(output + ".new", output);
