import { isTest, type Sources } from "./imports.ts";

/** Writes that an operator or a built-in controller sends itself, instead of returning the desired state. */
export interface DirectWrites {
  readonly file: string;
  readonly lines: readonly number[];
  /** From the comment above them; undefined if there is none. */
  readonly reason: string | undefined;
}

const CONTROLLERS = /^(operators\/[^/]+\/src|packages\/cluster\/src\/(controllers|devices))\//;
const VERBS = "create|update|updateStatus|patch|patchStatus|apply|applyStatus|delete|deleteCollection|scale|evict";
const WRITE = new RegExp(`[cC]lient\\.(?:${VERBS})\\(`);
/** The second line of a call that is broken after the client. */
const SECOND_LINE = new RegExp(`^\\s*\\.(?:${VERBS})\\(`);
const REASON = /^\s*\/\/ Direct writes?: (.*)$/;
const CONTINUED = /^\s*\/\/ (.*)$/;

/** All direct writes of controllers. A reason holds for the rest of its file, or until the next one. */
export function directWrites(sources: Sources): DirectWrites[] {
  return [...sources]
    .filter(([file]) => CONTROLLERS.test(file) && !isTest(file))
    .flatMap(([file, text]) => writesIn(file, text.split("\n")));
}

function writesIn(file: string, lines: readonly string[]): DirectWrites[] {
  const found: { lines: number[]; reason: string | undefined }[] = [];
  let reason: string | undefined;
  lines.forEach((line, i) => {
    const start = REASON.exec(line)?.[1];
    if (start !== undefined) {
      const rest = lines.slice(i + 1);
      const end = rest.findIndex((next) => !CONTINUED.test(next));
      reason = [start, ...rest.slice(0, Math.max(0, end)).map((next) => CONTINUED.exec(next)![1]!)].join(" ");
    } else if (WRITE.test(line) || (SECOND_LINE.test(line) && /[cC]lient$/.test(lines[i - 1] ?? ""))) {
      const last = found.at(-1);
      if (last && last.reason === reason) last.lines.push(i + 1);
      else found.push({ lines: [i + 1], reason });
    }
  });
  return found.map((one) => ({ file, ...one }));
}

/** A message for each place without a reason. */
export function directWriteProblems(writes: readonly DirectWrites[]): string[] {
  return writes
    .filter(({ reason }) => !reason)
    .map(
      ({ file, lines }) =>
        `${file}:${lines.join(",")} writes past the framework: return it as a child or a status, or state why not in a comment above it: // Direct write: …`,
    );
}

/** The exceptions, counted and listed. */
export function directWritesText(writes: readonly DirectWrites[]): string {
  const count = (list: readonly DirectWrites[]) => list.reduce((sum, { lines }) => sum + lines.length, 0);
  const [ofOperators, builtIn] = [true, false].map((is) =>
    writes.filter(({ file }) => file.startsWith("operators/") === is),
  );
  const listed = writes.map(({ file, lines, reason }) => `  ${file}:${lines.join(",")} ${reason ?? "(no reason)"}`);
  return [
    `direct writes: ${count(ofOperators!)} in operators, ${count(builtIn!)} in built-in controllers`,
    ...listed,
  ].join("\n");
}
