import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ADMINISTRATOR, createAuthority, type Front, type Snapshot, type User } from "@konverge/apiserver";
import { type Cluster, openPort, startCluster } from "@konverge/cluster";
import { type AnyObject, readText, realClock, sleep, type Transport } from "@konverge/core";
import { Lease, Namespace, ServiceAccount } from "@konverge/kinds";
import { ClusterFollower } from "../explorer/cluster-follower.ts";
import { endStateOf, objectsAtEnd } from "../explorer/end-state.ts";
import type { Fault } from "../explorer/fault.ts";
import { FaultPlane } from "../explorer/fault-plane.ts";
import { throwIfReached } from "../explorer/limits.ts";
import type { ExploredRun, Invariant, RunFailure } from "../explorer/oracle.ts";
import type { RandomNames } from "../explorer/random-names.ts";
import { withoutIgnored } from "./ignored-parts.ts";
import { inCluster } from "./in-cluster-account.ts";
import type { ProgramAccess } from "./program-access.ts";
import { type ProgramExit, ProgramProcess } from "./program-process.ts";
import { ProgramProxy } from "./program-proxy.ts";
import type { ProgramScenario, ScenarioInvariant } from "./scenario-file.ts";
import { applyObject, RunStopped, ScenarioPlayer } from "./scenario-player.ts";

/** The program to run, and the limits of a run. */
export interface ProgramRunOptions {
  /** The shell command that starts the program, which finds the cluster by `KUBECONFIG`. */
  readonly command: string;
  /** The program finds the files and variables of a pod instead of a kubeconfig. Default: false. */
  readonly inCluster?: boolean;
  /** The user as whom its requests are authorized. Default: an administrator. */
  readonly account?: User;
  /** Records which permissions it uses. Default: nothing. */
  readonly access?: ProgramAccess;
  readonly scenario: ProgramScenario;
  /** The working directory of the command. Default: that of this process. */
  readonly folder?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The program is idle when it has sent only routine requests for this time, in milliseconds. Default: 2,000. */
  readonly idleAfter?: number;
  /** The run fails if the program is not idle after this time, in milliseconds. Default: 60,000. */
  readonly idleTimeout?: number;
  /** The random parts of names, as two runs show them. Default: none. */
  readonly names?: RandomNames;
  /** Waits longer before it judges: for an operator that tries again later. Default: no. */
  readonly patience?: Patience;
  /** Why the exploration has to end now, if it has to: then the run throws {@link ExplorationStopped}. */
  readonly reached?: () => string | undefined;
}

/** How long a run waits for work that is still to come. */
export interface Patience {
  /** At most this long at the end, in milliseconds. */
  readonly ms: number;
  /** `wait` steps take this many times their timeout. */
  readonly factor: number;
  /** Whether the objects are as they should be: then it waits no longer. */
  isComplete(objects: readonly AnyObject[]): boolean;
}

/** A run of a program. */
export interface ProgramRun extends ExploredRun {
  /** Processes that exited without being killed by the run. */
  readonly exits: readonly ProgramExit[];
  /** The end of the program's output. */
  readonly output: string;
}

export const IDLE_AFTER = 2_000;
const IDLE_TIMEOUT = 60_000;
/** A container takes this long to be started, and then to be ready, so that others act meanwhile. */
const SLOW_CONTAINERS = { startDelay: 200, warmUp: 300, tearDown: 100 };
/** Interval at which the state of the cluster is read, in milliseconds. */
const TICK = 25;
/** Every namespace has it, with the certificate of its cluster. */
const ROOT_CERTIFICATE = { kind: "ConfigMap", name: "kube-root-ca.crt" };
/** Interval at which the end of a run is compared again, in milliseconds. */
const COMPLETENESS_TICK = 2_000;
/** A program that polls, without writing, counts as idle after this many times the usual time. */
const POLLING_FACTOR = 3;
/** A program that has lost a watch may be waiting to reconnect: it counts as idle after this many times the usual time. */
const NOT_WATCHING_FACTOR = 5;
/** Delay before a program that exited is started again, in milliseconds; it doubles each time. */
const RESTART = { first: 200, longest: 3_000 };
/** After more exits than this, the program is not started again. */
const MOST_EXITS = 5;

/** The state in which each run of a scenario starts: after the setup, before the program is started. */
export async function prepareScenario(scenario: ProgramScenario): Promise<Snapshot> {
  await using cluster = await startCluster();
  const { client } = cluster;
  const { namespace, setup } = scenario;
  if (namespace !== "default") await client.create(Namespace, { metadata: { name: namespace } });
  for (const object of setup) await applyObject(client, object, namespace);
  await cluster.settled({ idlePeriod: 500 });
  return cluster.snapshot();
}

/** Plays a scenario with the program and these faults. */
export async function runProgram(
  options: ProgramRunOptions,
  state: Snapshot,
  { faults, seed, worker }: { faults: readonly Fault[]; seed: number; worker: number },
): Promise<ProgramRun> {
  const run = await Run.start(options, state, faults, worker);
  try {
    return await run.play(seed);
  } finally {
    await run.stop();
  }
}

/** One cluster, one proxy, and the program's processes one after the other. */
class Run {
  readonly #options: ProgramRunOptions;
  readonly #cluster: Cluster;
  readonly #follower: ClusterFollower;
  readonly #plane: FaultPlane;
  readonly #proxy: ProgramProxy;
  readonly #exits: ProgramExit[] = [];
  readonly #clock = realClock();
  readonly #stack = new AsyncDisposableStack();
  #command: string;
  #process: ProgramProcess | undefined;
  #number = 0;
  #env: Readonly<Record<string, string | undefined>> = {};
  #isOver = false;
  #isKilled = false;
  /** How long the operator is down once its process has been killed. */
  #downMs = 0;
  #changes = 0;
  #lastChange: number;
  /** Until then a fault lasts. */
  #disturbedUntil = 0;
  #injected = 0;
  #output = "";

  private constructor(options: ProgramRunOptions, cluster: Cluster, faults: readonly Fault[]) {
    const { namespace, invariants } = options.scenario;
    this.#options = options;
    this.#command = options.command;
    this.#cluster = cluster;
    this.#lastChange = this.#clock.monotonic();
    this.#follower = new ClusterFollower(cluster, namespace, invariants.map(followed));
    this.#plane = new FaultPlane(this.#follower, faults, Number.POSITIVE_INFINITY, options.names);
    this.#proxy = new ProgramProxy(this.#plane, this.#clock);
  }

  static async start(
    options: ProgramRunOptions,
    state: Snapshot,
    faults: readonly Fault[],
    worker: number,
  ): Promise<Run> {
    const authority = createAuthority(realClock());
    const cluster = await startCluster({
      containers: SLOW_CONTAINERS,
      rootCertificate: authority.cert,
      server: { state, access: { serviceAccounts: { signingKey: authority.key } } },
    });
    const run = new Run(options, cluster, faults);
    run.#stack.use(cluster);
    run.#stack.defer(() => run.#follower.stop());
    const front: Front = (request, next) => run.#proxy.front(request, run.#onward(next));
    const port = run.#stack.use(await openPort(cluster.guard.behind(front), { authority }));
    const folder = mkdtempSync(join(tmpdir(), "konverge-explore-"));
    run.#stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    const { KUBERNETES_SERVICE_HOST: _host, KUBERNETES_SERVICE_PORT: _port, KUBECONFIG: _config, ...env } = process.env;
    if (options.inCluster) {
      const { namespace } = options.scenario;
      const token = await accountToken(cluster, namespace);
      const pod = inCluster(options.command, folder, { namespace, token, ca: port.authority.cert, port: port.port });
      run.#command = pod.command;
      run.#env = { ...env, ...options.env, ...pod.env, KONVERGE_WORKER: String(worker) };
    } else {
      const kubeconfig = join(folder, "kubeconfig");
      writeFileSync(kubeconfig, port.kubeconfig(), { mode: 0o600 });
      run.#env = { ...env, ...options.env, KUBECONFIG: kubeconfig, KONVERGE_WORKER: String(worker) };
    }
    run.#launch();
    return run;
  }

  /** The API server as the program's account, with a record of what is used. */
  #onward(next: Transport): Transport {
    const { account, access, inCluster: isInPod } = this.#options;
    // The account of a pod has no permissions here.
    const user = account ?? (isInPod ? ADMINISTRATOR : undefined);
    const authorized = user ? this.#cluster.guard.as(user) : next;
    return access ? access.recorded(authorized) : authorized;
  }

  async play(seed: number): Promise<ProgramRun> {
    const { scenario } = this.#options;
    const player = new ScenarioPlayer({
      scenario,
      world: this.#follower,
      plane: this.#plane,
      untilIdle: () => this.#untilIdle(),
      patience: this.#options.patience?.factor ?? 1,
      reached: this.#options.reached,
    });
    let failure: RunFailure | undefined;
    const following = this.#follow();
    try {
      // A program that has not read anything yet would see the scenario's end only.
      await this.#untilIdle();
      await player.play();
      await this.#untilIdle();
      if (await this.#plane.atEnd()) await this.#untilIdle();
      await this.#untilComplete();
      this.#follower.checkEventually();
    } catch (error) {
      if (!(error instanceof RunStopped)) throw error;
      ({ failure } = error);
    } finally {
      this.#isOver = true;
      await following;
    }
    const objects = withoutIgnored(await objectsAtEnd(this.#follower), [ROOT_CERTIFICATE, ...scenario.ignore]);
    return {
      seed,
      faults: this.#plane.injected,
      timeline: this.#plane.timeline,
      changes: this.#follower.changes,
      endState: failure ? undefined : endStateOf(objects),
      objects,
      idle: failure ? undefined : { ms: this.#idleAfter, writes: 0, requests: 0, warnings: [] },
      failure,
      unhandled: [],
      denied: [],
      // Programs in other languages choose their own conditions.
      prematureReadiness: [],
      violations: this.#follower.violations,
      groups: groupsOf(scenario),
      exits: this.#exits,
      output: this.#output + (this.#process?.output ?? ""),
    };
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    this.#proxy.stopped();
    this.#process?.kill();
    await this.#process?.ended;
    await this.#stack.disposeAsync();
  }

  get #idleAfter(): number {
    return this.#options.idleAfter ?? IDLE_AFTER;
  }

  #launch(): void {
    const { folder = process.cwd() } = this.#options;
    const started = new ProgramProcess({ command: this.#command, folder, env: this.#env });
    this.#isKilled = false;
    this.#downMs = 0;
    this.#process = started;
    this.#proxy.started(++this.#number, (downMs = 0) => {
      this.#isKilled = true;
      this.#downMs = downMs;
      this.#proxy.stopped();
      started.kill();
    });
    void started.ended.then((exit) => this.#ended(started, exit));
  }

  /** As a kubelet: what ended is started again. */
  async #ended(ended: ProgramProcess, exit: ProgramExit): Promise<void> {
    if (this.#isOver) return;
    this.#output = (this.#output + ended.output).slice(-64 * 1024);
    this.#proxy.stopped();
    if (!this.#isKilled) {
      this.#exits.push(exit);
      const what = `ended: ${exit.signal ?? `exit code ${exit.code}`}`;
      this.#plane.note({ who: "operator", type: "process", what, process: this.#number });
      if (this.#exits.length > MOST_EXITS) return;
      await sleep(this.#clock, Math.min(RESTART.first * 2 ** (this.#exits.length - 1), RESTART.longest));
    }
    await sleep(this.#clock, this.#downMs);
    await this.#expireLeases();
    if (!this.#isOver) this.#launch();
  }

  /** As if the time had passed that a lease outlives its holder. */
  async #expireLeases(): Promise<void> {
    for (const path of this.#proxy.leases) {
      const [namespace, name] = path
        .split("/")
        .slice(-3)
        .filter((part) => part !== "leases") as [string, string];
      await this.#cluster.client
        .patch(Lease, `${namespace}/${name}`, { merge: { spec: { holderIdentity: "" } } } as never)
        .catch(() => {});
    }
  }

  async #follow(): Promise<void> {
    while (!this.#isOver) {
      this.#observe();
      await sleep(this.#clock, TICK);
    }
  }

  /** Takes note of what has changed in the cluster, and of faults that last. */
  #observe(): void {
    this.#follower.follow();
    const now = this.#clock.monotonic();
    if (this.#follower.changes.length !== this.#changes) this.#lastChange = now;
    this.#changes = this.#follower.changes.length;
    for (; this.#injected < this.#plane.injected.length; this.#injected++) {
      const { ms = 0 } = this.#plane.injected[this.#injected] as { ms?: number };
      this.#disturbedUntil = Math.max(this.#disturbedUntil, now + ms);
    }
  }

  /** An operator that failed may try again long after it was idle. */
  async #untilComplete(): Promise<void> {
    const { patience, scenario } = this.#options;
    if (!patience) return;
    const begun = this.#clock.monotonic();
    while (this.#clock.monotonic() - begun < patience.ms) {
      throwIfReached(this.#options.reached);
      const objects = withoutIgnored(await objectsAtEnd(this.#follower), [ROOT_CERTIFICATE, ...scenario.ignore]);
      if (patience.isComplete(objects)) return;
      await sleep(this.#clock, COMPLETENESS_TICK);
      await this.#untilIdle();
    }
  }

  /** Resolves when the program is idle. */
  async #untilIdle(): Promise<void> {
    const { idleTimeout = IDLE_TIMEOUT } = this.#options;
    const begun = this.#clock.monotonic();
    const writes = this.#proxy.writes;
    this.#observe();
    while (!this.#isIdle()) {
      throwIfReached(this.#options.reached);
      if (this.#exits.length > MOST_EXITS) {
        throw new RunStopped({ type: "restless", message: `the program exited ${this.#exits.length} times` });
      }
      if (this.#clock.monotonic() - begun > idleTimeout) {
        const wrote = this.#proxy.writes - writes;
        const message = `the program was not idle within ${idleTimeout / 1000} s: it sent ${wrote} writes meanwhile`;
        throw new RunStopped({ type: "restless", message });
      }
      await sleep(this.#clock, TICK);
    }
  }

  #isIdle(): boolean {
    const now = this.#clock.monotonic();
    if (!this.#proxy.isConnected) return false;
    const undisturbed = Math.min(now - this.#lastChange, now - this.#disturbedUntil);
    const needed = this.#proxy.isWatching ? this.#idleAfter : NOT_WATCHING_FACTOR * this.#idleAfter;
    if (Math.min(undisturbed, this.#proxy.idleFor) >= needed) return true;
    return Math.min(undisturbed, this.#proxy.noWriteFor) >= POLLING_FACTOR * needed;
  }
}

/** An invariant of a scenario, as the follower of a cluster checks it. */
function followed({ name, when, condition }: ScenarioInvariant): Invariant {
  return { name, [when]: (state: ClusterFollower) => condition.check({ objects: state.all() }).holds };
}

/** A token of the account that every namespace has. */
async function accountToken({ server, client }: Cluster, namespace: string): Promise<string> {
  await client.apply(
    ServiceAccount,
    { metadata: { name: "default", namespace } },
    { fieldManager: "konverge-explore" },
  );
  const { body } = await server.transport({
    method: "POST",
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} }),
  });
  return (JSON.parse(await readText(body)) as { status: { token: string } }).status.token;
}

/** The groups of the CRDs that the scenario sets up. */
function groupsOf({ setup }: ProgramScenario): string[] {
  const groups = setup
    .filter(({ kind }) => kind === "CustomResourceDefinition")
    .map((crd) => (crd as unknown as { spec: { group: string } }).spec.group);
  return [...new Set(groups)];
}
