import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Cluster, ClusterPort, LocalVolumes } from "@konverge/cluster";
import type { Clock } from "@konverge/core";
import {
  findLinuxNodes,
  findPrograms,
  importImage,
  type LinuxNode,
  MissingPrerequisites,
  type NodeNetwork,
  openNetwork,
  type ProgramChoice,
  removeLinuxNode,
  removeLinuxNodes,
  startLinuxNode,
  volumesOf,
} from "@konverge/linux-node";
import { DEFAULT_IMAGE } from "../manifests/defaults.ts";
import type { OperatorCatalog } from "../operator-image/catalog.ts";
import { writeOperatorArchive } from "../operator-image/operator-archive.ts";
import { UsageError } from "../usage-error.ts";
import { bootstrapKubeconfig } from "./bootstrap-kubeconfig.ts";
import { nodesFolder } from "./nodes-folder.ts";

/** Throws with all that is missing for real nodes on this machine. */
export function checkPrerequisites(choice: ProgramChoice): void {
  try {
    findPrograms(choice);
  } catch (error) {
    throw error instanceof MissingPrerequisites ? new UsageError(error.message, { cause: error }) : error;
  }
}

/** The real nodes of a cluster on this machine. */
export interface RealNodesOptions extends ProgramChoice {
  readonly cluster: string;
  readonly count: number;
  /** The certificate of the cluster's authority. */
  readonly certificateAuthority: string;
  /** Volumes are kept there by node; otherwise they end with their nodes. */
  readonly volumes?: string;
  readonly clusterCidr?: string;
  readonly clock: Clock;
}

/** The real nodes of a cluster: their network first, so that the API server can listen there, then the nodes. */
export class RealNodes {
  readonly network: NodeNetwork;
  readonly #options: RealNodesOptions;
  readonly #folder: string;

  private constructor(network: NodeNetwork, options: RealNodesOptions) {
    this.network = network;
    this.#options = options;
    this.#folder = nodesFolder(options.cluster);
  }

  /** Nodes that outlived their control plane stay if it is the same one that starts again; others are removed. */
  static async prepare(options: RealNodesOptions): Promise<RealNodes> {
    checkPrerequisites(options);
    const folder = nodesFolder(options.cluster);
    const isSame = ({ folder: own }: LinuxNode) => {
      const file = join(own, "ca.crt");
      return existsSync(file) && readFileSync(file, "utf8") === options.certificateAuthority;
    };
    const found = findLinuxNodes(folder);
    if (found.length === 0 || !found.every(isSame)) await removeLinuxNodes(folder, options.clock);
    return new RealNodes(await openNetwork(folder, options.clusterCidr), options);
  }

  /** Starts those that do not run, and resolves when all are ready; rejects when `signal` fires before. */
  async start(cluster: Cluster, port: ClusterPort, signal?: AbortSignal): Promise<void> {
    const { client } = cluster;
    const { clock } = this.#options;
    const running = new Set<string>();
    for (const node of findLinuxNodes(this.#folder)) {
      if (node.pid === undefined) await removeLinuxNode(this.#folder, node.name, clock);
      else running.add(node.name);
    }
    const names = Array.from({ length: this.#options.count }, (_, index) => `linux-${index + 1}`);
    const kubeconfig = await bootstrapKubeconfig(cluster, port);
    const { kubelet, kubeProxy, ociRuntime, volumes, certificateAuthority } = this.#options;
    const starting = names
      .filter((one) => !running.has(one))
      .map((name) =>
        startLinuxNode({
          ...{ folder: this.#folder, name, client, clock, bootstrapKubeconfig: kubeconfig, certificateAuthority },
          ...(signal && { signal }),
          ...(kubelet !== undefined && { kubelet }),
          ...(kubeProxy !== undefined && { kubeProxy }),
          ...(ociRuntime !== undefined && { ociRuntime }),
          ...(volumes !== undefined && { volumes: join(volumes, name) }),
        }),
      );
    // All of them have ended before those that started are removed because of one that did not.
    const outcomes = await Promise.allSettled(starting);
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }

  /** Puts the image of operators into the nodes' stores: their pods run it, and no registry has it. */
  async loadOperators(catalog: OperatorCatalog): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), "konverge-operators-"));
    try {
      const archive = await writeOperatorArchive(catalog, { image: `docker.io/${DEFAULT_IMAGE}`, folder });
      for (const node of findLinuxNodes(this.#folder)) await importImage(node, archive);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Volumes of those nodes are folders of this machine. */
  get localVolumes(): LocalVolumes {
    return volumesOf(this.#folder);
  }

  async remove(): Promise<void> {
    await removeLinuxNodes(this.#folder, this.#options.clock);
  }

  /** After a failure before any node was started. Nodes that outlived an earlier control plane stay for the next one. */
  async removeUnusedNetwork(): Promise<void> {
    if (findLinuxNodes(this.#folder).length === 0) await this.remove();
  }
}
