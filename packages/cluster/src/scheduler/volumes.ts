import type { Client } from "@konverge/client";
import { type Clock, compareVersions, keyOf, type ObjectKey, type Timer } from "@konverge/core";
import { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@konverge/kinds";
import type { Cache, CacheView } from "@konverge/runtime";
import { matchesTerm } from "../controllers/node/node-matching.ts";
import { BOUND_BY_CONTROLLER, claimReference, SELECTED_NODE, volumeFor } from "../controllers/volume/binding.ts";
import { foreignClaimProblem } from "../controllers/volume/ephemeral-volumes.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodInfo } from "./pod-info.ts";

const NO_PROVISIONER = "kubernetes.io/no-provisioner";
/** How long a volume may take to come, as kube-scheduler waits. */
const PATIENCE = 600_000;

/** What the volumes of one pod say about nodes. */
export interface VolumeRules {
  /** Why the pod can be on no node at all. */
  readonly problem: string | undefined;
  /** Claims that wait for a node to be chosen. */
  readonly waiting: readonly ObjectKey[];
  /** The names of claims that only one pod may use at a time. */
  readonly exclusive: readonly string[];
  refuses(node: NodeInfo): string | undefined;
}

/** The volumes of pods: where they can be reached from, and the choice of a node for those that wait for one. */
export class Volumes {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #claims: CacheView<PersistentVolumeClaim>;
  readonly #volumes: CacheView<PersistentVolume>;
  readonly #classes: CacheView<StorageClass>;
  /** Volumes that have been given to a claim, by their names: no other claim gets them while that is being written. */
  readonly #given = new Map<string, ObjectKey>();
  /** The bindings that wait: called when claims have changed. */
  readonly #waiters = new Set<() => void>();

  /** Only made for the first pod that has a claim: most clusters never need it. */
  constructor(client: Client, clock: Clock, cache: Cache) {
    this.#client = client;
    this.#clock = clock;
    this.#claims = cache.use(PersistentVolumeClaim);
    this.#volumes = cache.use(PersistentVolume);
    this.#classes = cache.use(StorageClass);
    this.#claims.subscribe(() => {
      for (const check of [...this.#waiters]) check();
    });
  }

  async whenSynced(): Promise<void> {
    await Promise.all([this.#claims.whenSynced(), this.#volumes.whenSynced(), this.#classes.whenSynced()]);
  }

  /** Calls back when something about claims or volumes is different. */
  onChange(listener: () => void): void {
    this.#claims.subscribe(listener);
    this.#volumes.subscribe(listener);
    this.#classes.subscribe(listener);
  }

  rulesFor(pod: PodInfo): VolumeRules {
    const bound: PersistentVolume[] = [];
    const waiting: ObjectKey[] = [];
    const unbound: PersistentVolumeClaim[] = [];
    const exclusive: string[] = [];
    const rules = (problem: string | undefined): VolumeRules => ({
      problem,
      waiting,
      exclusive,
      refuses: (node) => {
        if (!bound.every((volume) => isReachable(volume, node)))
          return "node(s) didn't match PersistentVolume's node affinity";
        return this.#choose(unbound, node) ? undefined : "node(s) didn't find available persistent volumes to bind";
      },
    });
    for (const name of pod.claims) {
      const key = `${pod.namespace}/${name}`;
      const claim = this.#claims.get(key);
      const isEphemeral = pod.ephemeralClaims.includes(name);
      if (!claim && isEphemeral)
        return rules(`waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`);
      if (!claim) return rules(`persistentvolumeclaim "${name}" not found`);
      const problem = isEphemeral ? foreignClaimProblem(pod, claim) : undefined;
      if (problem) return rules(problem);
      if (claim.spec?.accessModes?.includes("ReadWriteOncePod")) exclusive.push(name);
      if (claim.metadata.deletionTimestamp) return rules(`persistentvolumeclaim "${name}" is being deleted`);
      if (isBound(claim)) {
        const volume = this.#volumes.get(claim.spec?.volumeName ?? "");
        if (volume) bound.push(volume);
      } else if (this.#waitsForConsumer(claim)) {
        waiting.push(key);
        unbound.push(claim);
      } else return rules("pod has unbound immediate PersistentVolumeClaims");
    }
    return rules(undefined);
  }

  /**
   * Binds claims with `WaitForFirstConsumer`: to volumes that are reachable from the node, or else to those that their
   * drivers then provision. Resolves when they are bound; throws when one of them is deleted, or no longer selects the node.
   */
  async bind(keys: readonly ObjectKey[], node: NodeInfo): Promise<void> {
    const claims = keys.flatMap((key) => this.#claims.get(key) ?? []);
    const chosen = this.#choose(claims, node);
    if (!chosen || claims.length < keys.length) throw new Error(`no volumes for ${keys.join()} on ${node.name}`);
    for (const [key, volume] of chosen) if (volume) this.#given.set(volume.metadata.name, key);
    const selectedIn = new Map<ObjectKey, string>();
    try {
      for (const claim of claims) {
        const volume = chosen.get(keyOf(claim));
        if (volume) await this.#give(volume, claim);
        else {
          const { uid } = claim.metadata;
          const metadata = { uid, annotations: { [SELECTED_NODE]: node.name } };
          const asked = await this.#client.patch(PersistentVolumeClaim, keyOf(claim), { merge: { metadata } as never });
          selectedIn.set(keyOf(claim), asked.metadata.resourceVersion ?? "");
        }
      }
      await this.#untilBound(claims, node.name, selectedIn);
    } finally {
      for (const volume of chosen.values()) if (volume) this.#given.delete(volume.metadata.name);
    }
  }

  /** The volume for each claim on a node, or undefined for one to be provisioned. Undefined if a claim gets none. */
  #choose(claims: readonly PersistentVolumeClaim[], node: NodeInfo): Chosen | undefined {
    const chosen: Chosen = new Map();
    if (claims.length === 0) return chosen;
    const taken = new Set<string>();
    const free = [...this.#volumes.list()].filter((volume) => isReachable(volume, node));
    for (const claim of claims) {
      const key = keyOf(claim);
      const selected = claim.metadata.annotations?.[SELECTED_NODE];
      if (selected !== undefined && selected !== node.name) return undefined;
      const mine = free.filter(({ metadata: { name } }) => !taken.has(name) && (this.#given.get(name) ?? key) === key);
      const volume = selected === undefined ? volumeFor(claim, mine) : undefined;
      if (volume) taken.add(volume.metadata.name);
      else if (!this.#canBeMade(claim, node)) return undefined;
      chosen.set(key, volume);
    }
    return chosen;
  }

  async #give(volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
    if (volume.spec?.claimRef?.uid) return;
    const annotations = { ...volume.metadata.annotations, [BOUND_BY_CONTROLLER]: "yes" };
    await this.#client.update(PersistentVolume, {
      ...volume,
      metadata: { ...volume.metadata, annotations },
      spec: { ...volume.spec, claimRef: claimReference(claim) },
    });
  }

  /** Whether the driver of a claim's class makes volumes for a node. */
  #canBeMade({ spec }: PersistentVolumeClaim, node: NodeInfo): boolean {
    const storageClass = this.#classes.get(spec?.storageClassName ?? "");
    if (!storageClass || storageClass.provisioner === NO_PROVISIONER) return false;
    const { allowedTopologies = [] } = storageClass;
    const isIn = ({ key, values }: { key: string; values: readonly string[] }) =>
      values.includes(node.labels[key] ?? "");
    return (
      allowedTopologies.length === 0 ||
      allowedTopologies.some(({ matchLabelExpressions = [] }) => matchLabelExpressions.every(isIn))
    );
  }

  #waitsForConsumer({ spec }: PersistentVolumeClaim): boolean {
    return this.#classes.get(spec?.storageClassName ?? "")?.volumeBindingMode === "WaitForFirstConsumer";
  }

  /** `selectedIn`: the resource versions in which the node was selected for the claims. */
  #untilBound(
    claims: readonly PersistentVolumeClaim[],
    node: string,
    selectedIn: ReadonlyMap<ObjectKey, string>,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined;
      const end = (error?: Error) => {
        this.#waiters.delete(check);
        timer?.cancel();
        if (error) reject(error);
        else resolve();
      };
      const check = () => {
        const all = claims.map((claim) =>
          stateOf(claim, this.#claims.get(keyOf(claim)), node, selectedIn.get(keyOf(claim))),
        );
        const lost = all.find((state) => state !== "bound" && state !== "waiting");
        if (lost !== undefined) end(new Error(lost));
        else if (all.every((state) => state === "bound")) end();
      };
      const late = () => end(new Error("binding volumes: context deadline exceeded"));
      timer = this.#clock.after(PATIENCE, late, { label: "scheduler: volumes", background: true });
      this.#waiters.add(check);
      check();
    });
  }
}

/** The state of a claim that is to be bound: "bound", "waiting", or why it never will be. */
function stateOf(
  { metadata: { name, uid } }: PersistentVolumeClaim,
  now: PersistentVolumeClaim | undefined,
  node: string,
  selectedIn: string | undefined,
): string {
  if (now?.metadata.uid !== uid || now?.metadata.deletionTimestamp) return `persistentvolumeclaim "${name}" not found`;
  if (isBound(now)) return "bound";
  const isSelected = selectedIn !== undefined && compareVersions(now?.metadata.resourceVersion, selectedIn) >= 0;
  const isDeselected = isSelected && now?.metadata.annotations?.[SELECTED_NODE] !== node;
  return isDeselected ? `provisioning failed for PVC "${name}"` : "waiting";
}

/** By claim. */
type Chosen = Map<ObjectKey, PersistentVolume | undefined>;

function isBound(claim: PersistentVolumeClaim | undefined): boolean {
  return Boolean(claim?.spec?.volumeName) && claim?.status?.phase === "Bound";
}

function isReachable({ spec }: PersistentVolume, node: NodeInfo): boolean {
  const required = spec?.nodeAffinity?.required;
  return !required || required.nodeSelectorTerms.some((term) => matchesTerm(node, term));
}
