import type { Caller } from "./callers.ts";
import { Watches } from "./callers.ts";
import type { Contestant } from "./contestants.ts";

/** What a measurement gave: the time by the clock, and what the server used of the processor. */
export interface Measured {
  readonly ms: number;
  /** Of a server in this process, with its client's. */
  readonly cpuMs: number;
}

/** About a kilobyte, as most objects are. */
export function configMap(name: string): object {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, labels: { app: "bench", part: `p${name.length}` } },
    data: { settings: "0123456789abcdef".repeat(48), mode: "fast" },
  };
}

export async function measured(contestant: Contestant | undefined, work: () => Promise<unknown>): Promise<Measured> {
  const cpuMs = () => contestant?.cpuMs() ?? ownCpuMs();
  const [begun, before] = [performance.now(), cpuMs()];
  await work();
  return { ms: performance.now() - begun, cpuMs: cpuMs() - before };
}

function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Creates objects, a number of clients each one after the other. */
export async function create(caller: Caller, namespace: string, prefix: string, count: number, clients: number) {
  let next = 0;
  const client = async () => {
    while (next < count) {
      await caller.ask("POST", `/api/v1/namespaces/${namespace}/configmaps`, configMap(`${prefix}-${next++}`));
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
}

export async function namespace(caller: Caller, name: string): Promise<void> {
  await caller.ask("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
}

export function list(caller: Caller, namespace: string): Promise<string> {
  return caller.ask("GET", `/api/v1/namespaces/${namespace}/configmaps`);
}

/** In pages, as informers and kubectl list. Resolves to how many pages there were. */
export async function listPages(caller: Caller, namespace: string, limit: number): Promise<number> {
  let token = "";
  let pages = 0;
  do {
    const query = `limit=${limit}${token && `&continue=${encodeURIComponent(token)}`}`;
    const text = await caller.ask("GET", `/api/v1/namespaces/${namespace}/configmaps?${query}`);
    token = /^.{0,400}?"continue":"([^"]*)"/s.exec(text)?.[1] ?? "";
    pages++;
  } while (token);
  return pages;
}

/** Changes one object a number of times; each change is complete when all watchers have received it. */
export async function fanOut(contestant: Contestant, caller: Caller, watchers: number, changes: number) {
  const home = "/api/v1/namespaces/fan/configmaps";
  await namespace(caller, "fan");
  const { metadata } = JSON.parse(await caller.ask("POST", home, configMap("ball"))) as {
    metadata: { resourceVersion: string };
  };
  const from = `${home}?watch=1&resourceVersion=${metadata.resourceVersion}`;
  const watches = await Watches.open(contestant, from, watchers);
  const times: number[] = [];
  const whole = await measured(contestant, async () => {
    for (let change = 1; change <= changes; change++) {
      const begun = performance.now();
      const [, answer] = await Promise.all([
        watches.all(change),
        caller.ask("PATCH", `${home}/ball`, { data: { mode: `m${change}` } }),
      ]);
      if (!answer.includes(`m${change}`)) throw new Error("the change was not made");
      times.push(performance.now() - begun);
    }
  });
  watches.close();
  return { ...whole, median: times.sort((a, b) => a - b)[times.length >> 1]! };
}
