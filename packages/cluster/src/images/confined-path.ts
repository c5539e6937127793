import { lstat, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { fileNameProblem } from "@konverge/core";

/**
 * The one place where paths that come from objects are made into paths of a container, and those into paths of this
 * machine. Nothing else in this package writes to a path that a pod names.
 */

/**
 * The path in a container that a path from a pod stands for: absolute from the container's root, as nodes make it, and
 * never above it: `etc/x`, `/etc/./x` and `/../etc/x` are all `/etc/x`.
 */
export function containerPath(path: string): string {
  if (path.includes("\0")) throw new Error(`path ${JSON.stringify(path)} contains a NUL byte`);
  return posix.resolve("/", path);
}

/** Why a subPath cannot be mounted, worded as by kubelets. Empty means the whole volume. */
export function subPathError(path: string): string | undefined {
  if (path.startsWith("/")) return `error SubPath \`${path}\` must not be an absolute path`;
  if (path.split("/").includes("..")) return `unable to provision SubPath \`${path}\`: must not contain '..'`;
  return undefined;
}

/**
 * A folder of this machine that stands for a container's root.
 *
 * Guarantees: whatever a path says, what is written, made or removed is below the folder: no part of the path is `..`, a
 * drive or a device, and no symbolic link is followed. A link or a file that stands where a folder belongs is replaced: a
 * program may have put it there, and it is not a mount point.
 *
 * Caveat: Node.js cannot open a path relative to an open folder, so a program that replaces a folder by a link between the
 * check and the write wins. It gains nothing: programs that can change the folder are processes of the same user, who may
 * write there anyway (SECURITY.md).
 */
export class ConfinedFolder {
  readonly root: string;
  readonly #platform: string;

  constructor(root: string, platform: string = process.platform) {
    this.root = root;
    this.#platform = platform;
  }

  /** Where a path of the container is on this machine. */
  pathOf(path: string): string {
    return join(this.root, ...this.#names(path));
  }

  /** Replaces a file; a reader sees the old one or the new one, never half of it. Readable by its owner alone. */
  async write(path: string, content: string): Promise<void> {
    const names = this.#names(path);
    const name = names.pop();
    if (name === undefined) throw new Error(`path ${JSON.stringify(path)} is the container's root, not a file`);
    const folder = await this.#folder(names, true);
    // No file in a volume has such a name: those with two dots in front are reserved for nodes.
    const draft = join(folder, "..new");
    await rm(draft, { recursive: true, force: true });
    await writeFile(draft, content, { mode: 0o600, flag: "wx" });
    await rename(draft, join(folder, name));
  }

  /** Makes a folder, and those above it, unless it is there. */
  async makeFolder(path: string): Promise<void> {
    await this.#folder(this.#names(path), true);
  }

  /** Removes a file if it is there. */
  async remove(path: string): Promise<void> {
    const names = this.#names(path);
    const name = names.pop();
    const folder = await this.#folder(names, false);
    if (folder !== undefined && name !== undefined) await rm(join(folder, name), { force: true });
  }

  #names(path: string): string[] {
    const names = containerPath(path)
      .split("/")
      .filter((name) => name !== "");
    for (const name of names) {
      const problem = fileNameProblem(name, this.#platform);
      if (problem) throw new Error(`path ${JSON.stringify(path)} cannot be on this machine: ${problem}`);
    }
    return names;
  }

  #folder(names: readonly string[], make: true): Promise<string>;
  #folder(names: readonly string[], make: false): Promise<string | undefined>;
  async #folder(names: readonly string[], make: boolean): Promise<string | undefined> {
    let at = this.root;
    if ((await kindOf(at)) !== "folder") throw new Error(`${at} is gone: it was made for a container`);
    for (const name of names) {
      at = join(at, name);
      const kind = await kindOf(at);
      if (kind === "folder") continue;
      if (!make) return undefined;
      if (kind === "other") await rm(at);
      await mkdir(at);
    }
    return at;
  }
}

/** What is at a path itself, not at the end of a link. */
async function kindOf(path: string): Promise<"folder" | "other" | undefined> {
  try {
    return (await lstat(path)).isDirectory() ? "folder" : "other";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
