import type { ApiServer, Authority } from "@konverge/apiserver";
import type { Client } from "@konverge/client";
import type { Clock, KindRef, KubeObject } from "@konverge/core";
import { type Cache, type Controller, type Log, Manager } from "@konverge/runtime";
import type { NodePulse } from "./node-pulse.ts";
import type { ServedKinds } from "./served-kinds.ts";

/** Volumes that are folders of real nodes. */
export interface LocalVolumes {
  /** Makes an empty one and returns where its node finds it; undefined for a node whose folders are out of reach. */
  create(node: string, name: string): Promise<string | undefined>;
  delete(node: string, name: string): Promise<void>;
}

/** What a part of the control plane works with. */
export interface ComponentContext {
  /** Acts in the part's own name. */
  readonly client: Client;
  /** What is known of the cluster, shared by all parts. Started already; ends with the part. */
  readonly cache: Cache;
  readonly clock: Clock;
  readonly kinds: ServedKinds;
  /** Which nodes are alive. */
  readonly pulse: NodePulse;
  /** The certificate by which clients know the server, in PEM; empty for a server without a port. */
  readonly rootCertificate: string;
  /** Signs the certificates of the server's clients. */
  readonly authority: () => Authority;
  /** A token of a service account that lasts as long as the Secret that holds it. */
  readonly secretToken: ApiServer["access"]["serviceAccounts"]["issueLegacy"];
  /** Of a cluster with real nodes. */
  readonly localVolumes?: LocalVolumes;
  readonly log: Log;
}

/** A part at work. */
export interface RunningComponent {
  stop(): Promise<void>;
}

/** A part of the control plane: it begins to work when there is something for it to do. */
export interface ControlPlaneComponent {
  /** As kube-controller-manager calls it; the name of its user and of the source of its events. */
  readonly name: string;
  /** It starts with the first object of one of these kinds; without any, with the cluster. */
  readonly startsWith: readonly KindRef<KubeObject>[] | "cluster";
  /** Whose service account it acts as. Default: the name. */
  readonly user?: string;
  /** The field manager of its writes. Default: `kube-controller-manager`. */
  readonly fieldManager?: string;
  /** Creates what has to exist before the cluster is used. Takes no time on any clock. */
  prepare?(context: ComponentContext): Promise<void>;
  start(context: ComponentContext): Promise<RunningComponent>;
}

/**
 * A component that consists of ordinary controllers. They are created at every start, so none of their state outlives a
 * cluster.
 */
export function controllersComponent(
  name: string,
  startsWith: ControlPlaneComponent["startsWith"],
  controllers: (context: ComponentContext) => readonly Controller[],
  options: Pick<ControlPlaneComponent, "fieldManager" | "prepare"> = {},
): ControlPlaneComponent {
  return {
    name,
    startsWith,
    ...options,
    async start(context) {
      const { client, cache, log } = context;
      const manager = new Manager(controllers(context), {
        client,
        cache,
        log,
        identity: name,
        gracefulShutdownTimeout: 1_000,
      });
      await manager.start();
      return manager;
    },
  };
}
