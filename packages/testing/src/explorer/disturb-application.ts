import { SIMULATION_ANNOTATION_PREFIX } from "@konverge/cluster";
import { type AnyObject, controllerOf, isNotFound, sleep } from "@konverge/core";
import type { ApplicationFault } from "./application-fault.ts";
import { hasEnded } from "./ended-objects.ts";
import type { World } from "./world.ts";

/** How often a new Job's pods are looked for. They take longer to start. */
const LOOK_MS = 100;

/** Lets a pod or a Job be in trouble: the simulated containers behave as the annotations of their pods say. */
export async function disturbApplication(fault: ApplicationFault, world: World): Promise<void> {
  const { trouble, name, ms } = fault;
  switch (trouble) {
    case "unready":
      await behave(world, name, { ready: "false" });
      // Not awaited: the operator goes on meanwhile.
      world.clock.after(ms, () => void behave(world, name, { ready: null }));
      return;
    case "evicted":
      return behave(world, name, { "evict-after": "0s" });
    case "slow stop":
      return behave(world, name, { "stop-duration": "never" });
    case "job fails":
      void failJob(fault, world);
  }
}

/** The pods of the next Job of this name fail, as many as its controller creates. */
async function failJob({ name, ms }: ApplicationFault, world: World): Promise<void> {
  const known = new Set((await listed(world, "/apis/batch/v1", "jobs")).map(({ metadata }) => metadata.uid));
  const failing = new Set<string>();
  let job: AnyObject | undefined;
  for (const end = world.clock.monotonic() + ms; world.clock.monotonic() < end; await sleep(world.clock, LOOK_MS)) {
    const jobs = await listed(world, "/apis/batch/v1", "jobs");
    job ??= jobs.find(({ metadata }) => !known.has(metadata.uid) && (name === "" || metadata.name === name));
    if (!job) continue;
    const { uid } = job.metadata;
    const current = jobs.find(({ metadata }) => metadata.uid === uid);
    if (!current || hasEnded(current)) return;
    for (const pod of await listed(world, "/api/v1", "pods")) {
      if (controllerOf(pod)?.uid !== uid || failing.has(pod.metadata.name)) continue;
      failing.add(pod.metadata.name);
      await behave(world, pod.metadata.name, { "exit-code": "1" });
    }
  }
}

async function listed({ client, namespace }: World, api: string, plural: string): Promise<readonly AnyObject[]> {
  const text = await client.request({ method: "GET", path: `${api}/namespaces/${namespace}/${plural}` });
  return (JSON.parse(text) as { items: AnyObject[] }).items;
}

/** Sets how the containers of a pod behave. What is gone by now does not behave at all. */
async function behave(
  { client, namespace }: World,
  pod: string,
  behavior: Readonly<Record<string, string | null>>,
): Promise<void> {
  const annotations = Object.fromEntries(
    Object.entries(behavior).map(([key, value]) => [`${SIMULATION_ANNOTATION_PREFIX}${key}`, value]),
  );
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}`;
  try {
    const body = { metadata: { annotations } };
    await client.request({ method: "PATCH", path, body, contentType: "application/merge-patch+json" });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
