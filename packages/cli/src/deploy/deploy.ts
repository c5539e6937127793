import type { Client } from "@konverge/client";
import { findCondition, type KubeObject } from "@konverge/core";
import { Deployment, Namespace, Pod } from "@konverge/kinds";
import type { Operator } from "@konverge/runtime";
import { type ManifestOptions, type OperatorObjects, operatorObjects } from "../manifests/operator-objects.ts";
import { type ApplyOptions, applyObjects, deleteObjects, maybe } from "./apply-objects.ts";
import { installDefinitions } from "./install.ts";
import { checkRunning, hasSimulatedNodesOnly } from "./simulated-nodes.ts";
import { serveStoredOnly } from "./stored-only.ts";
import { untilDefined } from "./waiting.ts";

export interface DeployOptions extends ApplyOptions, ManifestOptions {
  /** Also the roles that give more than is needed. */
  readonly classicRole?: boolean;
  /** Also replace definitions that another operator has brought. */
  readonly force?: boolean;
  /** Milliseconds to wait for the Deployments. Default: three minutes. */
  readonly timeout?: number;
  /** Return without waiting for the Deployments. */
  readonly noWait?: boolean;
}

/**
 * Installs operators with all they need, and waits until their Deployments are available. Doing it again changes nothing,
 * or changes what is different.
 */
export async function deploy(operators: readonly Operator[], client: Client, options: DeployOptions): Promise<void> {
  await deployObjects(
    operators.map((operator) => operatorObjects(operator, options)),
    client,
    options,
  );
  if (options.dryRun || options.noWait || !(await hasSimulatedNodesOnly(client))) return;
  for (const { name } of operators) await checkRunning(client, name, options.namespace, options.image);
}

/** The same for operators whose code is in another process: all that it takes is their objects. */
export async function deployObjects(
  installations: readonly OperatorObjects[],
  client: Client,
  options: Omit<DeployOptions, "image">,
): Promise<void> {
  const { namespace, dryRun } = options;
  const home: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  if (!(await maybe(client, Namespace, namespace))) await applyObjects(client, [home], options);
  await installDefinitions(installations, client, { ...options, converted: true, byService: true });
  const monitored = await servesMonitors(client);
  for (const objects of installations) {
    const all = [
      objects.serviceAccount,
      ...objects.roles,
      ...objects.guard,
      ...(options.classicRole ? objects.classicRoles : []),
      objects.service,
      ...objects.certificates,
      ...objects.webhooks,
      objects.deployment,
      ...(monitored ? [objects.serviceMonitor] : []),
    ];
    await applyObjects(client, all as unknown as KubeObject[], options);
  }
  if (dryRun || options.noWait) return;
  for (const { name } of installations) await available(client, `${namespace}/${name}`, options);
}

/**
 * Takes operators away. Their kinds and the objects of these stay, and can be read and written in the version in which they
 * are stored; other versions, which are no longer converted, are no longer served.
 *
 * An operator keeps itself registered for as long as it may. So it loses its roles first; then the API server is told to
 * ask it no more, and only then its processes go.
 */
export async function undeploy(operators: readonly Operator[], client: Client, options: DeployOptions): Promise<void> {
  const { namespace } = options;
  const monitored = await servesMonitors(client);
  for (const operator of operators) {
    const objects: OperatorObjects = operatorObjects(operator, options);
    const { name } = operator;
    if (!(await maybe(client, Deployment, `${namespace}/${name}`))) {
      options.tell(`there is no deployment.apps/${name} in the namespace ${namespace}; removing what is left of it`);
    }
    const own = { name, namespace };
    await deleteObjects(client, [...objects.classicRoles, ...objects.roles] as unknown as KubeObject[], options);
    await askNoMore(client, objects, options);
    const rest = [
      ...objects.guard,
      ...(monitored ? [objects.serviceMonitor] : []),
      objects.deployment,
      objects.service,
      objects.serviceAccount,
      ...objects.certificates,
      { apiVersion: "v1", kind: "Secret", metadata: { ...own, name: `${name}-certificates` } },
      { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: own },
    ];
    await deleteObjects(client, rest as unknown as KubeObject[], options);
    // What it registered while the loss of its roles was not known everywhere yet.
    await askNoMore(client, objects, options);
  }
}

/** Takes away what makes the API server ask an operator: admission webhooks, and conversions between versions. */
async function askNoMore(client: Client, { webhooks, crds }: OperatorObjects, options: ApplyOptions): Promise<void> {
  await deleteObjects(client, webhooks as unknown as KubeObject[], options);
  for (const { metadata } of crds) await serveStoredOnly(client, metadata.name, options);
}

/** The Prometheus operator is there, so it may as well know where the metrics are. */
async function servesMonitors(client: Client): Promise<boolean> {
  const surface = await client.mapper.refresh();
  return surface.resources.some(({ group, kind }) => group === "monitoring.coreos.com" && kind === "ServiceMonitor");
}

async function available(client: Client, key: string, options: Pick<DeployOptions, "timeout" | "tell">): Promise<void> {
  const { timeout = 180_000, tell } = options;
  let told = false;
  const done = await untilDefined(client.clock, timeout, async () => {
    const { metadata, spec, status } = await client.get(Deployment, key);
    const wanted = spec?.replicas ?? 1;
    const isSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
    if (!told) {
      const problem = await imageProblem(client, key);
      if (problem) tell(problem);
      told = problem !== undefined;
    }
    const { updatedReplicas = 0, availableReplicas = 0, replicas = 0 } = status ?? {};
    return isSeen && updatedReplicas >= wanted && availableReplicas >= wanted && replicas === updatedReplicas
      ? true
      : undefined;
  });
  if (done) {
    tell(`deployment.apps/${key.split("/")[1]} is available`);
    return;
  }
  throw new Error(
    `deployment ${key} is not available after ${timeout / 1000} s: ${await whyNot(client, key)}\nLook at: kubectl describe pods -l app=${key.split("/")[1]} -n ${key.split("/")[0]}`,
  );
}

/** The reasons of a kubelet that has tried to get an image and has none. */
const WITHOUT_IMAGE: ReadonlySet<string | undefined> = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "ErrImageNeverPull",
  "InvalidImageName",
]);

/** Why nodes cannot run the image of a Deployment, if a node has said so. It may still come: waiting goes on. */
async function imageProblem(client: Client, key: string): Promise<string | undefined> {
  const [namespace = "", name = ""] = key.split("/");
  const { items } = await client.list(Pod, { namespace, labelSelector: `app=${name}` });
  for (const { spec, status } of items) {
    for (const { image, state } of status?.containerStatuses ?? []) {
      if (!WITHOUT_IMAGE.has(state?.waiting?.reason)) continue;
      const { reason, message } = state!.waiting!;
      return (
        `the node ${spec?.nodeName} cannot run the image ${image}: ${reason}${message ? ` (${message})` : ""}\n` +
        `Push it to a registry that the node can reach, or load it into a cluster of konverge up --real-nodes: konverge image load ARCHIVE|FOLDER`
      );
    }
  }
  return undefined;
}

/** What the pods wait for, or what the Deployment reports. */
async function whyNot(client: Client, key: string): Promise<string> {
  const [namespace = "", name = ""] = key.split("/");
  const { items } = await client.list(Pod, { namespace, labelSelector: `app=${name}` });
  const reasons = new Set<string>();
  for (const { metadata, status } of items) {
    const scheduled = findCondition((status?.conditions ?? []) as never, "PodScheduled");
    if (scheduled?.status === "False") reasons.add(`${metadata.name}: ${scheduled.message}`);
    for (const { state, lastState, ready } of status?.containerStatuses ?? []) {
      const { reason, message } = state?.waiting ?? lastState?.terminated ?? {};
      if (reason) reasons.add(`${metadata.name}: ${reason}${message ? ` (${message})` : ""}`);
      else if (!ready) reasons.add(`${metadata.name} is not ready; see its log: kubectl logs ${metadata.name}`);
    }
  }
  if (reasons.size > 0) return [...reasons].join("; ");
  const { status } = await client.get(Deployment, key);
  const told = (status?.conditions ?? []).filter(({ status: value }) => value !== "True").map(({ message }) => message);
  return told.join("; ") || "it has no pods";
}
