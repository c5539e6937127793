// npm run kudo:integration [-- --real] [--only PART]
// Runs KUDO's own integration tests, as they are, with our operator instead of KUDO's, on the embedded cluster or on a real API server,
// and counts how many pass. Commands are those of KUDO's own `kubectl kudo`.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Client, connect } from "@konverge/client";
import { startCluster } from "@konverge/cluster";
import { type AnyObject, isAlreadyExists, isNotFound, type KindRef, realClock, sleep } from "@konverge/core";
import { kudoOperator } from "@konverge/declarative";
import { CustomResourceDefinition, Namespace } from "@konverge/kinds";
import { startRealCluster } from "@konverge/real";
import { Manager, silentLog } from "@konverge/runtime";
import { kudoCommand, kudoSources } from "./kudo-module.ts";
import { difference, objectsIn, stepsIn, type TestStep } from "./test-steps.ts";

const { values } = parseArgs({ options: { real: { type: "boolean" }, only: { type: "string" } } });
/** Kubernetes does not serve it any more, since 1.22. */
const REMOVED = "apiextensions.k8s.io/v1beta1";
/** As in KUDO's own run. */
const TIMEOUT = 30_000;
const clock = realClock();
const sources = kudoSources();
const command = kudoCommand();
const work = mkdtempSync(join(tmpdir(), "kudo-integration-"));
let failed = 0;
try {
  if (values.real) {
    // As in KUDO's own run, without controllers: one test expects a Deployment that never becomes ready.
    await using cluster = await startRealCluster();
    failed = await all(await connect({ kubeconfig: cluster.kubeconfig }), cluster.kubeconfig);
  } else {
    await using cluster = await startCluster();
    await using port = await cluster.listen();
    const kubeconfig = join(work, "kubeconfig");
    writeFileSync(kubeconfig, port.kubeconfig());
    failed = await all(cluster.client, kubeconfig);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
process.exitCode = failed > 0 ? 1 : 0;

/** Returns how many fail. */
async function all(client: Client, kubeconfig: string): Promise<number> {
  const operator = kudoOperator();
  for (const kind of operator.kinds)
    await client.create(CustomResourceDefinition, kind.crd() as CustomResourceDefinition);
  const { controllers } = operator.create({ metrics: undefined as never, settings: {}, log: silentLog });
  const manager = new Manager(controllers, { client });
  await manager.start();
  await installed(client);
  const folders = readdirSync(join(sources, "test/integration")).filter((name) => name.includes(values.only ?? ""));
  const count = { passed: 0, removed: 0, failed: 0 };
  for (const name of folders) {
    const folder = join(sources, "test/integration", name);
    const why = await attempt(client, kubeconfig, folder, `kudo-${name}`.slice(0, 60));
    const isRemoved = why !== undefined && usesRemoved(folder);
    count[why === undefined ? "passed" : isRemoved ? "removed" : "failed"]++;
    console.log(
      `${why === undefined ? "passed" : "failed"} ${name}${why === undefined ? "" : `: ${isRemoved ? `needs ${REMOVED}, which Kubernetes has removed: ` : ""}${why}`}`,
    );
  }
  await manager.stop();
  console.log(`${count.passed} of ${folders.length} passed, ${count.removed} need ${REMOVED}, ${count.failed} failed`);
  return count.failed;
}

/** What KUDO's test suite installs before. */
async function installed(client: Client): Promise<void> {
  const folder = join(sources, "test/manifests");
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".yaml"))) {
    for (const object of objectsIn(join(folder, file))) {
      if (object.apiVersion.startsWith("kudo.dev/")) await within(TIMEOUT, () => applied(client, object, "default"));
    }
  }
}

async function attempt(
  client: Client,
  kubeconfig: string,
  folder: string,
  namespace: string,
): Promise<string | undefined> {
  await client.create(Namespace, { metadata: { name: namespace } });
  try {
    for (const step of stepsIn(folder)) {
      const why = await stepProblem(client, kubeconfig, folder, namespace, step);
      if (why !== undefined) return `step ${step.number}: ${why}`;
    }
    return undefined;
  } finally {
    await client.delete(Namespace, namespace);
  }
}

async function stepProblem(client: Client, kubeconfig: string, folder: string, namespace: string, step: TestStep) {
  for (const one of step.commands) {
    const args = argumentsOf(one.command);
    const why = await run([...args, ...(one.namespaced ? ["--namespace", namespace] : [])], folder, kubeconfig);
    if (why !== undefined) return why;
  }
  for (const object of step.objects) {
    const why = await within(TIMEOUT, () => applied(client, object, namespace));
    if (why !== undefined) return why;
  }
  const missing = await within(TIMEOUT, async () => {
    for (const object of step.expected) await expect(client, object, namespace);
  });
  if (missing !== undefined) return missing;
  return within(TIMEOUT, async () => {
    for (const object of step.unexpected) {
      const isThere = await expect(client, object, namespace).then(
        () => true,
        () => false,
      );
      if (isThere) throw new Error(`${object.kind} ${object.metadata?.name} is as it should not be`);
    }
  });
}

/** Of `kubectl kudo …`: what the plugin is called with. */
function argumentsOf(text: string): string[] {
  const words = [...text.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replace(/["']/g, ""));
  return words[0] === "kubectl" && words[1] === "kudo" ? words.slice(2) : words;
}

/** Returns what a command that fails prints. Its working folder is a test's, which it must not write to. */
async function run(args: readonly string[], folder: string, kubeconfig: string): Promise<string | undefined> {
  const isWriting = args[0] === "package";
  const given = isWriting ? [...args, "--destination", work] : args;
  const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: work };
  const child = spawn(command, [...given], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += String(data)));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return code === 0 ? undefined : `kubectl kudo ${given.join(" ")} failed: ${output.trim()}`;
}

async function kindOf(client: Client, object: AnyObject): Promise<KindRef<AnyObject>> {
  return (await client.mapper.resolve(object)) as KindRef<AnyObject>;
}

async function applied(client: Client, object: AnyObject, namespace: string): Promise<void> {
  const kind = await kindOf(client, object);
  const placed = kind.namespaced
    ? { ...object, metadata: { ...object.metadata, namespace: object.metadata.namespace ?? namespace } }
    : object;
  try {
    await client.create(kind, placed as AnyObject);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    await client.patch(kind, keyIn(kind, placed as AnyObject, namespace), { merge: placed as never });
  }
}

function keyIn({ namespaced }: KindRef<AnyObject>, { metadata }: AnyObject, namespace: string): string {
  return namespaced ? `${metadata.namespace ?? namespace}/${metadata.name}` : metadata.name!;
}

async function expect(client: Client, object: AnyObject, namespace: string): Promise<void> {
  const kind = await kindOf(client, object);
  const candidates = object.metadata?.name
    ? [await found(client, kind, keyIn(kind, object, namespace))]
    : (await client.list(kind, { namespace })).items;
  const problems = candidates.map((live) => (live === undefined ? "is not there" : difference(object, live)));
  if (problems.some((problem) => problem === undefined)) return;
  throw new Error(`${object.kind} ${object.metadata?.name ?? ""} ${problems[0] ?? "is not there"}`);
}

async function found(client: Client, kind: KindRef<AnyObject>, key: string): Promise<AnyObject | undefined> {
  try {
    return await client.get(kind, key);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function usesRemoved(folder: string): boolean {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /templates\/.*\.yaml$/.test(name),
  );
  return files.some((name) => {
    try {
      return objectsIn(join(folder, name)).some(({ apiVersion }) => apiVersion === REMOVED);
    } catch {
      return false;
    }
  });
}

/** Tries until it succeeds; returns what went wrong last. */
async function within(ms: number, what: () => Promise<void>): Promise<string | undefined> {
  const end = clock.monotonic() + ms;
  while (true) {
    try {
      await what();
      return undefined;
    } catch (error) {
      if (clock.monotonic() > end) return (error as Error).message;
      await sleep(clock, 250);
    }
  }
}
