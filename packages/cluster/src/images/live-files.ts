import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock, Timer } from "@konverge/core";
import { ConfinedFolder } from "./confined-path.ts";

/** How often volumes are brought up to date, in milliseconds: as nodes do, about once a minute. */
const PERIOD = 60_000;

/**
 * The files in a container's volumes, kept up to date: a ConfigMap that changes, a token that is renewed. They are in
 * memory; for files on disk, ask for a {@link folder}, in which each lies under its absolute path.
 */
export class LiveFiles {
  readonly files = new Map<string, string>();
  readonly #read: () => Promise<Map<string, string>>;
  readonly #clock: Clock;
  #timer: Timer | undefined;
  #folder: Promise<ConfinedFolder> | undefined;
  #refreshing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(clock: Clock, read: () => Promise<Map<string, string>>) {
    this.#clock = clock;
    this.#read = read;
  }

  /** Reads them for the first time; from then on they are kept up to date. */
  async open(): Promise<void> {
    await this.refresh();
    this.#plan();
  }

  /** Brings them up to date at once. Rejects if they cannot be read now: they stay as they are then. */
  refresh(): Promise<void> {
    const refreshed = this.#refreshing.then(() => this.#readAgain());
    this.#refreshing = refreshed.catch(() => {});
    return refreshed;
  }

  /** Where they are on disk, for a program that wants to open them. Removed when the container has ended. */
  async folder(): Promise<string> {
    this.#folder ??= this.#write();
    return (await this.#folder).root;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    const folder = await this.#folder?.catch(() => undefined);
    if (folder) await rm(folder.root, { recursive: true, force: true });
  }

  #plan(): void {
    if (this.#closed) return;
    this.#timer = this.#clock.after(
      PERIOD,
      () => {
        // What cannot be read now is tried again.
        this.refresh().then(
          () => this.#plan(),
          () => this.#plan(),
        );
      },
      { background: true, label: "kubelet: volumes" },
    );
  }

  async #readAgain(): Promise<void> {
    const now = await this.#read();
    if (this.#closed) return;
    const folder = await this.#folder;
    for (const path of this.files.keys()) {
      if (now.has(path)) continue;
      await folder?.remove(path);
      this.files.delete(path);
    }
    for (const [path, text] of now) {
      if (this.files.get(path) === text) continue;
      await folder?.write(path, text);
      this.files.set(path, text);
    }
  }

  async #write(): Promise<ConfinedFolder> {
    const folder = new ConfinedFolder(await mkdtemp(join(tmpdir(), "konverge-pod-")));
    try {
      for (const [path, text] of this.files) await folder.write(path, text);
    } catch (error) {
      await rm(folder.root, { recursive: true, force: true });
      throw error;
    }
    return folder;
  }
}
