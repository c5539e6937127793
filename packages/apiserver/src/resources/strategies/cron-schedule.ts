import { quoted } from "@konverge/core";

interface FieldRange {
  readonly min: number;
  readonly max: number;
  readonly names?: Readonly<Record<string, number>>;
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const DAYS = "sun mon tue wed thu fri sat".split(" ");
const numbered = (names: string[], from: number) =>
  Object.fromEntries(names.map((name, index) => [name, index + from]));

const FIELDS: readonly FieldRange[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: numbered(MONTHS, 1) },
  { min: 0, max: 6, names: numbered(DAYS, 0) },
];

const MACROS = new Set(["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]);

/** Why a text is no schedule, in the words of the parser that Kubernetes uses; undefined when it is one. */
export function cronProblem(schedule: string): string | undefined {
  let text = schedule;
  if (/^(CRON_)?TZ=/.test(text)) text = text.slice(text.indexOf(" ") + 1).trim();
  if (text.startsWith("@")) return macroProblem(text);
  const fields = text.split(/\s+/).filter((field) => field !== "");
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`;
  for (const [index, field] of fields.entries()) {
    const problem = fieldProblem(field, FIELDS[index]!);
    if (problem) return problem;
  }
  return undefined;
}

function macroProblem(text: string): string | undefined {
  if (MACROS.has(text)) return undefined;
  if (!text.startsWith("@every ")) return `unrecognized descriptor: ${text}`;
  const duration = text.slice("@every ".length);
  if (/^(\d+(\.\d+)?(h|m|s|ms|us|ns))+$/.test(duration)) return undefined;
  return `failed to parse duration ${text}: time: invalid duration ${quoted(duration)}`;
}

function fieldProblem(field: string, range: FieldRange): string | undefined {
  for (const part of field.split(",")) {
    const problem = part === "" ? undefined : rangeProblem(part, range);
    if (problem) return problem;
  }
  return undefined;
}

function rangeProblem(part: string, { min, max, names = {} }: FieldRange): string | undefined {
  const [span = "", step, ...moreSteps] = part.split("/");
  const [low = "", high, ...more] = span.split("-");
  const number = (text: string): number | string => {
    const named = names[text.toLowerCase()];
    if (named !== undefined) return named;
    if (/^-?\d+$/.test(text)) return Number(text);
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${quoted(text)}: invalid syntax`;
  };
  let start: number;
  let end: number;
  if (low === "*" || low === "?") [start, end] = [min, max];
  else {
    const from = number(low);
    if (typeof from === "string") return from;
    if (more.length > 0) return `too many hyphens: ${part}`;
    const to = high === undefined ? from : number(high);
    if (typeof to === "string") return to;
    [start, end] = [from, high === undefined && step !== undefined ? max : to];
  }
  if (moreSteps.length > 0) return `too many slashes: ${part}`;
  const by = step === undefined ? 1 : number(step);
  if (typeof by === "string") return by;
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${part}`;
  if (end > max) return `end of range (${end}) above maximum (${max}): ${part}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${part}`;
  if (by === 0) return `step of range should be a positive number: ${part}`;
  return undefined;
}
