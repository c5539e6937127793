import assert from "node:assert/strict";
import type { AnyObject, Condition, KindRef, KubeObject } from "@konverge/core";
import { Node, ResourceQuota } from "@konverge/kinds";
import type { Scenario, TestEnvironment } from "@konverge/testing";
import { UNPULLABLE } from "./kwok-pods.ts";
import { kwokNode } from "./real-ground.ts";

/** The expected report about an object whose spec cannot be satisfied. */
export interface Report {
  /** A condition, as `Ready False NoRoom no node has …`. */
  readonly condition: RegExp;
  /** An event about it, as `Warning NoRoom no node has …`. */
  readonly event: RegExp;
}

/** How long a problem lasts, in milliseconds: retries with minutes in between are no hot loop. */
const LASTS = { embedded: 2 * 60_000, real: 5_000 };
/** A refused write is retried, with exponential backoff. */
const NOW_AND_THEN = 8;

/** Waits until a problem is reported by a condition and an event, and asserts that writes stop while it lasts. */
export async function isReported(
  stage: TestEnvironment,
  kind: KindRef<KubeObject>,
  name: string,
  { condition, event }: Report,
): Promise<void> {
  await stage.until(`a condition of ${kind.kind} ${name} says ${condition}`, async () => {
    const object = (await stage.find(kind, name)) as AnyObject | undefined;
    const { conditions = [] } = (object?.["status"] ?? {}) as { conditions?: Condition[] };
    return conditions.some((one) => condition.test(`${one.type} ${one.status} ${one.reason} ${one.message}`));
  });
  await stage.until(`an event about ${kind.kind} ${name} says ${event}`, async () =>
    (await stage.events(kind, name)).some((text) => event.test(text)),
  );
  await stage.advance(LASTS[stage.where]);
  const before = stage.writes();
  await stage.advance(LASTS[stage.where]);
  const writes = stage.writes() - before;
  assert.ok(writes <= NOW_AND_THEN, `${writes} writes while nothing changed`);
}

/** Sets a quota of pods, and waits until it is in force; returns how to take it away. */
export async function quotaOfPods(stage: TestEnvironment, pods: number): Promise<() => Promise<void>> {
  const name = "few-pods";
  await stage.client.create(ResourceQuota, {
    metadata: { name, namespace: stage.namespace },
    spec: { hard: { pods: String(pods) } },
  });
  await stage.until(
    "the quota is in force",
    async () => (await stage.get(ResourceQuota, name)).status?.hard !== undefined,
  );
  return async () => {
    await stage.client.delete(ResourceQuota, `${stage.namespace}/${name}`);
  };
}

/** Makes an image one that cannot be pulled. Simulated nodes of a real control plane know a few such images. */
export function unpullable(stage: TestEnvironment, image: string): void {
  const repository = image.replace(/:[^/]*$/, "");
  if (stage.cluster) stage.cluster.image(repository, { failPull: "manifest unknown" });
  else assert.ok(UNPULLABLE.includes(image), `${image} is none of ${UNPULLABLE.join(", ")}`);
}

/** Brings a node with GPUs to a cluster that has none. */
export async function lateNode(stage: TestEnvironment): Promise<void> {
  const capacity = { cpu: "32", memory: "256Gi", "ephemeral-storage": "500Gi", pods: "110", "nvidia.com/gpu": "8" };
  await stage.client.create(Node, kwokNode({ name: "late", capacity }) as never);
  await stage.client.patchStatus(Node, "late", { merge: { status: { capacity, allocatable: capacity } } });
}

/** Plays a scenario while a real control plane has no nodes; those that it had are back afterwards. */
export function onEmptyCluster(scenario: Scenario): Scenario {
  return async (stage) => {
    const { items } = await stage.client.list(Node);
    await stage.client.deleteCollection(Node);
    try {
      await scenario(stage);
    } finally {
      await stage.client.deleteCollection(Node);
      for (const { metadata, spec, status } of items) {
        const { name, labels, annotations } = metadata;
        const { capacity, allocatable } = status ?? {};
        const node = {
          metadata: { name, labels, annotations },
          spec: { taints: spec?.taints },
          status: { capacity, allocatable },
        };
        await stage.client.create(Node, node as never);
      }
    }
  };
}
