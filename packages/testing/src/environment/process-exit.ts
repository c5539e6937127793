/** A process of an operator exited without being killed. */
export class ProcessExit extends Error {
  override readonly name = "ProcessExit";
  readonly exitCode: number;
  /** The end of what it printed. */
  readonly output: string;

  constructor(exitCode: number, output: string) {
    super(`exit code ${exitCode}: ${lastWords(output)}`);
    this.exitCode = exitCode;
    this.output = output;
  }
}

/** How a program ends that did not mean to. */
const PANIC = /^(panic: |fatal error: |Traceback \(most recent call last\)|thread '.*' panicked at).*/m;

/** The line with which a panic begins, if there is one in what a process printed. */
export function panicIn(output: string): string | undefined {
  return PANIC.exec(output)?.[0];
}

/**
 * Where a Go program panicked, by the stack that it printed: the function below the last `panic` frame. What recovers a panic and
 * panics again, as controller-runtime does, is above it.
 */
export function panicPlace(output: string): string | undefined {
  const [, stack = ""] = output.split(/^goroutine \d+.* \[running.*\]:$/m);
  const frames = [...stack.split("\n\n")[0]!.matchAll(/^(\S.*)\n\t(\S+:\d+)/gm)];
  const begin = frames.findLastIndex(([, call]) => call!.startsWith("panic(")) + 1;
  const frame = frames.slice(begin).find(([, call]) => !call!.startsWith("runtime."));
  return frame && `${frame[1]!.replace(/\([^()]*\)$/, "")} (${frame[2]})`;
}

/** The line by which a process explains its end: that of a panic, else the last one. */
function lastWords(output: string): string {
  const lines = output.split("\n");
  return panicIn(output) ?? lines.findLast((line) => line.trim() !== "") ?? "it printed nothing";
}
