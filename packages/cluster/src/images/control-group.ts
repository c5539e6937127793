import { parseQuantity, type QuantityValue } from "@konverge/core";
import type { Container, Pod } from "@konverge/kinds";
import { type Directory, directory, regularFile } from "../userland/file-tree.ts";

/** How long a turn of the processor is, and the least that can be had of it, in microseconds. */
const PERIOD = 100_000;
const LEAST_QUOTA = 1000;

/**
 * What a container finds in `/sys/fs/cgroup`: how much of the processor and the memory it may have. Kept up to date when
 * its resources are changed while it runs.
 */
export class ControlGroup {
  readonly root: Directory = directory();
  /** Its limits: CPUs and bytes. Undefined is no limit. */
  cpus: number | undefined;
  memory: number | undefined;
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
    // None of anything is no limit.
    this.cpus = (limits["cpu"] && number(limits["cpu"])) || undefined;
    this.memory = (limits["memory"] && number(limits["memory"])) || undefined;
    const files: Record<string, string> = {
      "cpu.max": `${quotaOf(limits["cpu"])} ${PERIOD}`,
      "cpu.weight": String(weightOf(requests["cpu"] ?? limits["cpu"] ?? "0")),
      "memory.max": String(this.memory ?? "max"),
      "memory.min": "0",
      "cgroup.controllers": "cpu memory pids",
    };
    for (const [path, text] of Object.entries(files))
      this.root.entries.set(path, regularFile(`${text}\n`, { mode: 0o444 }));
  }
}

function number(quantity: QuantityValue): number {
  return parseQuantity(quantity).asNumber();
}

/** How much of a turn a limit allows; none, or none of anything, is no limit. */
function quotaOf(limit: QuantityValue | undefined): string {
  const milli = limit === undefined ? 0 : Math.ceil(number(limit) * 1000);
  return milli === 0 ? "max" : String(Math.max(LEAST_QUOTA, Math.floor((milli * PERIOD) / 1000)));
}

/** Shares of the processor (1024 for each) as the weight, from 1 to 10000, that they have become. */
function weightOf(cpu: QuantityValue): number {
  const shares = Math.max(2, Math.floor(number(cpu) * 1024));
  return 1 + Math.floor(((shares - 2) * 9999) / 262_142);
}
