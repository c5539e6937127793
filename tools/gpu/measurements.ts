import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GpuMachine } from "./requirements.ts";

/** Where the files of a run are written: the variable OUT, otherwise dist/gpu. */
export const resultsFolder = () => process.env["OUT"] || "dist/gpu";

/** The numbers of a run: kept after each, so that a run that is cut short leaves those that it had. */
export class Measurements {
  readonly #folder: string;
  readonly #machine: Readonly<Record<string, string>>;
  readonly #rows: { what: string; value: string }[] = [];

  constructor({ gpu, driver, torch, cuda }: GpuMachine, date: Date, folder = resultsFolder()) {
    this.#folder = folder;
    this.#machine = { date: date.toISOString().slice(0, 10), gpu, driver, torch, cuda };
  }

  add(what: string, value: string): void {
    this.#rows.push({ what, value });
    mkdirSync(this.#folder, { recursive: true });
    const machine = Object.entries(this.#machine).map(([name, one]) => `${name} ${one}`);
    const table = [
      "| scenario | measured |",
      "|---|---|",
      ...this.#rows.map((row) => `| ${row.what} | ${row.value} |`),
    ];
    writeFileSync(join(this.#folder, "gpu-lane.md"), `${machine.join(", ")}\n\n${table.join("\n")}\n`);
    const json = JSON.stringify({ machine: this.#machine, rows: this.#rows }, undefined, 2);
    writeFileSync(join(this.#folder, "gpu-lane.json"), `${json}\n`);
  }
}

/** What a program prints at its end: `@summary` and a JSON object. */
export function summaryIn(lines: readonly string[]): Record<string, number | string> | undefined {
  const line = lines.findLast((one) => one.startsWith("@summary "));
  return line === undefined
    ? undefined
    : (JSON.parse(line.slice("@summary ".length)) as Record<string, number | string>);
}

/** The loss of each step that a trainer has printed. */
export function lossesIn(lines: readonly string[]): Map<number, number> {
  const losses = new Map<number, number>();
  for (const line of lines) {
    if (!line.startsWith("@progress ")) continue;
    const { step, metrics } = JSON.parse(line.slice("@progress ".length)) as {
      step: number;
      metrics: { loss: number };
    };
    losses.set(step, metrics.loss);
  }
  return losses;
}
