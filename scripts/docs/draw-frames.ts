import type { Frame } from "./terminal-frames.ts";

const CHARACTER = 7.8;
const LINE = 18;
const MARGIN = 16;
/** Milliseconds that the last frame stays before the recording begins again. */
const REST = 6000;
const COLOURS: Record<string, string> = { "✔": "#7ee787", "…": "#e3b341" };

/** Frames as one SVG that plays itself: pages show it as a picture, without a script. */
export function drawFrames(frames: readonly Frame[]): string {
  const rows = Math.max(...frames.map(({ lines }) => lines.length));
  const columns = Math.max(...frames.flatMap(({ lines }) => lines.map((line) => line.length)));
  const [width, height] = [Math.ceil(columns * CHARACTER) + 2 * MARGIN, rows * LINE + 2 * MARGIN];
  const length = (frames.at(-1)?.at ?? 0) + REST;
  const percent = (time: number) => Number(((100 * time) / length).toFixed(3));
  const moments = frames.map(({ at }, i) => ({ from: percent(at), to: percent(frames[i + 1]?.at ?? length) }));
  const keyframes = moments.map(
    ({ from, to }, i) =>
      `@keyframes f${i}{0%{opacity:${i === 0 ? 1 : 0}}${from}%{opacity:1}${to === 100 ? "" : `${to}%{opacity:0}`}100%{opacity:${to === 100 ? 1 : 0}}}`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    "<title>npm start: a cluster, its operators, and a sample of each kind converging</title>",
    `<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#c9d1d9;white-space:pre}.frame{animation:${length}ms steps(1,end) infinite}${keyframes.join("")}</style>`,
    `<rect width="100%" height="100%" rx="8" fill="#0d1117"/>`,
    ...frames.map(
      ({ lines }, i) =>
        `<g class="frame" style="animation-name:f${i}" opacity="${i === frames.length - 1 ? 1 : 0}">${lines.map(drawLine).join("")}</g>`,
    ),
    "</svg>",
    "",
  ].join("\n");
}

function drawLine(line: string, row: number): string {
  if (line === "") return "";
  const colour = COLOURS[line[0] ?? ""];
  const text = line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return `<text x="${MARGIN}" y="${MARGIN + LINE * (row + 1) - 5}"${colour ? ` style="fill:${colour}"` : ""}>${text}</text>`;
}
