// What pictures share: the width that there is, ticks, numbers of axes, a table of what a picture shows.
import { ComponentChildren, JSX, RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { gradient } from "./colour";
import { num, short } from "./text";

export function useWidth(): [RefObject<HTMLDivElement | null>, number] {
  const box = useRef<HTMLDivElement>(null), [width, set] = useState(0);
  useLayoutEffect(() => {
    const node = box.current!, measure = (): void => set(node.clientWidth);
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(node);
    return () => watch.disconnect();
  }, []);
  return [box, width];
}

// A width from zero on; nothing where the value is undefined.
export const wide = (v: number): number => (v > 0 && Number.isFinite(v) ? v : 0);

// Round numbers from low to high, about so many.
export function ticks(low: number, high: number, about = 5): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / about, power = 10 ** Math.floor(Math.log10(rough)), step = power * ([1, 2, 5].find((k) => k * power >= rough) ?? 10);
  const out: number[] = [];
  for (let v = Math.ceil(low / step - 1e-9); v * step <= high + 1e-9 * step; v++) out.push(v * step);
  return out;
}
// Powers of ten between two numbers, with 2 and 5 where they are few.
export function logTicks(low: number, high: number): number[] {
  const out: number[] = [], few = high / low < 1000;
  for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p++)
    for (const k of few ? [1, 2, 5] : [1]) if (k * 10 ** p >= low * 0.999 && k * 10 ** p <= high * 1.001) out.push(k * 10 ** p);
  return out;
}
export const axisText = (v: number): string => (Math.abs(v) >= 10000 || v === 0 || Math.abs(v) >= 0.01 ? short(v) : num(v));

// A scale of colours with numbers at its ends.
export function Scale({ low, high, kind = "ramp", middle, note }: { low: string; high: string; kind?: "ramp" | "even" | "diverging"; middle?: string; note?: string }): JSX.Element {
  return (
    <span class="scale" role="img" aria-label={`Colour scale from ${low}${middle ? " over " + middle : ""} to ${high}${note ? ", " + note : ""}`}>
      <span>{low}</span><span class="ramp" style={{ background: gradient(kind) }} /><span>{high}</span>{note && <span>{note}</span>}</span>);
}

export function Choice({ name, value, list, onPick }: { name: string; value: string; list: [string, string][]; onPick(value: string): void }): JSX.Element {
  return (
    <label>{name} <select value={value} onChange={(e) => onPick(e.currentTarget.value)}>
      {list.map(([id, text]) => <option key={id} value={id}>{text}</option>)}</select></label>);
}

// A region that scrolls sideways on narrow screens, reachable by keyboard.
export function Scroll({ label, children }: { label: string; children: ComponentChildren }): JSX.Element {
  return <div class="scroll" role="region" aria-label={label} tabIndex={0}>{children}</div>;
}

export const Empty = ({ children }: { children: ComponentChildren }): JSX.Element => <p class="empty">{children}</p>;
