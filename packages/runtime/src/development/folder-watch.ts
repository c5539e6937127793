import { type FSWatcher, readdirSync, watch } from "node:fs";
import { join, relative } from "node:path";

export interface FolderWatchOptions {
  readonly folder: string;
  /** Folders with these relative paths, and all in them, are not watched. */
  readonly excluded: RegExp;
  /** Called with the path, relative to the folder, of what has changed. */
  changed(path: string): void;
  failed(error: unknown): void;
}

/**
 * Watches a folder and all folders in it, each by itself. The recursive watch of Node follows the files that it has found, so it
 * misses every save after the first of an editor that replaces the file by renaming another.
 */
export class FolderWatch {
  readonly #options: FolderWatchOptions;
  readonly #watchers = new Map<string, FSWatcher>();

  constructor(options: FolderWatchOptions) {
    this.#options = options;
    this.#add(options.folder);
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Watches a folder and those in it, also where another folder of that name was watched before. */
  #add(folder: string): void {
    const { folder: root, excluded, changed, failed } = this.#options;
    if (folder !== root && excluded.test(relative(root, folder))) return;
    this.#remove(folder);
    const watcher = watch(folder, (event, name) => {
      if (name === null) return;
      const path = join(folder, name);
      if (event === "rename") this.#renamed(path);
      changed(relative(root, path));
    });
    watcher.on("error", (error) => {
      // A folder that was removed ends its watch; the one above reports it.
      this.#remove(folder);
      if (folder === root) failed(error);
    });
    this.#watchers.set(folder, watcher);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) this.#add(join(folder, entry.name));
    }
  }

  /** A folder has come, or one with its name has gone. */
  #renamed(path: string): void {
    try {
      const entries = readdirSync(path, { withFileTypes: true });
      this.#add(path);
      // What was in it before the watch began is as new as the folder.
      for (const { name } of entries) this.#options.changed(join(relative(this.#options.folder, path), name));
    } catch {
      this.#remove(path);
    }
  }

  #remove(folder: string): void {
    for (const [path, watcher] of this.#watchers) {
      if (path !== folder && relative(folder, path).startsWith("..")) continue;
      watcher.close();
      this.#watchers.delete(path);
    }
  }
}
