import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");
/** All that can change what an exploration finds. */
const CODE = [
  "packages/*/src/**/*.ts",
  "operators/*/{src,test}/**/*.ts",
  "tools/operator-suite/*.ts",
  "package-lock.json",
];

let digest: string | undefined;

/** Where the faults are kept that an exploration passed, one file for each exploration, and the version of the code. */
export function passedFile(exploration: string, seed: number): [file: string, version: string] {
  digest ??= codeDigest();
  const name = exploration.replaceAll(/[^a-zA-Z0-9]+/g, "-");
  return [join(ROOT, "node_modules", ".cache", "explored", `${name}-${seed}.txt`), digest];
}

function codeDigest(): string {
  const hash = createHash("sha256").update(process.version);
  for (const file of globSync(CODE, { cwd: ROOT }).sort()) {
    hash.update(`\0${file}\0`).update(readFileSync(join(ROOT, file)));
  }
  return hash.digest("hex").slice(0, 16);
}
