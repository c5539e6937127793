import { convergenceOf } from "@konverge/cli";
import type { ApiResource } from "@konverge/client";
import type { NodeShape } from "@konverge/cluster";
import type { AnyObject } from "@konverge/core";
import { VolcanoPodGroup } from "@konverge/kubeflow-operator";
import { installForeignKind } from "@konverge/operator-suite";
import type { Operator } from "@konverge/runtime";
import { runScenario, type TestEnvironment } from "@konverge/testing";
import { devicesFor } from "./devices.ts";
import { startLeaderWorkerSets } from "./leader-worker-sets.ts";
import { isOf, type Manifest } from "./manifests.ts";
import { filledIn, prerequisitesOf } from "./prerequisites.ts";
import type { Upstream } from "./upstreams.ts";

/** What became of one manifest. */
export interface Attempt {
  readonly file: string;
  readonly result: "converged" | "accepted" | "refused";
  /** Why it was refused, or has not converged. */
  readonly reasons: readonly string[];
  /** Fields that the API server would drop from a client that does not ask for strict validation. */
  readonly unknownFields: readonly string[];
}

/** Quantities that no manifest exceeds: they are about kinds, not about capacity. */
const CAPACITY = { cpu: "1024", memory: "16Ti", "ephemeral-storage": "16Ti", pods: "250", "nvidia.com/gpu": "16" };

const NODES = 24;

/** Images whose programs end, as those that load a dataset before others begin. */
const FINISHING = ["ghcr.io/kubeflow/trainer/dataset-initializer", "ghcr.io/kubeflow/trainer/model-initializer"];

/** Virtual time that a manifest has to converge, in milliseconds. */
const PATIENCE = 20 * 60_000;

/** Applies a manifest to a cluster with only the operator, and waits until it has converged on simulated nodes. */
export async function attempt(
  upstream: Upstream,
  operator: Operator,
  manifest: Manifest,
  installed: readonly AnyObject[] = [],
): Promise<Attempt> {
  const outcome: { -readonly [K in keyof Attempt]: Attempt[K] } = {
    file: manifest.file,
    result: "refused",
    reasons: [],
    unknownFields: [],
  };
  const play = async (stage: TestEnvironment) => {
    for (const image of FINISHING) stage.cluster?.image(image, { run: async () => 0 });
    await stage.start(operator);
    const objects = filledIn(manifest.objects);
    const isContained = ({ kind, metadata: { name } }: AnyObject) =>
      objects.some((one) => one.kind === kind && one.metadata.name === name);
    for (const object of installed) if (!isContained(object)) await apply(stage, object);
    for (const object of [...prerequisitesOf(objects), ...devicesFor(objects, NODES)]) await apply(stage, object);
    if (upstream.name === "dynamo") await startLeaderWorkerSets(stage);
    if (upstream.name === "trainer") await installForeignKind(stage, VolcanoPodGroup);
    const applied: Applied[] = [];
    const refusals: string[] = [];
    let isKindReady = true;
    for (const object of inOrder(upstream, objects)) {
      const isOurs = isOf(upstream, object);
      // A graph becomes a kind, of which objects follow.
      if (!isKindReady && !isGraph(object)) await stage.advance(15_000);
      isKindReady = !isGraph(object);
      const result = await apply(stage, object);
      if ("refused" in result) {
        if (isOurs) refusals.push(...result.refused);
      } else if (isOurs) applied.push(result);
    }
    outcome.unknownFields = [...new Set(refusals.flatMap((text) => text.match(/unknown field "[^"]+"/g) ?? []))];
    outcome.reasons = refusals;
    // A kind that is not there has its reason in the graph that should have become it.
    const graphs = applied.filter(({ kind }) => isGraph(kind));
    if (refusals.length > 0) outcome.reasons = [...(await unconverged(stage, graphs)), ...refusals];
    if (refusals.length > 0) return;
    outcome.result = "accepted";
    outcome.reasons = await waitFor(stage, applied);
    if (outcome.reasons.length === 0) outcome.result = "converged";
  };
  await runScenario(play, { nodes: nodesFor(filledIn(manifest.objects)), strictImages: false });
  return outcome;
}

/** Nodes that have the labels and the extended resources that the manifest names. */
function nodesFor(objects: readonly AnyObject[]): NodeShape[] {
  const labels: Record<string, string> = {};
  const capacity: Record<string, string> = { ...CAPACITY };
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key === "nodeSelector") Object.assign(labels, inner);
      if (key === "nodeSelectorTerms") for (const term of inner as Terms) Object.assign(labels, labelsIn(term));
      // Dynamo's own resources have those of devices one level deeper.
      if (key === "requests" || key === "limits" || key === "custom")
        for (const name of Object.keys(inner ?? {})) if (name.includes("/")) capacity[name] ??= "64";
      if (key === "topologyKey" && inner !== "kubernetes.io/hostname") labels[String(inner)] ??= "a";
      visit(inner);
    }
  };
  visit(objects);
  return Array.from({ length: NODES }, (_, index) => ({ name: `node-${index}`, capacity, labels }));
}

type Terms = readonly { matchExpressions?: { key: string; operator: string; values?: string[] }[] }[];

/** Labels that satisfy a term of a node affinity. */
const labelsIn = ({ matchExpressions = [] }: Terms[number]) =>
  Object.fromEntries(
    matchExpressions.flatMap(({ key, operator, values = ["true"] }) =>
      operator === "In" || operator === "Exists" ? [[key, values[0]!]] : [],
    ),
  );

interface Applied {
  readonly kind: ApiResource;
  readonly key: string;
}

/** Objects of built-in kinds first: graphs and jobs refer to claims, secrets and configurations. */
function inOrder(upstream: Upstream, objects: readonly AnyObject[]): AnyObject[] {
  const rank = (object: AnyObject) =>
    object.kind === "Namespace" ? 0 : isOf(upstream, object) ? (isTemplate(object.kind) || isGraph(object) ? 2 : 3) : 1;
  return [...objects].sort((a, b) => rank(a) - rank(b));
}

/** As `kubectl apply` would send it: with strict validation of fields. */
async function apply(stage: TestEnvironment, object: AnyObject): Promise<Applied | { refused: readonly string[] }> {
  const { mapper } = stage.client;
  try {
    const kind = await mapper.resolve(object);
    const name = object.metadata.name ?? `${object.metadata.generateName}1`;
    // Other namespaces of the manifest are not made here: all of it goes to the test's namespace.
    // A namespace of an object that has none is ignored, as API servers do.
    const { namespace: _, ...given } = object.metadata;
    const metadata = { ...given, name, ...(kind.namespaced && { namespace: stage.namespace }) };
    await stage.client.create(kind, { ...object, metadata } as never, { fieldValidation: "Strict" });
    return { kind, key: kind.namespaced ? `${stage.namespace}/${name}` : name };
  } catch (error) {
    return { refused: [error instanceof Error ? error.message : String(error)] };
  }
}

/** What has not converged in time, with the operator's own words. */
async function waitFor(stage: TestEnvironment, applied: readonly Applied[]): Promise<string[]> {
  const end = stage.clock.monotonic() + PATIENCE;
  for (;;) {
    await stage.advance(15_000);
    const left = await unconverged(stage, applied);
    if (left.length === 0 || stage.clock.monotonic() > end) return left;
  }
}

async function unconverged(stage: TestEnvironment, applied: readonly Applied[]): Promise<string[]> {
  const left: string[] = [];
  for (const { kind, key } of applied) {
    // Runtimes and other templates have no status: jobs read them.
    if (isTemplate(kind.kind)) continue;
    const object = await stage.client.get(kind, key).catch(() => undefined);
    const { done, message } = convergenceOf(object);
    if (!done && !isTraining(object)) left.push(`${kind.kind}: ${message}`);
  }
  return left;
}

/** A TrainJob has no condition for that: all of its steps run, or are over. */
function isTraining(object: AnyObject | undefined): boolean {
  const { jobsStatus = [] } = (object?.["status"] ?? {}) as { jobsStatus?: { ready: number; succeeded: number }[] };
  return jobsStatus.length > 0 && jobsStatus.every(({ ready, succeeded }) => ready + succeeded > 0);
}

const isGraph = ({ kind }: { kind?: string }) => kind === "ResourceGraphDefinition";
const isTemplate = (kind = "") => kind.endsWith("Runtime");
