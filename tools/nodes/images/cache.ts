import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { realClock } from "@konverge/core";

const DAY = 86_400_000;

/** `${XDG_CACHE_HOME:-~/.cache}/konverge/images`: archives, and the packages that they are made of. */
export function imageCache(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "konverge", "images");
}

/** A name for content: the same parts, the same name. */
export function contentKey(parts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex").slice(0, 16);
}

/**
 * The archive of an image: from the cache, or made there. `make` gets a folder that is removed afterwards and the file to write;
 * an archive has its name only when it is complete, so a killed build leaves none.
 */
export async function cachedArchive(
  name: string,
  key: string,
  make: (folder: string, file: string) => void | Promise<void>,
): Promise<string> {
  const cache = imageCache();
  const file = join(cache, `${name}-${key}.tar`);
  if (existsSync(file)) return file;
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, ".build-"));
  try {
    await make(join(folder, "work"), join(folder, "image.tar"));
    renameSync(join(folder, "image.tar"), file);
    removeOld(cache, name);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return file;
}

/** Archives of other content are removed after a day: a build elsewhere on the machine may use them. */
function removeOld(cache: string, name: string): void {
  const now = realClock().now();
  for (const entry of readdirSync(cache)) {
    const file = join(cache, entry);
    if (!entry.startsWith(`${name}-`) || !/-[0-9a-f]{16}\.tar$/.test(entry)) continue;
    if (now - statSync(file).mtimeMs > DAY) rmSync(file);
  }
}
