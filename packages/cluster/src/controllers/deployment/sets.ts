import type { Deployment, ReplicaSet } from "@konverge/kinds";

/** The ReplicaSets of a Deployment: the one for its template, if there is one, and those for earlier templates. */
export interface Sets {
  deployment: Deployment;
  current: ReplicaSet | undefined;
  old: ReplicaSet[];
}

export const replicasOf = (set: ReplicaSet): number => set.spec?.replicas ?? 1;
export const allSets = ({ current, old }: Sets): ReplicaSet[] => (current ? [...old, current] : old);
