import { isAlreadyExists, isNotFound, keyOf, type ObjectKey } from "@konverge/core";
import { Node, PersistentVolume, Pod, VolumeAttachment } from "@konverge/kinds";
import { type CacheView, EventRecorder } from "@konverge/runtime";
import { KeyWorker } from "../../parts/key-worker.ts";
import type { ComponentContext, ControlPlaneComponent } from "../../parts/part.ts";
import { isTerminal } from "../workloads/pod-state.ts";
import { sameStored } from "../workloads/status.ts";
import {
  attachmentName,
  ClaimedVolumes,
  claimKeysOf,
  isAttachmentName,
  isSharable,
  MANAGED_ATTACHING,
  uniqueVolumeName,
} from "./attachable.ts";

const NAME = "attachdetach-controller";
const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";
/** Milliseconds after which a volume is detached from an unhealthy node that still lists it as in use. */
const MAX_WAIT_FOR_UNMOUNT = 360_000;

/** A volume that pods on a node need there. */
interface DesiredVolume {
  readonly volume: PersistentVolume;
  readonly pods: Pod[];
}

/**
 * Attaches volumes to the nodes of pods that use them, and detaches them when no pod does.
 *
 * Flow, for each node: every volume that a pod needs gets a VolumeAttachment, which the driver's attacher carries out. What is
 * attached is listed in the node's `status.volumesAttached`: kubelets mount nothing before. To detach, the volume first leaves
 * that list; the VolumeAttachment is deleted if the node, read after that, does not list the volume as in use.
 */
class AttachDetach {
  readonly #context: ComponentContext;
  readonly #worker: KeyWorker;
  readonly #recorder: EventRecorder;
  readonly #claimed: ClaimedVolumes;
  readonly #pods: CacheView<Pod>;
  readonly #nodes: CacheView<Node>;
  readonly #attachments: CacheView<VolumeAttachment>;
  /** Nodes by attachments that have been created but not observed yet, with the names of their volumes. */
  readonly #created = new Map<string, { node: string; volume: string }>();
  /** Nodes that wait for a volume to be detached from others, by the volume's name. */
  readonly #blocked = new Map<string, Set<string>>();
  /** What each node has last reported as in use. Outlives the node. */
  readonly #inUse = new Map<string, ReadonlySet<string>>();
  /** Since when attachments have not been needed. */
  readonly #unneeded = new Map<string, number>();
  /** What pods, by uid, have been warned of, and the attachments that they wait for. */
  readonly #reports = new Map<string, Set<string>>();

  constructor(context: ComponentContext) {
    const { cache, client, clock, log } = context;
    this.#context = context;
    this.#worker = new KeyWorker({ clock, log, name: NAME, work: (node) => this.#reconcile(node) });
    this.#recorder = new EventRecorder({ client, clock, component: NAME, instance: NAME });
    this.#claimed = new ClaimedVolumes(cache);
    this.#pods = cache.use(Pod);
    this.#nodes = cache.use(Node);
    this.#attachments = cache.use(VolumeAttachment);
  }

  async start(): Promise<this> {
    const { claims, volumes, drivers } = this.#claimed;
    const views = [this.#pods, this.#nodes, this.#attachments, this.#claimed];
    await Promise.all(views.map((view) => view.whenSynced()));
    this.#pods.addIndex("node", ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
    this.#pods.addIndex("claim", claimKeysOf);
    this.#attachments.addIndex("node", ({ spec }) => [spec.nodeName]);
    this.#attachments.addIndex("volume", ({ spec }) => [spec.source.persistentVolumeName ?? ""]);
    this.#attachments.subscribe(({ key, object: { spec } }) => {
      this.#created.delete(key);
      this.#worker.add(spec.nodeName);
      for (const node of this.#blocked.get(spec.source.persistentVolumeName ?? "") ?? []) this.#worker.add(node);
    });
    this.#nodes.subscribe(({ key, object }) => {
      this.#inUse.set(key, new Set(object.status?.volumesInUse));
      this.#worker.add(key);
    });
    const usersOf = (claim: ObjectKey) => {
      for (const pod of this.#pods.find("claim", claim)) this.#addNodeOf(this.#pods.get(pod));
    };
    this.#pods.subscribe(({ type, object }) => {
      if (type === "deleted") this.#reports.delete(object.metadata.uid!);
      if (claimKeysOf(object).length > 0) this.#addNodeOf(object);
    });
    claims.subscribe(({ key }) => usersOf(key));
    volumes.subscribe(({ object: { spec } }) => usersOf(`${spec?.claimRef?.namespace}/${spec?.claimRef?.name}`));
    drivers.subscribe(() => {
      for (const node of this.#nodes.keys()) this.#worker.add(node);
    });
    return this;
  }

  async stop(): Promise<void> {
    await this.#worker.stop();
  }

  #addNodeOf(pod: Pod | undefined): void {
    if (pod?.spec?.nodeName) this.#worker.add(pod.spec.nodeName);
  }

  async #reconcile(name: string): Promise<number | undefined> {
    const node = this.#nodes.get(name);
    const isManaged = node?.metadata.annotations?.[MANAGED_ATTACHING] !== undefined;
    const desired = isManaged ? this.#desiredOn(name) : new Map<string, DesiredVolume>();
    const attachments = this.#attachmentsOf("node", name);
    if (!node && attachments.length === 0) this.#inUse.delete(name);
    for (const [attachment, needed] of desired) {
      const found = attachments.find(({ metadata }) => metadata.name === attachment);
      if (!found) await this.#attach(name, attachment, needed);
      else if (!found.metadata.deletionTimestamp) this.#report(found, needed);
    }
    const alive = attachments.filter(({ metadata }) => !metadata.deletionTimestamp);
    const unneeded = alive.filter(({ metadata }) => !desired.has(metadata.name));
    for (const { metadata } of alive) if (desired.has(metadata.name)) this.#unneeded.delete(metadata.name);
    const { leaving, wait } = this.#leaving(node, unneeded);
    if (node) await this.#list(node, alive, leaving);
    for (const attachment of leaving) await this.#detach(node, attachment);
    return wait;
  }

  #attachmentsOf(index: "node" | "volume", value: string): VolumeAttachment[] {
    const all = [...this.#attachments.find(index, value)].map((key) => this.#attachments.get(key)!);
    return all.filter(({ metadata }) => isAttachmentName(metadata.name));
  }

  /** By the names of their attachments. */
  #desiredOn(node: string): Map<string, DesiredVolume> {
    const desired = new Map<string, DesiredVolume>();
    for (const key of this.#pods.find("node", node)) {
      const pod = this.#pods.get(key)!;
      if (isOver(pod)) continue;
      for (const { volume } of this.#claimed.of(pod)) {
        if (!this.#claimed.isAttachable(volume)) continue;
        const name = attachmentName(volume, node);
        const known = desired.get(name);
        if (known) known.pods.push(pod);
        else desired.set(name, { volume, pods: [pod] });
      }
    }
    return desired;
  }

  async #attach(node: string, name: string, { volume, pods }: DesiredVolume): Promise<void> {
    const volumeName = volume.metadata.name;
    for (const pod of pods) this.#reportsOf(pod).add(name);
    if (this.#created.has(name)) return;
    const others = isSharable(volume) ? [] : this.#nodesWith(volumeName).filter((other) => other !== node);
    if (others.length > 0) {
      this.#blocked.set(volumeName, (this.#blocked.get(volumeName) ?? new Set()).add(node));
      this.#reportInUse(name, { volume, pods }, others);
      return;
    }
    this.#blocked.get(volumeName)?.delete(node);
    this.#created.set(name, { node, volume: volumeName });
    const spec = { attacher: volume.spec!.csi!.driver, nodeName: node, source: { persistentVolumeName: volumeName } };
    // Direct writes: attachments belong to no object, and the node's status is the kubelet's but for this list.
    await this.#context.client.create(VolumeAttachment, { metadata: { name }, spec }).catch((error: unknown) => {
      this.#created.delete(name);
      if (!isAlreadyExists(error)) throw error;
    });
  }

  #nodesWith(volume: string): string[] {
    const created = [...this.#created.values()].filter((one) => one.volume === volume).map((one) => one.node);
    return [...created, ...this.#attachmentsOf("volume", volume).map(({ spec }) => spec.nodeName)];
  }

  #reportInUse(attachment: string, { volume, pods }: DesiredVolume, nodes: readonly string[]): void {
    const users = [...new Set(nodes)].flatMap((node) => {
      return this.#desiredOn(node).get(attachmentName(volume, node))?.pods ?? [];
    });
    for (const pod of pods) {
      const message = `Multi-Attach error for volume "${volume.metadata.name}" ${usedBy(pod, users)}`;
      this.#warn(pod, attachment, message);
    }
  }

  /** Reports the outcome of an attachment to the pods that wait for it. */
  #report({ metadata: { name }, status }: VolumeAttachment, { volume, pods }: DesiredVolume): void {
    for (const pod of pods) {
      const reports = this.#reportsOf(pod);
      if (status?.attached) {
        if (!reports.delete(name)) continue;
        const message = `AttachVolume.Attach succeeded for volume "${volume.metadata.name}" `;
        this.#recorder.about(pod).normal("SuccessfulAttachVolume", message);
      } else {
        reports.add(name);
        const { message, time } = status?.attachError ?? {};
        const failed = `AttachVolume.Attach failed for volume "${volume.metadata.name}" : ${message}`;
        if (message !== undefined) this.#warn(pod, `${name} ${time}`, failed);
      }
    }
  }

  #warn(pod: Pod, about: string, message: string): void {
    const reports = this.#reportsOf(pod);
    if (reports.has(`warned of ${about}`)) return;
    reports.add(`warned of ${about}`);
    this.#recorder.about(pod).warning("FailedAttachVolume", message);
  }

  #reportsOf({ metadata: { uid = "" } }: Pod): Set<string> {
    const reports = this.#reports.get(uid) ?? new Set();
    this.#reports.set(uid, reports);
    return reports;
  }

  /** Attachments to delete now, and how long to wait for the next. */
  #leaving(node: Node | undefined, unneeded: readonly VolumeAttachment[]) {
    const now = this.#context.clock.now();
    const isHealthy = node?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
    const isOutOfService = node?.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE);
    const leaving: VolumeAttachment[] = [];
    let wait: number | undefined;
    for (const attachment of unneeded) {
      const { name } = attachment.metadata;
      const since = this.#unneeded.get(name) ?? now;
      this.#unneeded.set(name, since);
      const left = since + MAX_WAIT_FOR_UNMOUNT - now;
      if (!this.#isInUse(attachment) || isOutOfService || (!isHealthy && left <= 0)) leaving.push(attachment);
      else if (!isHealthy) wait = Math.min(wait ?? left, left);
    }
    return { leaving, wait };
  }

  #isInUse(attachment: VolumeAttachment): boolean {
    const name = this.#volumeNameOf(attachment);
    return name !== undefined && (this.#inUse.get(attachment.spec.nodeName)?.has(name) ?? false);
  }

  #volumeNameOf({ spec }: VolumeAttachment): string | undefined {
    const volume = this.#claimed.volumes.get(spec.source.persistentVolumeName ?? "");
    return volume && uniqueVolumeName(volume);
  }

  async #list(node: Node, all: readonly VolumeAttachment[], leaving: readonly VolumeAttachment[]): Promise<void> {
    const attached = all.filter((one) => one.status?.attached && !leaving.includes(one));
    const names = attached.flatMap((one) => this.#volumeNameOf(one) ?? []).sort();
    const volumesAttached = names.map((name) => ({ name, devicePath: "" }));
    if (sameStored(node.status?.volumesAttached, volumesAttached)) return;
    await this.#context.client.patchStatus(Node, keyOf(node), { merge: { status: { volumesAttached } } });
  }

  async #detach(node: Node | undefined, attachment: VolumeAttachment): Promise<void> {
    const { client } = this.#context;
    const { name, uid } = attachment.metadata;
    const absent = (error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    };
    if (node && !this.#isInUse(attachment)) {
      // Its kubelet may have begun to use the volume before it left the list.
      const { status } = (await client.get(Node, keyOf(node)).catch(absent)) ?? {};
      if (status?.volumesInUse?.includes(this.#volumeNameOf(attachment) ?? "")) return;
    }
    this.#unneeded.delete(name);
    await client.delete(VolumeAttachment, name, { preconditions: { uid: uid! } }).catch(absent);
  }
}

/** Whether the volumes of a pod are no longer needed: it has ended, or is being deleted and nothing of it runs. */
function isOver(pod: Pod): boolean {
  if (isTerminal(pod)) return true;
  const runs = pod.status?.containerStatuses?.some(({ state }) => !state?.terminated && !state?.waiting);
  return pod.metadata.deletionTimestamp !== undefined && !runs;
}

/** Why a pod waits for a volume. Names only pods in its namespace: its user may have no access to others. */
function usedBy({ metadata: { namespace } }: Pod, users: readonly Pod[]): string {
  if (users.length === 0) return "Volume is already exclusively attached to one node and can't be attached to another";
  const local = users.filter(({ metadata }) => metadata.namespace === namespace).map(({ metadata }) => metadata.name);
  const others = users.length - local.length;
  const elsewhere = `${others} pod(s) in different namespaces`;
  if (local.length === 0) return `Volume is already used by ${elsewhere}`;
  return `Volume is already used by pod(s) ${local.join(", ")}${others > 0 ? ` and ${elsewhere}` : ""}`;
}

/** Attaches volumes to nodes for pods, and detaches them. */
export const attachDetach: ControlPlaneComponent = {
  name: NAME,
  startsWith: [PersistentVolume],
  start: async (context) => new AttachDetach(context).start(),
};
