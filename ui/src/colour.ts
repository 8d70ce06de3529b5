// Scales that are safe for colour-blind readers: cividis for magnitudes, purple to orange for differences, and a set of
// eight (Okabe and Ito) for classes.
const CIVIDIS = ["#002051", "#11366c", "#3c4d6e", "#62646f", "#7f7c75", "#9a9478", "#bbaf71", "#e2cb5c", "#fdea45"];
const PUOR = ["#2d004b", "#5f3d8f", "#998ebf", "#cecde4", "#f3eeea", "#fdd5a0", "#ee9d3d", "#be630b", "#7f3b08"];
export const CLASSES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8c8c8c"];

function rgb(hex: string): [number, number, number] {
  const n = parseInt(hex.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}
export function mix(list: string[], at: number): [number, number, number] {
  const x = Math.min(Math.max(at, 0), 1) * (list.length - 1), i = Math.min(Math.floor(x), list.length - 2), f = x - i;
  const a = rgb(list[i]), b = rgb(list[i + 1]);
  return [0, 1, 2].map((k) => Math.round(a[k] + f * (b[k] - a[k]))) as [number, number, number];
}
const css = ([r, g, b]: [number, number, number]): string => `rgb(${r},${g},${b})`;

// CUBE's ramp: half of the colours are below 0.1 of the range, so that small values differ.
export function ramp(position: number): number { return Math.sqrt(Math.min(Math.max(position, 0), 1)); }
export function magnitude(position: number): string { return css(mix(CIVIDIS, ramp(position))); }
export function magnitudeRgb(position: number): [number, number, number] { return mix(CIVIDIS, ramp(position)); }
// For values of which small ones matter no more than others: places, ratios.
export function even(position: number): string { return css(mix(CIVIDIS, position)); }
export function evenRgb(position: number): [number, number, number] { return mix(CIVIDIS, position); }
export function difference(position: number): string { return css(mix(PUOR, 0.5 + position / 2)); } // -1..1
export function mixDifference(position: number): [number, number, number] { return mix(PUOR, 0.5 + position / 2); }
export function gradient(kind: "ramp" | "even" | "diverging"): string {
  const stops = kind === "diverging" ? PUOR : kind === "even" ? CIVIDIS : Array.from({ length: 9 }, (_, i) => css(mix(CIVIDIS, ramp(i / 8))));
  return `linear-gradient(to right, ${stops.join(",")})`;
}
// Black or white, whichever is read better on a colour.
export function ink([r, g, b]: [number, number, number]): string {
  const channel = (v: number): number => { const x = v / 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; };
  return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b) > 0.179 ? "#000" : "#fff";
}
// A stable colour for a name.
export function classOf(name: string): number {
  let hash = 2166136261;
  for (let i = 0; i < name.length && i < 200; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  return (hash >>> 0) % 7;
}
