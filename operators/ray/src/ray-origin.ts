import { truncatedName } from "konverge/objects";
import type { RayCluster } from "./ray-cluster.ts";

/** On what is made for an object of another kind. */
const ORIGIN = { name: "ray.io/originated-from-cr-name", kind: "ray.io/originated-from-crd" };

/** Short enough for the names of its pods and its Service. */
export const LONGEST_CLUSTER = 40;

export const originLabels = (kind: "RayJob" | "RayService", name: string): Record<string, string> => ({
  [ORIGIN.name]: truncatedName(name),
  [ORIGIN.kind]: kind,
});

/** The kind of object that a cluster was created for; undefined if a user created it. */
export const originKind = ({ metadata }: RayCluster) => metadata.labels?.[ORIGIN.kind];

/** The name of that object. */
export const originName = ({ metadata }: RayCluster) => metadata.labels?.[ORIGIN.name];

/** Whether a cluster belongs to a RayService: its pods serve requests. */
export const isServing = (cluster: RayCluster) => originKind(cluster) === "RayService";

/** What another kind decides about its cluster: sizes are the autoscaler's, where there is one. */
export function decidedSpec(spec: RayCluster["spec"]) {
  if (!spec.enableInTreeAutoscaling) return spec;
  return {
    ...spec,
    ...(spec.workerGroupSpecs && {
      workerGroupSpecs: spec.workerGroupSpecs.map(({ replicas: _r, scaleStrategy: _s, ...group }) => group),
    }),
  };
}
