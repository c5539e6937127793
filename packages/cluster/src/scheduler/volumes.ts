import type { Client } from "@konverge/client";
import type { Clock, ObjectKey, Timer } from "@konverge/core";
import { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@konverge/kinds";
import type { Cache, View } from "@konverge/runtime";
import type { NodeInfo } from "./node-info.ts";
import { matchesTerm } from "./node-matching.ts";
import type { PodInfo } from "./pod-info.ts";

const SELECTED_NODE = "volume.kubernetes.io/selected-node";
/** How long a volume may take to come, as kube-scheduler waits. */
const PATIENCE = 600_000;

/** What the volumes of one pod say about nodes. */
export interface VolumeRules {
  /** Why the pod can be on no node at all. */
  readonly problem: string | undefined;
  /** Claims that wait for a node to be chosen. */
  readonly waiting: readonly ObjectKey[];
  refuses(node: NodeInfo): string | undefined;
}

/** The volumes of pods: where they can be reached from, and the choice of a node for those that wait for one. */
export class Volumes {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #claims: View<PersistentVolumeClaim>;
  readonly #volumes: View<PersistentVolume>;
  readonly #classes: View<StorageClass>;

  /** Only made for the first pod that has a claim: most clusters never need it. */
  constructor(client: Client, clock: Clock, cache: Cache) {
    this.#client = client;
    this.#clock = clock;
    this.#claims = cache.use(PersistentVolumeClaim);
    this.#volumes = cache.use(PersistentVolume);
    this.#classes = cache.use(StorageClass);
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
    const rules = (problem: string | undefined): VolumeRules => ({
      problem,
      waiting,
      refuses: (node) =>
        bound.every((volume) => isReachable(volume, node))
          ? undefined
          : "node(s) didn't match PersistentVolume's node affinity",
    });
    for (const name of pod.claims) {
      const key = `${pod.namespace}/${name}`;
      const claim = this.#claims.get(key);
      if (!claim) return rules(`persistentvolumeclaim "${name}" not found`);
      if (claim.metadata.deletionTimestamp) return rules(`persistentvolumeclaim "${name}" is being deleted`);
      if (isBound(claim)) {
        const volume = this.#volumes.get(claim.spec?.volumeName ?? "");
        if (volume) bound.push(volume);
      } else if (this.#waitsForConsumer(claim)) waiting.push(key);
      else return rules("pod has unbound immediate PersistentVolumeClaims");
    }
    return rules(undefined);
  }

  /** Chooses the node for claims that wait for one; resolves when they are bound. */
  async bind(keys: readonly ObjectKey[], node: string): Promise<void> {
    for (const key of keys) {
      await this.#client.patch(PersistentVolumeClaim, key, {
        merge: { metadata: { annotations: { [SELECTED_NODE]: node } } },
      });
    }
    await this.#until(() => keys.every((key) => isBound(this.#claims.get(key))));
  }

  #waitsForConsumer({ spec }: PersistentVolumeClaim): boolean {
    return this.#classes.get(spec?.storageClassName ?? "")?.volumeBindingMode === "WaitForFirstConsumer";
  }

  #until(holds: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      if (holds()) return resolve();
      let timer: Timer | undefined;
      let isOver = false;
      const end = (settle: () => void) => {
        isOver = true;
        timer?.cancel();
        settle();
      };
      timer = this.#clock.after(
        PATIENCE,
        () => end(() => reject(new Error("binding volumes: context deadline exceeded"))),
        { label: "scheduler: volumes", background: true },
      );
      this.#claims.subscribe(() => {
        if (!isOver && holds()) end(resolve);
      });
    });
  }
}

function isBound(claim: PersistentVolumeClaim | undefined): boolean {
  return Boolean(claim?.spec?.volumeName) && claim?.status?.phase === "Bound";
}

function isReachable({ spec }: PersistentVolume, node: NodeInfo): boolean {
  const required = spec?.nodeAffinity?.required;
  return !required || required.nodeSelectorTerms.some((term) => matchesTerm(node, term));
}
