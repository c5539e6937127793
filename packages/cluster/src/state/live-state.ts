import { type Snapshot, stateOf } from "@konverge/apiserver";
import type { AnyObject } from "@konverge/core";
import { RUNTIME } from "../parts/simulated-node.ts";

/**
 * The state of a live cluster, as an embedded one can begin with it: the objects as they are, but for its nodes, for which
 * simulated kubelets answer from now on.
 */
export function liveState(objects: readonly AnyObject[], revision: number): Promise<Snapshot> {
  return stateOf(objects.map(simulated), revision);
}

function simulated(object: AnyObject): AnyObject {
  if (object.kind !== "Node") return object;
  const status = object["status"] as { nodeInfo?: object } | undefined;
  return {
    ...object,
    status: { ...status, nodeInfo: { ...status?.nodeInfo, containerRuntimeVersion: RUNTIME } },
  } as AnyObject;
}

/** The newest timestamp in the objects of a state, in milliseconds since 1970; undefined if they have none. */
export function timeOf({ collections }: Snapshot): number | undefined {
  let newest = "";
  for (const collection of collections.values()) {
    for (const { text } of collection.scan("")) {
      for (const [, time] of text.matchAll(WRITTEN)) if (time! > newest) newest = time!;
    }
  }
  return newest === "" ? undefined : Date.parse(`${newest}Z`);
}

const WRITTEN = /"(?:creationTimestamp|time)":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)[^"]*"/g;
