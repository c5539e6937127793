import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Entry } from "../src/protocol.ts";
import { toneOf } from "./entry-row.tsx";
import { timeText } from "./store.ts";
import { theme } from "./theme-switch.tsx";

const LANE = 18;
const LABEL = 150;
const MOST_LANES = 12;

interface StripProps {
  /** By time. */
  readonly entries: readonly Entry[];
  readonly until: number | undefined;
  readonly onChoose: (at: number | undefined) => void;
}

/** Entries on lanes along the time, and a slider that chooses the time that is shown. */
export function TimelineStrip({ entries, until, onChoose }: StripProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const lanes = useMemo(() => lanesOf(entries), [entries]);
  const [first, last] = [entries[0]?.at ?? 0, entries.at(-1)?.at ?? 1];
  const range = Math.max(1000, last - first);
  const now = theme();
  useEffect(() => {
    const redraw = () => draw(canvas.current, entries, lanes, first, range, until, now);
    redraw();
    const resize = new ResizeObserver(redraw);
    if (canvas.current) resize.observe(canvas.current);
    return () => resize.disconnect();
  }, [entries, until, now]);
  if (entries.length === 0) return null;
  return (
    <figure class="strip">
      <canvas
        ref={canvas}
        style={{ height: `${lanes.length * LANE + 22}px` }}
        role="img"
        aria-label={`${entries.length} entries from ${timeText(first)} to ${timeText(last)}, on lanes: ${lanes.join(", ")}`}
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const left = labelWidth(box.width);
          const part = (event.clientX - box.left - left) / (box.width - left);
          if (part >= 0) onChoose(first + Math.min(1, part) * range);
        }}
      />
      <label class="scrub">
        <span class="unseen">Time that is shown</span>
        <input
          type="range"
          min={0}
          max={range}
          step={Math.max(1, Math.round(range / 2000))}
          value={until === undefined ? range : until - first}
          aria-valuetext={until === undefined ? "the present" : timeText(until)}
          onInput={({ currentTarget }) => {
            const value = Number(currentTarget.value);
            onChoose(value >= range * 0.999 ? undefined : first + value);
          }}
        />
      </label>
    </figure>
  );
}

const labelWidth = (width: number) => (width < 600 ? 0 : LABEL);

function laneOf(entry: Entry): string {
  if (entry.type === "reconcile") return entry.controller;
  if (entry.type === "step") return entry.step === "fault" ? "faults" : entry.who;
  return { change: "changes", event: "events", operator: "operators" }[entry.type];
}

/** The busiest lanes; the rest share one. */
function lanesOf(entries: readonly Entry[]): string[] {
  const counts = new Map<string, number>();
  for (const entry of entries) counts.set(laneOf(entry), (counts.get(laneOf(entry)) ?? 0) + 1);
  const names = [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const kept = names.slice(0, names.length > MOST_LANES ? MOST_LANES - 1 : MOST_LANES).sort();
  return names.length > MOST_LANES ? [...kept, "others"] : kept;
}

function draw(
  canvas: HTMLCanvasElement | null,
  entries: readonly Entry[],
  lanes: readonly string[],
  first: number,
  range: number,
  until: number | undefined,
  _theme: string,
): void {
  const context = canvas?.getContext("2d");
  if (!canvas || !context) return;
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = devicePixelRatio;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const left = labelWidth(width);
  const x = (at: number) => left + ((at - first) / range) * (width - left - 6) + 2;
  context.font = `11px ${style.fontFamily}`;
  context.textBaseline = "middle";
  for (const [i, lane] of lanes.entries()) {
    if (i % 2 === 0) {
      context.fillStyle = color("stripe");
      context.fillRect(0, i * LANE, width, LANE);
    }
    if (left > 0) {
      context.fillStyle = color("muted");
      context.fillText(lane.length > 24 ? `${lane.slice(0, 23)}…` : lane, 6, i * LANE + LANE / 2);
    }
  }
  const tones = {
    good: color("ready"),
    bad: color("failed"),
    warn: color("progressing"),
    change: color("accent"),
    quiet: color("muted"),
  };
  const laneIndex = new Map(lanes.map((lane, i) => [lane, i]));
  // Where thousands of entries share a pixel, one of each color is drawn.
  const drawn = new Set<string>();
  for (const entry of entries) {
    const lane = laneIndex.get(laneOf(entry)) ?? lanes.length - 1;
    const tone = toneOf(entry);
    const duration = entry.type === "reconcile" ? (entry.duration ?? 0) : 0;
    const [from, to] = [x(entry.at), x(entry.at + duration)];
    const place = `${lane} ${tone} ${Math.round(from)} ${Math.round(to)}`;
    if (drawn.has(place)) continue;
    drawn.add(place);
    context.globalAlpha = until !== undefined && entry.at > until ? 0.25 : 0.85;
    context.fillStyle = tones[tone];
    context.fillRect(from, lane * LANE + 4, Math.max(2.5, to - from), LANE - 8);
  }
  context.globalAlpha = 1;
  drawTimes(context, x, first, range, lanes.length * LANE, width, color("muted"));
  if (until === undefined) return;
  context.fillStyle = color("text");
  context.fillRect(x(Math.min(until, first + range)) - 0.75, 0, 1.5, lanes.length * LANE);
}

function drawTimes(
  context: CanvasRenderingContext2D,
  x: (at: number) => number,
  first: number,
  range: number,
  top: number,
  width: number,
  color: string,
): void {
  context.fillStyle = color;
  // Milliseconds only where seconds are the same.
  const isShort = range < 6000;
  const count = width >= 600 ? 6 : isShort ? 2 : 3;
  for (let i = 0; i <= count; i++) {
    const at = first + (range * i) / count;
    context.textAlign = i === 0 ? "left" : i === count ? "right" : "center";
    context.fillText(isShort ? timeText(at) : timeText(at).replace(/\.\d+$/, ""), x(at), top + 11);
  }
  context.textAlign = "left";
}
