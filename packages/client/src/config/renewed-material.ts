import { readFile } from "node:fs/promises";
import type { Clock } from "@konverge/core";
import { TransportError } from "../errors.ts";
import type { InlineOrFile } from "./connection-config.ts";

/**
 * Text that can be in a file that another process replaces (tokens, certificates). It is read again when it is older
 * than `period`; while that fails, the last text that could be read stays in use.
 */
export class RenewedMaterial {
  readonly #clock: Clock;
  readonly #material: InlineOrFile;
  readonly #period: number;
  #text: string | undefined;
  #readAt = 0;

  constructor(clock: Clock, material: InlineOrFile, period: number) {
    this.#clock = clock;
    this.#material = material;
    this.#period = period;
    if ("value" in material) this.#text = material.value;
  }

  async get(): Promise<string> {
    if ("value" in this.#material) return this.#material.value;
    if (this.#text !== undefined && this.#clock.monotonic() - this.#readAt < this.#period) return this.#text;
    return this.reread();
  }

  /** Reads the file now. */
  async reread(): Promise<string> {
    if ("value" in this.#material) return this.#material.value;
    const { file } = this.#material;
    try {
      const text = await readFile(file, "utf8");
      if (text.trim() === "") throw new Error("the file is empty");
      this.#text = text;
      this.#readAt = this.#clock.monotonic();
    } catch (cause) {
      if (this.#text === undefined) {
        const message = `cannot read ${file}: ${cause instanceof Error ? cause.message : String(cause)}`;
        throw new TransportError("credentials", message, { cause, unknownOutcome: false });
      }
    }
    return this.#text!;
  }
}
