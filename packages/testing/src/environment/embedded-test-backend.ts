import type { CallWebhook, Snapshot } from "@konverge/apiserver";
import { type Cluster, type ContainerBehavior, type NodeShape, startCluster } from "@konverge/cluster";
import {
  type ApiRequest,
  type ApiResponse,
  type Clock,
  realClock,
  sleep,
  type Transport,
  VirtualClock,
} from "@konverge/core";
import { Namespace } from "@konverge/kinds";
import { builtInCertificates, WebhookRegistration, type Webhooks } from "@konverge/runtime";
import { namingImages } from "./named-images.ts";
import {
  installRegistrations,
  removeRegistrations,
  serveWebhooksOnPort,
  UNREACHABLE_WEBHOOK_URL,
} from "./registrations.ts";
import type { Shell } from "./shell.ts";
import type { TestBackend } from "./test-backend.ts";
import { unstoredFields } from "./unstored-fields.ts";
import { VirtualTime } from "./virtual-time.ts";

/** Options for a test environment on an embedded cluster. */
export interface TestEnvironmentOptions {
  /** Default: virtual. kubectl needs `real`. */
  readonly time?: "virtual" | "real";
  /** The minor version of Kubernetes that the cluster serves, `1.33` to `1.37`. Default: 1.36. */
  readonly kubernetes?: string;
  /** Called with each field that an operator writes and the server does not store: `Pod spec.hostnameOverride`. */
  readonly onUnstored?: (field: string) => void;
  /** Default: a few nodes, some with GPUs of two types. */
  readonly nodes?: readonly NodeShape[];
  /** Default: `stage`. */
  readonly namespace?: string;
  /** Labels of that namespace, such as `pod-security.kubernetes.io/enforce`. */
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  /** The seed of the virtual clock. */
  readonly seed?: number;
  /** The start of virtual time, in milliseconds since 1970. Default: the same moment in all runs. */
  readonly start?: number;
  /** Let the seed choose the order of events at the same time. */
  readonly shuffle?: boolean;
  /**
   * Images whose containers are simulated, besides those in what the scenario applies and those of its operators. A
   * container of any other image stays in ImagePullBackOff: a misspelled image must not become ready in a test.
   */
  readonly images?: readonly string[];
  /** How simulated containers behave unless their pods say otherwise. Default: they start at once; in an exploration, slowly. */
  readonly containers?: ContainerBehavior;
  /** How long the API server keeps the history of changes, in milliseconds. Default: five minutes. */
  readonly history?: number;
  /** The state of an earlier cluster that this one begins with. Default: none. */
  readonly state?: Snapshot;
  /** `false`: simulate containers of any image. Default: true. */
  readonly strictImages?: boolean;
  /** Handles requests to aggregated API servers (APIService), such as a metrics server. */
  readonly extension?: (request: ApiRequest) => Promise<ApiResponse>;
  /** Runs shell commands with `kubectl`; without it, `shell` and `kubectl` are not available. */
  readonly shell?: (kubeconfig: string, namespace: string) => Shell;
}

/** Half an hour of virtual time; real time costs more. */
const PATIENCE = { virtual: 30 * 60_000, real: 90_000 };
/** Nothing but routine for this long counts as idle. */
const QUIET = { virtual: 120_000, real: 2_000 };
/** What is not idle by then never will be. */
const SETTLING = { virtual: 2 * 3_600_000, real: 120_000 };
/** They change forever. */
const ROUTINE = /lease|node|event/i;

/** The embedded cluster as a test backend. `end` stops it. */
export interface EmbeddedTestBackend extends TestBackend {
  readonly cluster: Cluster;
  end(): Promise<void>;
}

/** Starts an embedded cluster as a test backend. */
export async function embeddedTestBackend(options: TestEnvironmentOptions = {}): Promise<EmbeddedTestBackend> {
  const { time = "virtual", namespace = "stage", nodes, shell, extension, images = [], strictImages = true } = options;
  const virtual = time === "virtual" ? new VirtualTime(new VirtualClock(options)) : undefined;
  const clock: Clock = virtual?.clock ?? realClock();
  const wait = <T>(promise: Promise<T>) => (virtual ? virtual.wait(promise) : promise);
  const reachable = new Map<string, Webhooks>();
  const listeners = new Set<CallWebhook>();
  const cluster = await wait(
    startCluster({
      clock,
      strictImages,
      images,
      ...(options.containers && { containers: options.containers }),
      ...(nodes && { nodes }),
      ...(options.kubernetes !== undefined && { kubernetes: options.kubernetes }),
      server: {
        ...(options.state && { state: options.state }),
        ...(options.history !== undefined && { history: { ms: options.history, changes: 1_000_000 } }),
        // In real time webhooks are reached over the network, as they would be.
        ...(virtual && { callWebhook: inProcess(reachable, listeners) }),
        ...(extension && { aggregation: { call: (_, request) => extension(request) } }),
      },
    }),
  );
  const own = namingImages(cluster.client, (image) => cluster.image(image));
  const client = virtual ? virtual.patient(own) : own;
  for (const name of ["default", namespace]) {
    await client.create(Namespace, { metadata: { name } }).catch(() => undefined);
  }
  const { namespaceLabels: labels } = options;
  if (labels) await client.patch(Namespace, namespace, { merge: { metadata: { labels } } });
  let running: { shell: Shell; close(): Promise<void> } | undefined;
  const pass = (ms: number) => (virtual ? virtual.pass(ms) : sleep(clock, ms));
  return {
    where: "embedded",
    client,
    clock,
    namespace,
    seed: options.seed ?? 1,
    cluster,
    timeout: PATIENCE[time],
    ...(virtual && { listeners }),
    conversionUrl: (operator) => (virtual ? `${urlOf(operator)}/convert` : UNREACHABLE_WEBHOOK_URL),
    wait,
    advance: pass,
    connect: async (account) => asAccount(cluster, account, options.onUnstored),
    async register({ name, home, webhooks, client: own }) {
      if (!virtual) return serveWebhooksOnPort({ name, home, webhooks, client: own }, cluster.client);
      const secret = { name: `${name}-certificates`, namespace: home };
      const source = builtInCertificates(own, { hosts: [new URL(urlOf(name)).hostname], secret });
      const { bundle = "" } = await source();
      reachable.set(name, webhooks);
      await installRegistrations(cluster.client, name, webhooks);
      const registration = new WebhookRegistration({ client: own, name, webhooks });
      await registration.set({ url: urlOf(name), caBundle: Buffer.from(bundle).toString("base64") });
      return async ({ crashed } = { crashed: false }) => {
        if (crashed) return;
        reachable.delete(name);
        await registration.stop();
        await removeRegistrations(cluster.client, name);
      };
    },
    async settled() {
      const start = clock.monotonic();
      let [seen, since] = [workIn(cluster), start];
      for (;;) {
        await pass(time === "virtual" ? 5_000 : 200);
        const now = workIn(cluster);
        if (now !== seen) [seen, since] = [now, clock.monotonic()];
        if (clock.monotonic() - since >= QUIET[time]) return;
        if (clock.monotonic() - start > SETTLING[time]) throw new Error(`it does not settle: ${lastWork(cluster)}`);
      }
    },
    async shell(command, more) {
      if (virtual) throw new Error('kubectl needs real time: create the test environment with { time: "real" }');
      if (!shell) throw new Error("this test environment cannot run commands: pass the option `shell`");
      if (!running) {
        const port = await cluster.listen();
        running = { shell: shell(port.kubeconfig(), namespace), close: () => port.close() };
      }
      return running.shell.run(command, more);
    },
    async end() {
      await running?.shell.end();
      await running?.close();
      await wait(cluster.stop());
    },
  };
}

/** Asks the operators of this process, without a network. */
function inProcess(reachable: ReadonlyMap<string, Webhooks>, listeners: ReadonlySet<CallWebhook>): CallWebhook {
  return async (target, review, options) => {
    if (target.service) return fromListener(target, review, options, listeners);
    const name = new URL(target.url ?? "https://nowhere").hostname.split(".")[0]!;
    const webhooks = reachable.get(name);
    if (!webhooks) throw new Error(`connect ECONNREFUSED: no process of ${name} answers`);
    return webhooks.call(target, review);
  };
}

/** Asks the first process that listens: which one a Service selects, no pod says. */
async function fromListener(
  target: Parameters<CallWebhook>[0],
  review: object,
  options: { timeoutMs: number },
  listeners: ReadonlySet<CallWebhook>,
): Promise<unknown> {
  const { name = "", namespace = "", port = 443, path = "" } = target.service ?? {};
  for (const listener of listeners) {
    try {
      return await listener(target, review, options);
    } catch (error) {
      if ((error as Error).name !== "ConnectionRefused") throw error;
    }
  }
  throw new Error(
    `Post "https://${name}.${namespace}.svc:${port}${path}?timeout=${options.timeoutMs / 1000}s": dial tcp: connect: connection refused`,
  );
}

const urlOf = (operator: string) => `https://${operator}.webhooks.test`;

/** Every request is a separate turn, and passes the same checks as one from outside. */
function asAccount(
  cluster: Cluster,
  { name, namespace }: { name: string; namespace: string },
  onUnstored?: (field: string) => void,
): Transport {
  const certificate = {
    commonName: `system:serviceaccount:${namespace}:${name}`,
    organizations: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`],
    fingerprint: "",
  };
  return async (request) => {
    await new Promise<void>((resolve) => cluster.clock.post(resolve, `request of ${name}`));
    const response = await cluster.guard.handle(request, { address: "", certificate });
    if (onUnstored) for (const field of unstoredFields(request, response)) onUnstored(field);
    return response;
  };
}

/** Grows with each change that is more than routine. */
function workIn(cluster: Cluster): number {
  return Math.max(...changesIn(cluster).map(({ revision }) => revision), 0);
}

function lastWork(cluster: Cluster): string {
  const last = changesIn(cluster).sort((a, b) => b.revision - a.revision)[0];
  return last ? `${last.resource} ${last.key} still changes` : "nothing is known to change";
}

function changesIn({ server: { store } }: Cluster): { resource: string; key: string; revision: number }[] {
  const newest: { resource: string; key: string; revision: number }[] = [];
  for (const resource of store.resources()) {
    if (ROUTINE.test(resource)) continue;
    const last = store.collection(resource).changesAfter(store.compacted)?.at(-1);
    if (last) newest.push({ resource, key: last.key, revision: last.revision });
  }
  return newest;
}
