import type { Drafted } from "konverge";
import { Pod } from "konverge/kinds";
import { templateHash } from "konverge/objects";
import { NODE_TYPE } from "./ray-children.ts";
import { isReady } from "./ray-status.ts";

/** On pods: what they were made from. */
export const TEMPLATE = "konverge.dev/pod-template";

/** The pods that a cluster shall have now, and those that make way for others. */
export interface Rollout {
  readonly pods: readonly Drafted<Pod>[];
  readonly replace: readonly Pod[];
}

/** How pods of an older template are replaced: all with the others at once, not at all, or one at a time. */
type Strategy = "Recreate" | "None" | undefined;

/**
 * Pods of an older template stay as they are until it is their turn: one at a time while all others are ready, workers first,
 * the head last, with which the cluster loses what runs on it. One that does not become ready makes way at once.
 */
export function rolloutOf(wanted: readonly Drafted<Pod>[], existing: readonly Pod[], strategy?: Strategy): Rollout {
  const marked = wanted.map((draft) => withMark(draft, templateHash(draft.spec)));
  const standing = existing.filter(({ metadata }) => !metadata.deletionTimestamp);
  const outdated = marked.flatMap((draft) => {
    const live = standing.find(({ metadata }) => metadata.name === draft.metadata.name);
    const mark = live?.metadata.annotations?.[TEMPLATE];
    // What an operator without these marks has made is taken for what is wanted.
    return live && mark !== undefined && mark !== draft.metadata.annotations?.[TEMPLATE] ? [live] : [];
  });
  const pods = marked.map((draft) => {
    const live = outdated.find(({ metadata }) => metadata.name === draft.metadata.name);
    return live ? asItIs(draft, live) : draft;
  });
  if (strategy === "None" || outdated.length === 0) return { pods, replace: [] };
  // None of another template starts beside them.
  if (strategy === "Recreate") return { pods: [], replace: standing };
  const stuck = outdated.find((pod) => !isReady(pod));
  const isWhole = marked.length === standing.length && standing.every(isReady);
  const next = outdated.find(({ metadata }) => metadata.labels?.[NODE_TYPE] === "worker") ?? outdated[0];
  const replace = stuck ?? (isWhole ? next : undefined);
  // Applied once more, the pod that makes way would come back as it was.
  const staying = pods.filter(({ metadata }) => metadata.name !== replace?.metadata.name);
  return { pods: staying, replace: replace ? [replace] : [] };
}

function withMark(draft: Drafted<Pod>, mark: string): Drafted<Pod> {
  const { metadata } = draft;
  return Pod.draft({ ...draft, metadata: { ...metadata, annotations: { ...metadata.annotations, [TEMPLATE]: mark } } });
}

function asItIs({ metadata }: Drafted<Pod>, live: Pod): Drafted<Pod> {
  const annotations = { ...metadata.annotations, [TEMPLATE]: live.metadata.annotations![TEMPLATE]! };
  return Pod.draft({ metadata: { ...metadata, annotations }, spec: live.spec! });
}
