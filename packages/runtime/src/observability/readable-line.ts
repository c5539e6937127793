import { styleText } from "node:util";

const LEVEL_COLORS = { debug: "gray", info: "green", warn: "yellow", error: "red" } as const;

/**
 * A line of JSON of the log, as one reads it in a terminal: time, level, message and the other fields as `key=value`. The
 * stack of an error follows, indented, where the line is an error; a warning names what went wrong already.
 */
export function readableLine(json: string, colored: boolean): string {
  const { time, level, msg, err, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const paint = (format: Parameters<typeof styleText>[0], text: string) =>
    colored ? styleText(format, text, { validateStream: false }) : text;
  const color = LEVEL_COLORS[level as keyof typeof LEVEL_COLORS] ?? "gray";
  const pairs = Object.entries(fields).filter(([, value]) => !isEmpty(value));
  const { message, stack } = (err ?? {}) as { message?: string; stack?: string };
  if (message !== undefined && message !== msg) pairs.push(["err", message]);
  const words = [
    paint("gray", timeText(String(time))),
    paint(color, String(level).toUpperCase().padEnd(5)),
    String(msg),
    ...pairs.map(([key, value]) => `${paint("cyan", `${key}=`)}${valueText(value)}`),
  ];
  const trace = level === "error" && stack ? framesOf(stack).map((frame) => `${paint("gray", `  ${frame}`)}\n`) : [];
  return `${words.join(" ").replaceAll("\n", "\\n")}\n${trace.join("")}`;
}

/** The time of day is enough on a screen; it stays in UTC, as everything else in Kubernetes. */
const timeText = (time: string) => /T(.+)Z$/.exec(time)?.[1] ?? time;

const isEmpty = (value: unknown) => value === undefined || (Array.isArray(value) && value.length === 0);

/** Only what would be ambiguous is quoted. */
function valueText(value: unknown): string {
  const text = Array.isArray(value)
    ? value.map(String).join(", ")
    : typeof value === "object"
      ? JSON.stringify(value)
      : String(value);
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text);
}

const framesOf = (stack: string) =>
  stack
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.startsWith("at "));
