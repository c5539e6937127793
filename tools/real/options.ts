import type { GpuNodes } from "./nodes.ts";

export interface RealClusterOptions {
  /** Version to run, if it has been built. */
  kubernetes?: string;
  /** Run kube-controller-manager; also turns the ServiceAccount admission plugin on. */
  controllers?: boolean;
  /** Run kube-scheduler. */
  scheduler?: boolean;
  /** Lets real nodes join with bootstrap tokens. */
  nodes?: {
    /** An address of this machine that nodes and pods reach: the API server listens there, in place of the loopback address. */
    address: string;
    /** The addresses of pods, of which each node gets a part. */
    clusterCidr: string;
  };
  /** Run KWOK with this many simulated nodes. */
  kwok?: GpuNodes;
  /** `Stage` objects for pods, in place of KWOK's fast ones (ready at once, Jobs complete at once). */
  podStages?: readonly object[];
  /** Admission plugins to enable beyond the default ones. */
  admissionPlugins?: string[];
  extraApiServerFlags?: string[];
  controllerManagerFlags?: string[];
  /** Write an audit log (level Metadata) to this file. */
  auditLog?: string;
}
