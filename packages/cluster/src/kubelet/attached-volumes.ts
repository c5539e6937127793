import { deepEqual } from "@konverge/core";
import { Node, type Pod } from "@konverge/kinds";
import type { CacheView } from "@konverge/runtime";
import { type ClaimedVolume, claimKeysOf, uniqueVolumeName } from "../controllers/volume/attachable.ts";
import { isTerminal } from "../controllers/workloads/pod-state.ts";
import { KeyWorker } from "../parts/key-worker.ts";
import type { ComponentContext } from "../parts/part.ts";
import type { ConfigSource } from "./config-source.ts";

/** A pod on a node, as far as volumes are concerned. */
export interface VolumeUser {
  readonly pod: Pod;
  /** Its volumes are mounted. */
  readonly isMounted: boolean;
}

/**
 * The volumes that nodes use: reported in `status.volumesInUse` of each node before they are mounted, and until they no longer
 * are. The attach-detach controller leaves those where they are.
 */
export class AttachedVolumes {
  readonly #config: ConfigSource;
  readonly #nodes: CacheView<Node>;
  readonly #usersOn: (node: string) => ReadonlySet<VolumeUser> | undefined;
  readonly #worker: KeyWorker;
  /** Nodes that have had a pod with a claim: there is nothing to report of others. */
  readonly #concerned = new Set<string>();

  /** `usersOn`: undefined of nodes whose kubelet is not at work. */
  constructor(
    context: ComponentContext,
    config: ConfigSource,
    usersOn: (node: string) => ReadonlySet<VolumeUser> | undefined,
  ) {
    const { client, clock, log, cache } = context;
    this.#config = config;
    this.#usersOn = usersOn;
    this.#nodes = cache.use(Node);
    this.#worker = new KeyWorker({
      clock,
      log,
      name: "kubelet: volumes in use",
      work: async (name) => {
        const [node, users] = [this.#nodes.get(name), this.#usersOn(name)];
        if (!node || !users) return undefined;
        const volumesInUse = this.#inUse(users);
        if (deepEqual(volumesInUse, node.status?.volumesInUse ?? [])) return undefined;
        await client.patchStatus(Node, name, { merge: { status: { volumesInUse } } });
        return undefined;
      },
    });
  }

  async stop(): Promise<void> {
    await this.#worker.stop();
  }

  /** A pod came, changed or went: what its node uses may be different. */
  podChanged(pod: Pod): void {
    const name = pod.spec?.nodeName ?? "";
    if (claimKeysOf(pod).length > 0) this.#concerned.add(name);
    this.changedOn(name);
  }

  /** The node, or an object that its pods depend on, has changed. */
  changedOn(node: string): void {
    if (this.#concerned.has(node)) this.#worker.add(node);
  }

  /** The volumes of a pod that its node does not have yet, by the pod's names for them. */
  unattached(pod: Pod): string[] {
    const ofClaims = (pod.spec?.volumes ?? []).filter((volume) => volume.persistentVolumeClaim || volume.ephemeral);
    if (ofClaims.length === 0) return [];
    const { claimed } = this.#config;
    const { volumesAttached = [], volumesInUse = [] } = this.#nodes.get(pod.spec?.nodeName ?? "")?.status ?? {};
    const known = new Map(claimed.of(pod).map(({ name, volume }) => [name, volume]));
    const isThere = (name: string) => {
      const volume = known.get(name);
      if (!volume || !claimed.isAttachable(volume)) return volume !== undefined;
      const unique = uniqueVolumeName(volume);
      // One that is attached but not known to be in use may be detached at any moment.
      return volumesInUse.includes(unique) && volumesAttached.some((attached) => attached.name === unique);
    };
    return ofClaims.map(({ name }) => name).filter((name) => !isThere(name));
  }

  /** Why a volume of a pod cannot be mounted besides another pod's on the same node. */
  exclusiveProblem(pod: Pod): string | undefined {
    if (claimKeysOf(pod).length === 0) return undefined;
    const exclusive = this.#config.claimed.of(pod).filter(({ volume }) => isExclusive(volume));
    if (exclusive.length === 0) return undefined;
    const others = [...(this.#usersOn(pod.spec?.nodeName ?? "") ?? [])].filter(
      (user) => user.isMounted && user.pod.metadata.uid !== pod.metadata.uid,
    );
    const taken = new Set(
      others.flatMap((user) => this.#config.claimed.of(user.pod).map(({ volume }) => volume.metadata.name)),
    );
    const problem = exclusive.find(({ volume }) => taken.has(volume.metadata.name));
    return (
      problem &&
      `MountVolume.SetUp failed for volume "${problem.volume.metadata.name}" : volume uses the ReadWriteOncePod access mode and is already in use by another pod`
    );
  }

  #inUse(users: ReadonlySet<VolumeUser>): string[] {
    const { claimed } = this.#config;
    const pods = [...users].map(({ pod }) => pod).filter((pod) => !isTerminal(pod));
    const volumes = pods.flatMap((pod) => claimed.of(pod).map(({ volume }) => volume));
    return [...new Set(volumes.filter((one) => claimed.isAttachable(one)).map(uniqueVolumeName))].sort();
  }
}

/** Only with a single access mode does the kubelet know which one a pod uses. */
const isExclusive = ({ spec }: ClaimedVolume["volume"]) => deepEqual(spec?.accessModes, ["ReadWriteOncePod"]);
