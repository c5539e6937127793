import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "@konverge/apiserver";
import { Client, loadConfig } from "@konverge/client";
import { socketTransport } from "@konverge/client/socket";
import { openPort, startCluster } from "@konverge/cluster";
import { type AnyObject, type Clock, type HeaderMap, realClock, sleep, type Transport } from "@konverge/core";
import { Namespace, ServiceAccount } from "@konverge/kinds";
import { startRealCluster } from "@konverge/real";
import {
  applyObject,
  type EndState,
  endState,
  type Fault,
  FaultPlane,
  ProgramProcess,
  ProgramProxy,
  type ProgramScenario,
  RunStopped,
  ScenarioPlayer,
  type Timeline,
  type World,
} from "@konverge/testing";

/** What happened on a real control plane. */
export interface RealRun {
  readonly timeline: Timeline;
  readonly faults: readonly Fault[];
  /** Undefined if the scenario did not get to its end. */
  readonly endState: EndState | undefined;
  readonly failure: string | undefined;
}

/** An operator that has sent nothing for this time is idle, in milliseconds: longer than most retries. */
const IDLE = 8_000;
const LONGEST = 120_000;
const TICK = 100;

/**
 * Plays a scenario with these faults on a real control plane with simulated nodes. The operator's process reaches it through the same
 * proxy and fault plane that stand before the embedded cluster, so a finding is confirmed by the same request failing at the same point.
 */
export async function runOnReal(
  command: string,
  scenario: ProgramScenario,
  faults: readonly Fault[],
): Promise<RealRun> {
  await using stack = new AsyncDisposableStack();
  const real = await startRealCluster({ controllers: true, scheduler: true, kwok: { nodes: 2, gpus: 0 } });
  stack.defer(() => real.stop());
  const clock = realClock();
  const { transport, close } = socketTransport(await loadConfig({ kubeconfig: real.kubeconfig }), { clock });
  stack.defer(close);
  const client = new Client(transport, { clock });
  const { namespace } = scenario;
  if (namespace !== "default") await client.create(Namespace, { metadata: { name: namespace } });
  await until(clock, "there is a service account", async () =>
    client.get(ServiceAccount, `${namespace}/default`).then(
      () => true,
      () => false,
    ),
  );
  for (const object of scenario.setup) await applyObject(client, object, namespace);
  const world = new RealWorld(client, clock, namespace);
  stack.defer(() => world.stop());
  const plane = new FaultPlane(world, faults);
  const proxy = new ProgramProxy(plane, clock);
  const authority = createAuthority(clock);
  const front = stack.use(await startCluster({ rootCertificate: authority.cert }));
  const port = stack.use(
    await openPort(
      front.guard.behind((request) => proxy.front(request, passedOn(transport))),
      { authority },
    ),
  );
  const folder = mkdtempSync(join(tmpdir(), "konverge-real-run-"));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, port.kubeconfig(), { mode: 0o600 });
  const env = { ...process.env, KUBECONFIG: kubeconfig, KONVERGE_WORKER: "0" };
  let running: ProgramProcess | undefined;
  let isOver = false;
  let number = 0;
  let exit: string | undefined;
  const launch = () => {
    const started = new ProgramProcess({ command, folder, env });
    running = started;
    let isKilled = false;
    proxy.started(++number, () => {
      isKilled = true;
      proxy.stopped();
      started.kill();
    });
    void started.ended.then(({ output }) => {
      proxy.stopped();
      if (isOver) return;
      if (isKilled) launch();
      else exit ??= output;
    });
  };
  launch();
  stack.defer(async () => {
    isOver = true;
    running?.kill();
    await running?.ended;
  });
  const untilIdle = () =>
    until(clock, "the operator is idle", () => {
      if (exit !== undefined) throw new Error(`the operator exited:\n${exit}`);
      return Promise.resolve(proxy.isConnected && proxy.idleFor >= IDLE);
    });
  let failure: string | undefined;
  try {
    await untilIdle();
    await new ScenarioPlayer({ scenario, world, plane, untilIdle }).play();
    await untilIdle();
    if (await plane.atEnd()) await untilIdle();
  } catch (error) {
    if (!(error instanceof RunStopped)) throw error;
    failure = error.message;
  }
  const isOfScenario = ({ metadata }: AnyObject) => metadata.name !== "kube-root-ca.crt";
  const objects = await endState({ client, namespace }, undefined, isOfScenario);
  // Which version an object has at each moment is not known of a server in another process.
  const timeline = plane.timeline.map(({ live: _live, ...entry }) => entry);
  return { timeline, faults: plane.injected, endState: failure ? undefined : objects, failure };
}

/** What concerns one connection only. */
const OF_A_CONNECTION = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "host",
  "keep-alive",
  "transfer-encoding",
]);

/** Passes requests on as a proxy does: each of the two connections has its own framing. */
function passedOn(transport: Transport): Transport {
  const kept = (headers: HeaderMap): HeaderMap =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_A_CONNECTION.has(name.toLowerCase())));
  return async (request) => {
    const headers = kept(request.headers);
    // The transport reads text, and every client that accepts protobuf accepts JSON.
    if (String(headers["accept"]).includes("protobuf")) headers["accept"] = "application/json";
    const response = await transport({ ...request, headers });
    return { ...response, headers: kept(response.headers) };
  };
}

async function until(clock: Clock, what: string, condition: () => Promise<boolean>): Promise<void> {
  const end = clock.monotonic() + LONGEST;
  while (!(await condition())) {
    if (clock.monotonic() > end)
      throw new RunStopped({ type: "wait", message: `waited ${LONGEST / 1000} s until ${what}` });
    await sleep(clock, TICK);
  }
}

/** A real control plane as the fault plane needs it. Its newest resource version is read several times a second. */
class RealWorld implements World {
  readonly client: Client;
  readonly clock: Clock;
  readonly namespace: string;
  readonly #following: Promise<void>;
  #revision = 0;
  #isStopped = false;

  constructor(client: Client, clock: Clock, namespace: string) {
    this.client = client;
    this.clock = clock;
    this.namespace = namespace;
    this.#following = this.#follow();
  }

  revision(): number {
    return this.#revision;
  }

  state(): string {
    return "";
  }

  liveVersion(): undefined {
    return undefined;
  }

  writing<T>(_who: unknown, _object: unknown, write: () => Promise<T>): Promise<T> {
    return write();
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#following;
  }

  async #follow(): Promise<void> {
    while (!this.#isStopped) {
      const { metadata } = await this.client.list(Namespace, { limit: 1 });
      this.#revision = Number(metadata.resourceVersion);
      await sleep(this.clock, TICK);
    }
  }
}
