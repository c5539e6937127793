/** The labels and annotations that KUDO adds to objects of a task. Pure. */
import { createHash } from "node:crypto";
import { deepCopy, isObject, type KindRef, type KubeObject, parseApiVersion } from "@konverge/core";
import type { TaskPlace } from "./run-plan.ts";

/** What is added. */
export interface TaskMetadata {
  readonly place: TaskPlace;
  readonly uid: string;
  readonly operator: string;
  readonly operatorVersion: string;
  readonly instance: string;
  readonly namespace: string;
}

export const INSTANCE_LABEL = "kudo.dev/instance";
export const OPERATOR_LABEL = "kudo.dev/operator";
/** All objects of all instances have this label. */
export const HERITAGE = "heritage=kudo";
const DEPENDENCIES = "kudo.dev/dependencies-hash";
const NOT_HASHED = "kudo.dev/skip-hash-calculation";

type Fields = Record<string, unknown>;

/** The object, with labels and annotations, in the instance's namespace if its kind is namespaced. */
export function withMetadata(object: KubeObject, kind: KindRef<KubeObject>, about: TaskMetadata): KubeObject {
  const made = deepCopy(object) as unknown as Fields & { metadata: Fields };
  const labels = { heritage: "kudo", [OPERATOR_LABEL]: about.operator, [INSTANCE_LABEL]: about.instance };
  const { place } = about;
  add(made.metadata, "labels", labels);
  add(made.metadata, "annotations", {
    "kudo.dev/plan": place.plan,
    "kudo.dev/phase": place.phase,
    "kudo.dev/step": place.step,
    "kudo.dev/last-plan-execution-uid": about.uid,
  });
  for (const template of podTemplatesIn(made)) {
    const metadata = metadataOf(template);
    add(metadata, "labels", labels);
    add(metadata, "annotations", { "kudo.dev/operator-version": about.operatorVersion });
  }
  const claims = ((made["spec"] as Fields | undefined)?.["volumeClaimTemplates"] ?? []) as Fields[];
  for (const claim of claims) add(metadataOf(claim), "labels", labels);
  if (kind.namespaced) made.metadata["namespace"] = about.namespace;
  else delete made.metadata["namespace"];
  return made as unknown as KubeObject;
}

function metadataOf(part: Fields): Fields {
  part["metadata"] ??= {};
  return part["metadata"] as Fields;
}

function add(metadata: Fields, name: "labels" | "annotations", entries: Readonly<Record<string, string>>): void {
  metadata[name] = { ...((metadata[name] ?? {}) as object), ...entries };
}

/** Kinds of which each object makes pods, or Jobs that make pods. */
const WITH_TEMPLATE = new Set(["ReplicationController", "ReplicaSet", "DaemonSet", "StatefulSet", "Deployment", "Job"]);

function podTemplatesIn(object: Fields): Fields[] {
  const { group } = parseApiVersion(String(object["apiVersion"]));
  if (group !== "" && group !== "apps" && group !== "batch") return [];
  const spec = (object["spec"] ?? {}) as Fields;
  const owner = object["kind"] === "CronJob" ? (((spec["jobTemplate"] ?? {}) as Fields)["spec"] as Fields) : spec;
  const template =
    object["kind"] === "CronJob" || WITH_TEMPLATE.has(String(object["kind"])) ? owner?.["template"] : undefined;
  return isObject(template) ? [template as Fields] : [];
}

/**
 * A hash of the ConfigMaps and Secrets that pods of an object mount, so that pods are replaced when these change; undefined if there
 * are none. `find` returns them as they are applied.
 */
export function dependenciesHash(
  object: KubeObject,
  find: (kind: "ConfigMap" | "Secret", name: string) => KubeObject | undefined,
): string | undefined {
  const names = podTemplatesIn(object as unknown as Fields).flatMap(mountedIn);
  if (names.length === 0) return undefined;
  const hash = createHash("md5");
  for (const [kind, name] of names.sort(([k1, n1], [k2, n2]) => (`${k1} ${n1}` < `${k2} ${n2}` ? -1 : 1))) {
    const found = find(kind, name);
    if (!found || found.metadata.annotations?.[NOT_HASHED] !== undefined) continue;
    const { metadata, ...content } = found;
    hash.update(JSON.stringify([kind, name, metadata.labels ?? {}, content]));
  }
  return hash.digest("hex");
}

/** The object with the hash in its pods' annotations. */
export function withDependencies(object: KubeObject, hash: string | undefined): KubeObject {
  if (hash === undefined) return object;
  const made = deepCopy(object);
  for (const template of podTemplatesIn(made as unknown as Fields)) {
    add(metadataOf(template), "annotations", { [DEPENDENCIES]: hash });
  }
  return made;
}

interface Mounts {
  readonly imagePullSecrets?: readonly { name?: string }[];
  readonly volumes?: readonly { configMap?: { name?: string }; secret?: { secretName?: string } }[];
}

function mountedIn(template: Fields): ["ConfigMap" | "Secret", string][] {
  const { imagePullSecrets = [], volumes = [] } = (template["spec"] ?? {}) as Mounts;
  const secrets = [...imagePullSecrets.map(({ name }) => name), ...volumes.map(({ secret }) => secret?.secretName)];
  const configMaps = volumes.map(({ configMap }) => configMap?.name);
  const all = (kind: "ConfigMap" | "Secret", names: readonly (string | undefined)[]) =>
    names.flatMap((name): ["ConfigMap" | "Secret", string][] => (name ? [[kind, name]] : []));
  return [...all("Secret", secrets), ...all("ConfigMap", configMaps)];
}
