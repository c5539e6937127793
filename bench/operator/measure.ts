import { setTimeout as sleep } from "node:timers/promises";
import { type Client, connect } from "@konverge/client";
import { ConfigMap, Namespace } from "@konverge/kinds";
import { type RealCluster, startRealCluster } from "@konverge/real";
import { persist } from "../harness/persist.ts";
import type { Program } from "./konverge-program.ts";
import { createForeign, createWidget, forEach, Onlooker, widgetName } from "./load.ts";
import { OperatorProcess } from "./operator-process.ts";
import { countRequests, type Requests, requestsBetween, requestText, writesIn } from "./requests.ts";
import { Widget } from "./widget.ts";
import { RATE, type Sizes } from "./workload.ts";

/** Milliseconds without progress after which an operator has failed. */
const PATIENCE = 180_000;

/** Takes what was measured of one operator in one round. */
export interface Notes {
  figure(what: string, value: number): void;
  requests(phase: string, text: string): void;
}

/** Measures an operator in a separate cluster: cold start, steady changes, restart, repair. */
export async function measureObjects(program: Program, sizes: Sizes, notes: Notes): Promise<void> {
  await using scene = await Scene.start(sizes, notes);
  await scene.createObjects();
  await scene.with(program, async (operator, before) => {
    await scene.cold(operator, before);
    await scene.steady(operator);
  });
  await scene.with(program, async (operator, before) => {
    await scene.restart(operator, before);
    await scene.repair(operator);
  });
}

/** Only the cold start. */
export async function measureCold(program: Program, sizes: Sizes, notes: Notes): Promise<void> {
  await using scene = await Scene.start(sizes, notes);
  await scene.createObjects();
  await scene.with(program, (operator, before) => scene.cold(operator, before));
}

/** A start with unrelated ConfigMaps in scope. */
export async function measureForeign(program: Program, kubeconfig: string, { figure }: Notes): Promise<void> {
  await using operator = new OperatorProcess(program, kubeconfig);
  figure("foreign: ready s", (await operator.idle()) / 1000);
  const { cpuSeconds, residentBytes, peakBytes } = operator.usage();
  figure("foreign: CPU s", cpuSeconds);
  figure("foreign: resident MiB", residentBytes / 2 ** 20);
  figure("foreign: peak MiB", peakBytes / 2 ** 20);
}

/** A cache of many ConfigMaps. */
export async function measureCached(
  program: Program,
  count: number,
  kubeconfig: string,
  { figure }: Notes,
): Promise<void> {
  await using holder = new OperatorProcess(program, kubeconfig, ["cache", String(count)]);
  await holder.says();
  figure("cache: ready s", (performance.now() - holder.startedAt) / 1000);
  await holder.idle();
  const { cpuSeconds, residentBytes, peakBytes } = holder.usage();
  figure("cache: CPU s", cpuSeconds);
  figure("cache: resident MiB", residentBytes / 2 ** 20);
  figure("cache: peak MiB", peakBytes / 2 ** 20);
}

/** A cluster whose ConfigMaps are created once and used by all operators. */
export async function withForeign(
  use: (kubeconfig: string, grow: (from: number, to: number) => Promise<void>) => Promise<void>,
): Promise<void> {
  await using cluster = await startRealCluster();
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  try {
    await prepare(cluster, client);
    await use(cluster.kubeconfig, (from, to) => createForeign(client, from, to));
  } finally {
    await client.close();
  }
}

/** What each cluster has before an operator starts. */
export async function prepare(cluster: RealCluster, client: Client): Promise<void> {
  const applied = await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(Widget.crd()));
  if (applied.code !== 0) throw new Error(applied.stderr);
  await cluster.kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]);
  for (const name of ["default", "foreign"]) await client.create(Namespace, { metadata: { name } }).catch(() => {});
}

/** One operator's cluster in one round. */
class Scene implements AsyncDisposable {
  readonly #cluster: RealCluster;
  readonly #client: Client;
  readonly #onlooker: Onlooker;
  readonly #sizes: Sizes;
  readonly #notes: Notes;

  private constructor(cluster: RealCluster, client: Client, sizes: Sizes, notes: Notes) {
    this.#cluster = cluster;
    this.#client = client;
    this.#onlooker = new Onlooker(client);
    this.#sizes = sizes;
    this.#notes = notes;
  }

  static async start(sizes: Sizes, notes: Notes): Promise<Scene> {
    const cluster = await startRealCluster();
    try {
      const client = await connect({ kubeconfig: cluster.kubeconfig });
      await prepare(cluster, client);
      return new Scene(cluster, client, sizes, notes);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#onlooker.stop();
    await this.#client.close();
    await this.#cluster.stop();
  }

  /** Runs an operator; also passes on the requests from before its start. */
  async with(program: Program, use: (operator: OperatorProcess, before: Requests) => Promise<void>): Promise<void> {
    const before = await countRequests(this.#cluster);
    await using operator = new OperatorProcess(program, this.#cluster.kubeconfig);
    await use(operator, before);
  }

  async createObjects(): Promise<void> {
    await forEach(this.#sizes.objects, (i) => createWidget(this.#client, i));
  }

  async cold(operator: OperatorProcess, before: Requests): Promise<void> {
    const { objects } = this.#sizes;
    await until("objects have a status", operator, objects, () => this.#onlooker.done.size);
    const last = [...this.#onlooker.done.values()].reduce((a, b) => Math.max(a, b));
    this.#notes.figure("cold: s", (last - operator.startedAt) / 1000);
    const { cpuSeconds, peakBytes } = operator.usage();
    this.#notes.figure("cold: CPU s", cpuSeconds);
    this.#notes.figure("cold: peak MiB", peakBytes / 2 ** 20);
    await operator.idle();
    await this.#noteRequests("cold", before, {});
  }

  async steady(operator: OperatorProcess): Promise<void> {
    const { objects, more } = this.#sizes;
    const before = await countRequests(this.#cluster);
    const { cpuSeconds } = operator.usage();
    const created = new Map<string, number>();
    const begun = performance.now();
    const creating: Promise<void>[] = [];
    for (let i = 0; i < more; i++) {
      const due = begun + (i * 1000) / RATE;
      if (due > performance.now()) await sleep(due - performance.now());
      const one = widgetName(objects + i);
      creating.push(
        createWidget(this.#client, objects + i).then(() => {
          created.set(one, performance.now());
        }),
      );
    }
    await Promise.all(creating);
    this.#notes.figure("steady: created per s", more / ((performance.now() - begun) / 1000));
    const { done } = this.#onlooker;
    await until("objects have a status", operator, objects + more, () => done.size);
    const waits = [...created].map(([one, at]) => Math.max(0, done.get(one)! - at)).sort((a, b) => a - b);
    this.#notes.figure("steady: p50 ms", waits[Math.floor(waits.length * 0.5)]!);
    this.#notes.figure("steady: p99 ms", waits[Math.floor(waits.length * 0.99)]!);
    await operator.idle();
    this.#notes.figure("steady: CPU s", operator.usage().cpuSeconds - cpuSeconds);
    await this.#noteRequests("steady", before, { "post widgets": more });
  }

  async restart(operator: OperatorProcess, before: Requests): Promise<void> {
    this.#notes.figure("restart: s", (await operator.idle()) / 1000);
    const { cpuSeconds, peakBytes } = operator.usage();
    this.#notes.figure("restart: CPU s", cpuSeconds);
    this.#notes.figure("restart: peak MiB", peakBytes / 2 ** 20);
    await this.#noteRequests("restart", before, {});
  }

  async repair(operator: OperatorProcess): Promise<void> {
    const { children } = this.#sizes;
    const names = Array.from({ length: children }, (_, i) => widgetName(i));
    const { come } = this.#onlooker;
    const before = await countRequests(this.#cluster);
    const { cpuSeconds } = operator.usage();
    const begun = performance.now();
    await forEach(children, (i) => persist(() => this.#client.delete(ConfigMap, `default/${names[i]}`)));
    const isBack = (name: string) => (come.get(name) ?? 0) > begun;
    await until("children are back", operator, children, () => names.filter(isBack).length);
    this.#notes.figure("repair: s", (Math.max(...names.map((name) => come.get(name)!)) - begun) / 1000);
    await operator.idle();
    this.#notes.figure("repair: CPU s", operator.usage().cpuSeconds - cpuSeconds);
    await this.#noteRequests("repair", before, { "delete configmaps": children });
  }

  async #noteRequests(phase: string, before: Requests, own: Record<string, number>): Promise<void> {
    const made = requestsBetween(before, await countRequests(this.#cluster), own);
    this.#notes.figure(`${phase}: writes`, writesIn(made));
    this.#notes.requests(phase, requestText(made));
  }
}

/** Resolves when a count has reached a goal; rejects when it has not changed for long. */
export async function until(what: string, operator: OperatorProcess, goal: number, count: () => number): Promise<void> {
  let [reached, since] = [count(), performance.now()];
  while (reached < goal) {
    operator.check();
    await sleep(10);
    const now = count();
    if (now !== reached) [reached, since] = [now, performance.now()];
    else if (performance.now() - since > PATIENCE)
      throw new Error(`timed out: ${reached} of ${goal} ${what}, unchanged for ${PATIENCE / 1000} s`);
  }
}
