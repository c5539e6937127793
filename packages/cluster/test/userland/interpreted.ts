import { type Clock, VirtualClock } from "@konverge/core";
import { FileSystem } from "../../src/userland/file-system.ts";
import { type ContainerLimits, Machine } from "../../src/userland/limits/machine.ts";
import { Storage } from "../../src/userland/limits/storage.ts";
import type { Command } from "../../src/userland/process.ts";
import { rootFiles } from "../../src/userland/root-files.ts";
import { Userland } from "../../src/userland/userland.ts";

/** An empty network. */
const NETWORK = {
  address: "10.0.0.1",
  hostName: "pod",
  fullName: "pod",
  lookup: () => [],
  resolve: () => [],
  connect: () => Promise.reject(new Error("refused")),
  listen: () => () => {},
  ask: async () => undefined,
  answer: () => {},
};

/** A simulated container without a cluster. */
export interface Interpreted {
  readonly userland: Userland;
  readonly limits: ContainerLimits;
  readonly layer: Storage;
}

export interface InterpretedOptions {
  readonly env?: Record<string, string>;
  /** What it shares with other containers. */
  readonly machine?: Machine;
  /** Bytes of memory. */
  readonly memory?: number;
  readonly commands?: Readonly<Record<string, Command>>;
}

export function interpreted(clock: Clock, options: InterpretedOptions = {}): Interpreted {
  const { env = {}, machine = new Machine(clock), memory, commands = {} } = options;
  const end = new AbortController();
  const limits = machine.container(() => end.abort());
  if (memory !== undefined) limits.memory.limit = memory;
  const layer = new Storage(machine.disk);
  const texts = { hostName: "pod", hosts: "", resolver: "", settings: {}, files: {} };
  const credentials = { uid: 0, gid: 0, groups: [], noNewPrivileges: false, isFiltered: false };
  const node = rootFiles({ now: clock.now(), ...texts, credentials });
  const root = { node, readOnly: false, type: "overlay", storage: layer };
  const userland = new Userland({
    pod: { metadata: { name: "pod", namespace: "default" }, spec: { containers: [] } } as never,
    container: { name: "main" },
    env,
    files: new FileSystem(root, new Map(), () => clock.now()),
    user: { uid: 0, gid: 0, groups: [] },
    network: NETWORK,
    clock,
    cwd: "/",
    commands,
    setuid: [],
    noNewPrivileges: false,
    limits,
    ended: end.signal,
    log: () => {},
  });
  return { userland, limits, layer };
}

/** What a script wrote, and how it ended. */
export interface Outcome {
  readonly output: string;
  readonly status: number;
}

/** Runs a script to its end, on virtual time. */
export async function runScript(
  script: string,
  options: InterpretedOptions & { container?: Interpreted; clock?: VirtualClock } = {},
): Promise<Outcome> {
  const clock = options.clock ?? new VirtualClock();
  const { userland } = options.container ?? interpreted(clock, options);
  let output = "";
  const add = (text: string | Uint8Array) => {
    output += Buffer.from(text as string).toString();
  };
  let status: number | undefined;
  void userland.run(["sh", "-c", script], { stdout: add, stderr: add }).then((code) => {
    status = code;
  });
  while (status === undefined) await clock.advance(60_000);
  return { output, status };
}
