import type { Container } from "@konverge/kinds";

/** What a well-known command does: when it ends, how, and what it writes. */
export interface CommandOutcome {
  readonly afterMs: number;
  readonly exitCode: number;
  readonly output: readonly string[];
}

/**
 * The outcome of a container whose command needs no image to be understood: `sleep`, `true`, `false`, `exit`, `echo` and
 * `sh -c` scripts made of nothing else. Undefined for all others: they are assumed to run forever.
 */
export function outcomeOf({
  command = [],
  args = [],
}: Pick<Container, "command" | "args">): CommandOutcome | undefined {
  const words = [...command, ...args];
  const [first, second, third] = words;
  if (first === undefined) return undefined;
  const isShell = /^(\/bin\/|\/usr\/bin\/)?(ba|da|a)?sh$/.test(first);
  if (isShell && second && /^-[a-z]*c$/.test(second)) return third === undefined ? undefined : scriptOutcome(third);
  return isShell ? undefined : runAll([words]);
}

function scriptOutcome(script: string): CommandOutcome | undefined {
  // Anything that is more than a list of simple commands is not ours to guess.
  if (/[|<>`$(){}*?[\]\\]|\b(if|for|while|until|case|do|trap)\b|&(?!&)/.test(script.replace(/&&/g, "")))
    return undefined;
  const lines = script.split(/;|\n|&&/).map((line) => line.trim());
  return runAll(lines.filter((line) => line !== "").map(wordsOf));
}

function runAll(commands: readonly (readonly string[])[]): CommandOutcome | undefined {
  let afterMs = 0;
  let exitCode = 0;
  const output: string[] = [];
  for (const [path = "", ...args] of commands) {
    const name = path.replace(/^(\/usr)?\/bin\//, "");
    exitCode = 0;
    if (name === "sleep") {
      const time = sleepMs(args[0]);
      if (time === undefined) return undefined;
      afterMs += time;
    } else if (name === "echo" && !args[0]?.startsWith("-")) output.push(args.join(" "));
    else if (name === "false") exitCode = 1;
    else if (name === "exit") return { afterMs, exitCode: Number(args[0] ?? 0) & 0xff, output };
    else if (name !== "true" && name !== ":") return undefined;
  }
  return { afterMs, exitCode, output };
}

function sleepMs(text = ""): number | undefined {
  if (text === "infinity" || text === "inf") return Number.POSITIVE_INFINITY;
  const [, number, unit = "s"] = /^(\d+(?:\.\d+)?)([smhd])?$/.exec(text) ?? [];
  if (number === undefined) return undefined;
  return Number(number) * { s: 1e3, m: 60e3, h: 3600e3, d: 86400e3 }[unit]!;
}

function wordsOf(line: string): string[] {
  return Array.from(
    line.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g),
    (match) => match[1] ?? match[2] ?? match[3] ?? "",
  );
}
