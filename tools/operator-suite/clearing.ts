import type { Client } from "@konverge/client";
import { isAlreadyExists, sleep } from "@konverge/core";
import { Namespace } from "@konverge/kinds";
import type { OperatorTestEnvironment, TestEnvironment } from "@konverge/testing";

/** Objects that every namespace has, or that are deleted automatically. */
const KEPT =
  /^(ServiceAccount default|ConfigMap kube-root-ca\.crt|Service kubernetes|Endpoint.* kubernetes|Event .*|Lease .*)$/;
/** Milliseconds that operators are given to clean up after their objects. */
const GRACE = 20_000;

/** What a namespace lets pods do. */
export type PodSecurityLevel = "privileged" | "restricted";

/** The label of a namespace that enforces a Pod Security Standard. Pods that operators make run under the strictest. */
export const enforcing = (level: PodSecurityLevel = "restricted") => ({ "pod-security.kubernetes.io/enforce": level });

/** Lets the pods of a scenario do anything: for a folder of the node, or a builder of images, which runs as root. */
export async function allowPrivileged({ client, namespace }: TestEnvironment): Promise<void> {
  await client.patch(Namespace, namespace, { merge: { metadata: { labels: enforcing("privileged") } } });
}

/** Makes a namespace; false if it is one that was there already. */
export async function freshNamespace(client: Client, name: string, level?: PodSecurityLevel): Promise<boolean> {
  const labels = enforcing(level);
  const deadline = client.clock.monotonic() + 60_000;
  for (;;) {
    try {
      await client.create(Namespace, { metadata: { name, labels } });
      return true;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const known = await client.get(Namespace, name).catch(() => undefined);
      if (known && !known.metadata.deletionTimestamp) {
        await client.patch(Namespace, name, { merge: { metadata: { labels } } });
        return false;
      }
      if (client.clock.monotonic() > deadline)
        throw new Error(`the namespace ${name} of the last scenario does not go`);
      await sleep(client.clock, 200);
    }
  }
}

/** Deletes the objects of the operators' own kinds while their operators can still clean up after them. */
export async function withoutInstances(stage: OperatorTestEnvironment): Promise<void> {
  const { client, namespace } = stage;
  const deadline = client.clock.monotonic() + GRACE;
  for (const kind of stage.kinds) {
    if (kind.namespaced) await client.deleteCollection(kind, { namespace }).catch(() => undefined);
  }
  for (const kind of stage.kinds) {
    while ((await stage.list(kind).catch(() => [])).length > 0 && client.clock.monotonic() < deadline) {
      await sleep(client.clock, 200);
    }
  }
}

/** Deletes what a scenario left in a namespace that stays. */
export async function emptied(client: Client, namespace: string): Promise<void> {
  const { resources } = await client.mapper.refresh();
  for (const kind of resources) {
    if (!kind.namespaced || !kind.verbs.includes("delete") || !kind.verbs.includes("list")) continue;
    const { items } = await client.list(kind, { namespace }).catch(() => ({ items: [] }));
    for (const { metadata } of items) {
      if (KEPT.test(`${kind.kind} ${metadata.name}`)) continue;
      await client.delete(kind, `${namespace}/${metadata.name}`).catch(() => undefined);
    }
  }
}
