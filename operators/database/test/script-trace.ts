import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { quickPlace } from "./quick-programs.ts";

/** A change of scripts, by their names. */
export type Change = (name: string, text: string) => string;

/** The lines of scripts that were run: `server.sh:12`, from 1. */
export type Trace = ReadonlySet<string>;

/**
 * Plays something with scripts that note each line they come to, and returns those lines. It is bash that can note them
 * elsewhere than where a script's own words go; the first line of a script, a comment, gives way to that.
 */
export async function traced(play: (change: Change) => Promise<void>): Promise<Trace> {
  const folder = mkdtempSync(join(quickPlace(), "konverge-trace-"));
  const file = join(folder, "lines");
  try {
    writeFileSync(file, "");
    chmodSync(folder, 0o755);
    chmodSync(file, 0o666);
    const note = `PS4='+\${BASH_SOURCE##*/}:$LINENO '; set -x`;
    const head = `[ -n "\${BASH_VERSION:-}" ] || exec bash --posix "$0" "$@"; exec 9>> '${file}'; BASH_XTRACEFD=9; ${note}`;
    await play((name, text) => {
      if (!text.startsWith("#")) throw new Error(`${name} does not begin with a comment`);
      return text.replace(/^.*/, () => head);
    });
    return new Set(readFileSync(file, "utf8").match(/(?<=^\++)[\w.-]+:\d+(?= )/gm) ?? []);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
