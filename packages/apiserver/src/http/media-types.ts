/** One entry of an Accept header: `application/json;as=Table;v=v1;g=meta.k8s.io`. */
export interface MediaRange {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The entries of an Accept header, best first. */
export function parseAccept(header: string | undefined): readonly MediaRange[] {
  if (!header) return [{ type: "*/*", parameters: {} }];
  let ranges = read.get(header);
  if (!ranges) {
    ranges = rangesIn(header);
    if (header.length <= LONGEST_REMEMBERED) {
      if (read.size >= REMEMBERED) read.clear();
      read.set(header, ranges);
    }
  }
  return ranges;
}

/** Each client sends the same few headers again and again. */
const read = new Map<string, readonly MediaRange[]>();
const REMEMBERED = 256;
/** A client that makes up long ones must not fill the memory with them. */
const LONGEST_REMEMBERED = 1024;
/** What comes after this number is ignored. */
const MOST_RANGES = 1000;

function rangesIn(header: string): MediaRange[] {
  return header
    .split(",", MOST_RANGES)
    .map((entry, index) => ({ range: mediaRange(entry), index }))
    .filter(({ range }) => range.type !== "")
    .sort((a, b) => quality(b.range) - quality(a.range) || a.index - b.index)
    .map(({ range }) => range);
}

export function mediaRange(text: string): MediaRange {
  const [type = "", ...rest] = text.split(";").map((part) => part.trim());
  const parameters: Record<string, string> = {};
  for (const part of rest) {
    const equals = part.indexOf("=");
    if (equals > 0) parameters[part.slice(0, equals).toLowerCase()] = part.slice(equals + 1).replace(/^"(.*)"$/, "$1");
  }
  return { type: type.toLowerCase(), parameters };
}

function quality({ parameters }: MediaRange): number {
  const q = Number(parameters.q ?? 1);
  return Number.isFinite(q) ? q : 1;
}
