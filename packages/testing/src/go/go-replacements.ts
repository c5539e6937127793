import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A module that cannot be used on js/wasm as it is, and what is changed in a copy of it. */
export interface Replacement {
  readonly module: string;
  /** Changes the files of a folder with the module's sources; returns them by path, as they are to be. */
  changed(folder: string): ReadonlyMap<string, string>;
}

/**
 * File notification has no implementation for js: it fails, and with it what waits for new certificates. Files change only when the
 * program writes them itself, so a watcher that reports nothing is right.
 */
const fsnotify: Replacement = {
  module: "github.com/fsnotify/fsnotify",
  changed(folder) {
    const file = join(folder, "backend_other.go");
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    const idle = text
      .replace(/return nil, (errors\.New|fmt\.Errorf)\(.*not supported.*\)/g, (_, __, at: number) =>
        functionAt(text, at).includes("errs chan error")
          ? "return &other{Events: ev, Errors: errs}, nil"
          : "return &Watcher{Events: make(chan Event), Errors: make(chan error)}, nil",
      )
      .replace(/^import (\(\n(\t"\w+"\n)+\)|"\w+")\n/m, "");
    return new Map(idle === text ? [] : [[file, idle]]);
  },
};

export const REPLACEMENTS: readonly Replacement[] = [fsnotify];

/** The head of the function that a place in a source is in. */
function functionAt(text: string, at: number): string {
  const start = text.lastIndexOf("\nfunc ", at);
  return text.slice(start, text.indexOf("\n", start + 1));
}

/** A copy of a module's folder that can be written, with changed files. Module caches cannot. */
export function changedCopy(from: string, to: string, changed: ReadonlyMap<string, string>): void {
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true });
  makeWritable(to);
  for (const [file, text] of changed) writeFileSync(join(to, file.slice(from.length)), text);
}

function makeWritable(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) makeWritable(path);
    else chmodSync(path, 0o644);
  }
}
