import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Clock, Timer } from "@konverge/core";

/** How often volumes are brought up to date, in milliseconds: as nodes do, about once a minute. */
const PERIOD = 60_000;

/**
 * The files in a container's volumes, kept up to date: a ConfigMap that changes, a token that is renewed. They are in
 * memory; whoever needs them on disk asks for a {@link folder}, in which each lies under its absolute path.
 */
export class LiveFiles {
  readonly files = new Map<string, string>();
  readonly #read: () => Promise<Map<string, string>>;
  readonly #clock: Clock;
  #timer: Timer | undefined;
  #folder: Promise<string> | undefined;
  #closed = false;

  constructor(clock: Clock, read: () => Promise<Map<string, string>>) {
    this.#clock = clock;
    this.#read = read;
  }

  /** Reads them for the first time; from then on they are kept up to date. */
  async open(): Promise<void> {
    await this.#refresh();
    this.#plan();
  }

  /** Where they are on disk, for a program that wants to open them. Removed when the container has ended. */
  folder(): Promise<string> {
    this.#folder ??= this.#write();
    return this.#folder;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    if (this.#folder) await rm(await this.#folder, { recursive: true, force: true });
  }

  #plan(): void {
    if (this.#closed) return;
    this.#timer = this.#clock.after(
      PERIOD,
      () => {
        // What cannot be read now stays as it is, and is tried again.
        this.#refresh().then(
          () => this.#plan(),
          () => this.#plan(),
        );
      },
      { background: true, label: "kubelet: volumes" },
    );
  }

  async #refresh(): Promise<void> {
    const now = await this.#read();
    if (this.#closed) return;
    const root = await this.#folder;
    for (const path of this.files.keys()) {
      if (now.has(path)) continue;
      this.files.delete(path);
      if (root !== undefined) await rm(join(root, path), { force: true });
    }
    for (const [path, text] of now) {
      if (this.files.get(path) === text) continue;
      this.files.set(path, text);
      if (root !== undefined) await replace(join(root, path), text);
    }
  }

  async #write(): Promise<string> {
    const root = await mkdtemp(join(tmpdir(), "konverge-pod-"));
    for (const [path, text] of this.files) await replace(join(root, path), text);
    return root;
  }
}

/** A reader sees the old file or the new one, never half of it. */
async function replace(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
