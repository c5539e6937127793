import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "@konverge/apiserver";
import type { Client } from "@konverge/client";
import { type Cluster, parseGpuNodes, plainNodes, startCluster } from "@konverge/cluster";
import { type Console, startConsole } from "@konverge/console";
import { type KindRef, type KubeObject, keyOf, realClock, sleep } from "@konverge/core";
import { Namespace } from "@konverge/kinds";
import { samplesOf } from "@konverge/operators";
import type { Operator } from "@konverge/runtime";
import { maybe } from "../deploy/apply-objects.ts";
import { deploy } from "../deploy/deploy.ts";
import { DEFAULT_IMAGE, DEFAULT_NAMESPACE } from "../manifests/defaults.ts";
import { operatorCatalog } from "../operator-image/catalog.ts";
import { OPERATOR_IMAGE, operatorProgram } from "../operator-image/operator-image.ts";
import { declaredPermissions } from "../operators/declared-permissions.ts";
import { NO_SETTINGS } from "../operators/settings.ts";
import { chosenSamples, NEEDS_REAL_PROGRAM, reportsStatus } from "./chosen-samples.ts";
import { convergenceOf } from "./convergence.ts";
import { LiveView, type Row, type Screen } from "./live-view.ts";
import { OperatorActivities } from "./operator-activity.ts";

/** Room for one sample of each kind. */
const GPUS = "H100=8x4,A100=8x4";
const PLAIN_NODES = 4;
/** Milliseconds between two looks. */
const PERIOD = 200;

export interface DemoOptions {
  readonly operators: readonly Operator[];
  /** The module that exports them: pods run them in separate processes. */
  readonly module: string;
  /** End when everything has converged, or the time is up. */
  readonly exit: boolean;
  /** Milliseconds. */
  readonly timeout: number;
  readonly stop: AbortSignal;
  readonly screen: Screen;
  /** Serve the console while it runs. */
  readonly console?: boolean;
}

/** What is followed: a sample, or (without a key) whatever there is of a kind that operators make themselves. */
interface Followed {
  readonly kind: KindRef<KubeObject>;
  readonly key?: string;
  /** There may be none: the operator creates one only when it is needed. */
  readonly isCreatedByOperator?: boolean;
}

/**
 * An embedded cluster, all operators in it, a sample of each kind, converging before one's eyes. Resolves to what has not
 * converged, in words.
 */
export async function demo(options: DemoOptions): Promise<string[]> {
  const { operators, screen, stop } = options;
  const clock = realClock();
  const authority = createAuthority(clock);
  const nodes = [...plainNodes(PLAIN_NODES), ...parseGpuNodes(GPUS)];
  await using cluster = await startCluster({ clock, rootCertificate: authority.cert, nodes });
  const names = operators.map(({ name }) => name).join(",");
  const catalog = await operatorCatalog({ modules: [options.module], names });
  cluster.image(OPERATOR_IMAGE, { run: operatorProgram(catalog, { clock }) });
  await using port = await cluster.listen({ authority, name: "konverge-demo" });
  await using console = options.console ? await openConsole(cluster) : undefined;
  const folder = mkdtempSync(join(tmpdir(), "konverge-demo-"));
  try {
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, port.kubeconfig(), { mode: 0o600 });
    screen.write(`A cluster with ${nodes.length} simulated nodes is at ${port.url}. In another terminal:\n`);
    screen.write(`  export KUBECONFIG=${kubeconfig}\n  kubectl get pods\n\n`);
    if (console) screen.write(`See it in the browser:\n  ${console.url}\n\n`);
    screen.write(`Deploying ${operators.map(({ name }) => name).join(", ")} …\n`);
    await deploy(operators, cluster.client, {
      namespace: DEFAULT_NAMESPACE,
      image: DEFAULT_IMAGE,
      tell: (text) => text.endsWith("is available") && screen.write(`  ${text}\n`),
    });
    const followed = await applySamples(cluster.client, operators);
    for (const { kind } of operators.flatMap(({ kinds }) => kinds)) {
      if (NEEDS_REAL_PROGRAM.has(kind)) screen.write(`  ${kind} is left out: it needs the real program in its pods\n`);
    }
    screen.write("\n");
    const rows = await follow(cluster, followed, options);
    await console?.close();
    // Programs in pods say goodbye through the port.
    await cluster.stop();
    if (options.exit || stop.aborted) screen.write("\n");
    return rows.filter(({ done }) => !done).map(({ name, message }) => `${name} (${message})`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function openConsole(cluster: Cluster): Promise<Console> {
  const time = { unavailable: "its operators run in separate processes with their own clocks" };
  return startConsole({ client: cluster.client, title: "konverge-demo", embedded: { cluster, time } });
}

async function applySamples(client: Client, operators: readonly Operator[]): Promise<Followed[]> {
  const followed: Followed[] = [];
  for (const { object, kind } of operators.flatMap((operator) => chosenSamples(operator, samplesOf(operator)))) {
    const ref = kind ?? (await client.mapper.resolve({ apiVersion: object.apiVersion ?? "", kind: object.kind ?? "" }));
    const namespace = ref.namespaced ? (object.metadata.namespace ?? DEFAULT_NAMESPACE) : undefined;
    const metadata = { ...object.metadata, ...(namespace && { namespace }) };
    if (namespace && !(await maybe(client, Namespace, namespace))) {
      await client.create(Namespace, { metadata: { name: namespace } });
    }
    await client.apply(ref, { ...object, metadata } as never, { fieldManager: "konverge-demo", force: true });
    if (kind) followed.push({ kind, key: namespace ? `${namespace}/${metadata.name}` : metadata.name });
  }
  for (const operator of operators) {
    for (const kind of operator.kinds) {
      if (NEEDS_REAL_PROGRAM.has(kind.kind) || !reportsStatus(kind)) continue;
      if (followed.some((one) => one.kind.kind === kind.kind && one.kind.group === kind.group)) continue;
      followed.push({ kind, isCreatedByOperator: isCreatedBy(operator, kind) });
    }
  }
  return followed;
}

/** Whether the operator creates objects of this kind itself when it needs them, such as the upgrade of a Database. */
function isCreatedBy(operator: Operator, { group, plural }: KindRef<KubeObject>): boolean {
  const permissions = declaredPermissions(operator, NO_SETTINGS);
  return permissions.some((one) => one.verb === "create" && one.group === group && one.resource === plural);
}

async function follow(cluster: Cluster, followed: readonly Followed[], options: DemoOptions): Promise<Row[]> {
  const { client, clock } = cluster;
  const { stop, exit, timeout, screen, operators } = options;
  const view = new LiveView(screen);
  const activities = new OperatorActivities(cluster, operators);
  const deadline = clock.monotonic() + timeout;
  for (;;) {
    const rows = await Promise.all(followed.map((one) => rowOf(client, one)));
    const active = activities.refresh((operator, text) => view.tell(operator, text));
    view.show(rows, active);
    const done = rows.every((row) => row.done);
    if (stop.aborted || (exit && (done || clock.monotonic() > deadline))) return rows;
    await sleep(clock, PERIOD, { signal: stop }).catch(() => {});
  }
}

async function rowOf(client: Client, { kind, key, isCreatedByOperator = false }: Followed): Promise<Row> {
  if (key === undefined) {
    const { items } = await client.list(kind);
    const rows = items.map((object) => ({ ...convergenceOf(object), name: `${kind.kind} ${keyOf(object)}` }));
    const missing = isCreatedByOperator
      ? { name: kind.kind, done: true, message: "none is needed" }
      : { name: kind.kind, done: false, message: "no sample has one" };
    return rows.find(({ done }) => !done) ?? rows[0] ?? missing;
  }
  return { name: `${kind.kind} ${key}`, ...convergenceOf(await maybe(client, kind, key)) };
}
