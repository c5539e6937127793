import assert from "node:assert/strict";
import type { Client } from "@konverge/client";
import { isNotFound, type KindRef, type KubeObject, keyOf, type ObjectKey, timestamp } from "@konverge/core";
import { Event, Pod } from "@konverge/kinds";
import type { Measures } from "./measures.ts";

/**
 * A cluster in which behavior is tested. Its controllers run. Some have no scheduler and no node: the test itself reports
 * what a node would report about a pod, when it chooses to. In others pods are scheduled and run (see `placed.ts`).
 */
export interface Stage {
  readonly client: Client;
  /** The namespace of this test. */
  readonly namespace: string;
  /** The values that the resource, custom and external metrics APIs return. */
  readonly measures: Measures;
  /** Waits until a condition holds. Fails after a while, with the name of the condition. */
  until(what: string, holds: () => Promise<boolean> | boolean): Promise<void>;
  /** Waits until the cluster is idle: what has not happened by then does not happen. */
  quiet(): Promise<void>;
}

/** A test of something that a cluster does, for any test environment. */
export type Behavior = (stage: Stage) => Promise<void>;

export const labelsOf = { app: "web" };

/** A pod template with one container. */
export function template(image = "web:1", more: object = {}) {
  return { metadata: { labels: { ...labelsOf } }, spec: { containers: [{ name: "main", image }], ...more } };
}

export async function podsOf({ client, namespace }: Stage, labelSelector?: string): Promise<Pod[]> {
  const { items } = await client.list(Pod, { namespace, ...(labelSelector && { labelSelector }) });
  return items.filter(({ metadata }) => !metadata.deletionTimestamp);
}

/** The pod runs, and is ready or not. */
export async function run({ client }: Stage, pod: Pod, { ready = true, ip = "" } = {}): Promise<void> {
  const now = timestamp(client.clock);
  const condition = (type: string, holds: boolean) => ({
    type,
    status: holds ? "True" : "False",
    lastTransitionTime: now,
  });
  const status = {
    phase: "Running" as const,
    ...(ip && { podIP: ip, podIPs: [{ ip }] }),
    startTime: now,
    conditions: [condition("Initialized", true), condition("Ready", ready), condition("ContainersReady", ready)],
    containerStatuses: [
      { name: "main", image: "web", imageID: "web", ready, restartCount: 0, state: { running: { startedAt: now } } },
    ],
  };
  await client.patchStatus(Pod, keyOf(pod), { merge: { status } });
}

/** The pod's container ends. */
export async function end({ client }: Stage, pod: Pod, exitCode = 0): Promise<void> {
  const now = timestamp(client.clock);
  const terminated = { exitCode, startedAt: now, finishedAt: now, reason: exitCode === 0 ? "Completed" : "Error" };
  const status = {
    phase: exitCode === 0 ? ("Succeeded" as const) : ("Failed" as const),
    containerStatuses: [
      { name: "main", image: "web", imageID: "web", ready: false, restartCount: 0, state: { terminated } },
    ],
  };
  await client.patchStatus(Pod, keyOf(pod), { merge: { status } });
}

/** Lets all pods run that do not yet, until something is so. */
export async function runAllUntil(stage: Stage, what: string, holds: () => Promise<boolean>): Promise<void> {
  await stage.until(what, async () => {
    for (const pod of await podsOf(stage))
      if (!pod.status?.phase || pod.status.phase === "Pending") await run(stage, pod);
    return holds();
  });
}

export async function find<T extends KubeObject>(
  { client }: Stage,
  kind: KindRef<T>,
  key: ObjectKey,
): Promise<T | undefined> {
  return client.get(kind, key).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

/** `True MinimumReplicasAvailable`, or undefined. */
export function conditionOf(object: KubeObject | undefined, type: string): string | undefined {
  const { status } = (object ?? {}) as {
    status?: { conditions?: { type: string; status: string; reason?: string }[] };
  };
  const found = status?.conditions?.find((condition) => condition.type === type);
  return found && `${found.status} ${found.reason}`;
}

/** The events about an object: `Normal ScalingReplicaSet Scaled up …`, oldest first. */
export async function eventsAbout({ client, namespace }: Stage, kind: string, name: string): Promise<string[]> {
  const { items } = await client.list(Event, { namespace });
  return items
    .filter(({ involvedObject }) => involvedObject.kind === kind && involvedObject.name === name)
    .sort((a, b) => ((a.firstTimestamp ?? "") < (b.firstTimestamp ?? "") ? -1 : 1))
    .map(({ type, reason, message }) => `${type} ${reason} ${message}`);
}

/** Asserts that an event about an object was recorded. */
export async function assertEvent(stage: Stage, kind: string, name: string, what: RegExp): Promise<void> {
  let events: string[] = [];
  await stage.until(`an event about ${kind} ${name} says ${what}`, async () => {
    events = await eventsAbout(stage, kind, name);
    return events.some((line) => what.test(line));
  });
  assert.ok(events.length > 0);
}
