import { parseQuantity } from "@konverge/core";
import type { Container, Pod } from "@konverge/kinds";
import { type Directory, directory, regularFile } from "../userland/file-tree.ts";

/** How long a turn of the processor is, in microseconds. */
const PERIOD = 100_000;

/**
 * What a container finds in `/sys/fs/cgroup`: how much of the processor and the memory it may have. Kept up to date when
 * its resources are changed while it runs.
 */
export class ControlGroup {
  readonly root: Directory = directory();
  readonly #name: string;

  constructor(pod: Pod, { name }: Container) {
    this.#name = name;
    this.update(pod);
  }

  update({ spec }: Pod): void {
    const container = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].find(
      (one) => one.name === this.#name,
    );
    const { limits = {}, requests = {} } = container?.resources ?? {};
    const files: Record<string, string> = {
      "cpu.max": `${limits["cpu"] ? Math.round(number(limits["cpu"]) * PERIOD) : "max"} ${PERIOD}`,
      "cpu.weight": String(weightOf(requests["cpu"] ?? limits["cpu"] ?? "0")),
      "memory.max": limits["memory"] ? String(number(limits["memory"])) : "max",
      "memory.min": "0",
      "cgroup.controllers": "cpu memory pids",
    };
    for (const [path, text] of Object.entries(files))
      this.root.entries.set(path, regularFile(`${text}\n`, { mode: 0o444 }));
  }
}

function number(quantity: string): number {
  return parseQuantity(quantity).asNumber();
}

/** Shares of the processor (1024 for each) as the weight, from 1 to 10000, that they have become. */
function weightOf(cpu: string): number {
  const shares = Math.max(2, Math.floor(number(cpu) * 1024));
  return 1 + Math.floor(((shares - 2) * 9999) / 262_142);
}
