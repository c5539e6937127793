import type { ObjectName } from "../src/protocol.ts";

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** `19:04:05.123` */
export function clockTime(at: number): string {
  return `${CLOCK.format(at)}.${String(Math.floor(at % 1000)).padStart(3, "0")}`;
}

export const shortClockTime = (at: number): string => CLOCK.format(at);

/** `850 ms`, `12 s`, `3 min`, `2 h`, `5 d` */
export function span(milliseconds: number): string {
  const units: [string, number][] = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["min", 60_000],
    ["s", 1000],
  ];
  for (const [unit, size] of units) {
    if (milliseconds >= size * (unit === "s" ? 1 : 2)) {
      const value = milliseconds / size;
      return `${value < 10 && unit === "s" ? value.toFixed(1) : Math.floor(value)} ${unit}`;
    }
  }
  return milliseconds >= 60_000 ? `${Math.floor(milliseconds / 1000)} s` : `${Math.round(milliseconds)} ms`;
}

/** A number per second, or of seconds, in three digits at most. */
export function short(value: number): string {
  if (value === 0) return "0";
  if (value < 0.01) return "<0.01";
  return value < 10 ? value.toFixed(value < 1 ? 2 : 1) : Math.round(value).toLocaleString("en-US");
}

/** Seconds as people read latencies. */
export function latency(seconds: number | undefined): string {
  if (seconds === undefined) return "–";
  if (seconds === 0) return "0";
  return seconds < 1
    ? `${seconds < 0.01 ? (seconds * 1000).toFixed(1) : Math.round(seconds * 1000)} ms`
    : `${short(seconds)} s`;
}

export const keyOf = ({ namespace, name }: Pick<ObjectName, "namespace" | "name">): string =>
  namespace ? `${namespace}/${name}` : name;
