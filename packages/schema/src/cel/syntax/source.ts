/** A place in an expression: line from 1, column from 0, both counted in code points. */
export interface Location {
  readonly line: number;
  readonly column: number;
}

/** For problems that belong to no place in particular. */
export const NO_LOCATION: Location = { line: -1, column: -1 };

/** One thing wrong with an expression. */
export interface Issue {
  readonly location: Location;
  readonly message: string;
}

/** The text of an expression, addressed by code point, as CEL counts. */
export class Source {
  readonly text: string;
  readonly points: readonly string[];
  /** The offset at which each line begins. */
  readonly #lines: number[] = [0];

  constructor(text: string) {
    this.text = text;
    this.points = Array.from(text);
    this.points.forEach((point, i) => {
      if (point === "\n") this.#lines.push(i + 1);
    });
  }

  get length(): number {
    return this.points.length;
  }

  slice(start: number, end: number): string {
    return this.points.slice(start, end).join("");
  }

  locate(offset: number): Location {
    let line = this.#lines.length;
    while (line > 1 && this.#lines[line - 1]! > offset) line--;
    return { line, column: offset - this.#lines[line - 1]! };
  }

  /** The line's text without its end, or undefined when there is no such line. */
  line(number: number): string | undefined {
    if (number < 1 || number > this.#lines.length || this.length === 0) return undefined;
    const next = this.#lines[number];
    return this.slice(this.#lines[number - 1]!, next === undefined ? this.length : next - 1);
  }
}

const LONGEST_SNIPPET = 16384;
const MOST_ISSUES = 100;

/** Issues as API servers show them, in the order of their places, each with its line and a pointer below it. */
export function formatIssues(source: Source, issues: readonly Issue[]): string {
  const shown = issues.slice(0, MOST_ISSUES);
  const sorted = [...shown].sort(
    ({ location: a }, { location: b }) => a.line - b.line || (a.line === b.line ? a.column - b.column : 0),
  );
  const lines = sorted.map((issue) => formatIssue(source, issue));
  if (issues.length > MOST_ISSUES) lines.push(`${issues.length - MOST_ISSUES} more errors were truncated`);
  return lines.join("\n");
}

function formatIssue(source: Source, { location, message }: Issue): string {
  const head = `ERROR: <input>:${location.line}:${location.column + 1}: ${message}`;
  const line = source.line(location.line)?.replaceAll("\t", " ");
  if (line === undefined || new TextEncoder().encode(line).length > LONGEST_SNIPPET) return head;
  const points = Array.from(line);
  const isWide = (point: string | undefined) => point !== undefined && point > "\x7f";
  const dots = points.slice(0, Math.max(0, location.column)).map((point) => (isWide(point) ? "\uff0e" : "."));
  const pointer = isWide(points[Math.max(0, location.column)]) ? "\uff3e" : "^";
  return `${head}\n | ${line}\n | ${dots.join("")}${pointer}`;
}
