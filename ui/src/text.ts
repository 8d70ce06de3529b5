// Names and numbers as people read them. Names come from programs and files: nothing in them is trusted.

// What would reorder, hide or break a line: shown as its code. Lone surrogates, too.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export function clean(name: string): string {
  return name.replace(UNSAFE, (c) => "⟨" + c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩");
}

// At most `most` characters; the middle of a long name goes.
export function label(name: string, most = 160): string {
  let text = name.length > 4 * most ? name.slice(0, 2 * most) + "…" + name.slice(-2 * most) : name;
  text = clean(text);
  if (text.length <= most) return text;
  const head = Math.ceil(most * 0.4);
  return text.slice(0, head) + "…" + text.slice(text.length - (most - head - 1));
}

const GROUP = "\u202f";
function group(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, GROUP);
}

// A whole number with thin blanks between thousands; any other with six digits. Past 2^53 a sum is not exact: "≈".
export function num(value: number): string {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const sign = value < 0 ? "−" : "", size = Math.abs(value);
  if (Number.isInteger(value)) {
    if (size > Number.MAX_SAFE_INTEGER) return "≈" + sign + size.toExponential(6);
    return sign + group(String(size));
  }
  if (size >= 1e6) return sign + group(size.toFixed(0));
  if (size < 1e-4) return sign + size.toExponential(3);
  const text = size.toPrecision(6), [whole, part] = text.split(".");
  const rest = part ? part.replace(/0+$/, "") : "";
  return sign + group(whole) + (rest ? "." + rest : "");
}

const PREFIXES: [number, string][] = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
export function short(value: number): string {
  if (!Number.isFinite(value)) return num(value);
  const size = Math.abs(value);
  for (const [scale, prefix] of PREFIXES)
    if (size >= scale * 0.99995) return (value < 0 ? "−" : "") + Number((size / scale).toPrecision(4)) + " " + prefix;
  return Number.isInteger(value) ? num(value) : (value < 0 ? "−" : "") + Number(size.toPrecision(3));
}

export function percent(value: number): string {
  if (Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && size < 0.05) return (value < 0 ? "−" : "") + (size < 0.005 ? "<0.01" : size.toFixed(2)) + GROUP + "%";
  return (value < 0 ? "−" : "") + size.toFixed(1) + GROUP + "%";
}

const UNITS: Record<string, string> = { occ: "events", sec: "s", cycles: "cycles", bytes: "bytes" };
export function unitOf(unit: string): string {
  return UNITS[unit] ?? clean(unit);
}

// A cell of separated values: quoted, and no formula for a spreadsheet.
export function csv(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? "'" + text : text;
  return /[",\n]/.test(safe) ? '"' + safe.replace(/"/g, '""') + '"' : safe;
}
