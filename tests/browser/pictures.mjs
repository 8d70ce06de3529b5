// The pictures of README: node tests/browser/pictures.mjs BUILD FOLDER PROGRAM writes them to docs/pictures. FOLDER has mg.html, a
// page of a recording of NAS MG (guest/nas/mg.c), and hist.html, one of hist 'latency:log2 x function' of it.
import { open_browser, open_page } from "./browser.mjs";
import { mkdirSync, statSync } from "node:fs";

const pictures = [
  ["overview", "mg.html", "v=overview", false],
  ["trees", "mg.html", "v=trees&x.ratio=CPI", false],
  ["stacks", "mg.html", "v=stacks", true],
  ["histogram", "hist.html", "v=hist", true],
];
const browser = await open_browser();
mkdirSync("docs/pictures", { recursive: true });
for (const [name, file, hash, dark] of pictures) {
  const page = await open_page(browser, file, { hash, dark, width: 1280, height: 720 }), path = `docs/pictures/${name}.png`;
  await page.screenshot({ path });
  console.log(path, statSync(path).size);
}
await browser.close();
