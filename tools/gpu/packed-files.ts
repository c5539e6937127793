import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { gpuCache } from "./device-plugin.ts";

/** Good for machine code, and still unpacked by every xz. */
const HOW = ["--x86", "--lzma2=preset=5,dict=16MiB", "--threads=1"];

/** A file that is compressed: once for each content. */
export function compressed(file: string): string {
  const digest = createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 16);
  const cache = join(gpuCache(), "packed");
  const found = join(cache, `${digest}.xz`);
  if (existsSync(found)) return found;
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, ".xz-"));
  try {
    execFileSync("sh", ["-c", 'out=$1; shift; exec xz "$@" > "$out"', "sh", join(work, "out"), ...HOW, "-c", file]);
    renameSync(join(work, "out"), found);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return found;
}

/** Calls `use` with a copy of a program without its symbols. */
export function withStripped<T>(file: string, use: (copy: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "konverge-strip-"));
  try {
    const copy = join(folder, basename(file));
    copyFileSync(file, copy);
    execFileSync("strip", [copy]);
    return use(copy);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The libraries of a program that are no part of the C library, which every machine has. */
export function ownLibraries(program: string): string[] {
  const text = execFileSync("ldd", [program], { encoding: "utf8" });
  const files = [...text.matchAll(/=> (\/\S+) \(0x/g)].map(([, path]) => path!);
  return files.filter((path) => !/\/(libc|libm|libdl|libpthread|librt|libresolv|libgcc_s|libstdc\+\+)\.so/.test(path));
}
