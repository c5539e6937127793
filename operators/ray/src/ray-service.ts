import { ageColumn, defineKind, type ObjectOf, opaqueObject, z } from "konverge";
import type { Service } from "konverge/kinds";
import { managedBy, rayClusterSpec, rayClusterStatus } from "./ray-cluster.ts";
import { rayKind } from "./ray-kind.ts";

const spec = z.object({
  serveConfigV2: z
    .string()
    .optional()
    .describe("Ray Serve's configuration of one or more applications, as YAML. A change is deployed in place."),
  rayClusterConfig: rayClusterSpec.describe("The cluster that serves. Another one replaces it when this changes."),
  rayClusterDeletionDelaySeconds: z
    .int()
    .min(0)
    .optional()
    .describe("How long a cluster that has been replaced is kept. Default: 60."),
  upgradeStrategy: z
    .object({ type: z.enum(["NewCluster", "None"]).optional() })
    .optional()
    .describe("None: a change of the cluster's configuration has no effect. Default: NewCluster."),
  serveService: opaqueObject<Partial<Service>>()
    .optional()
    .describe("Labels, annotations, name, type and ports of the Service that clients use. Its selector is ignored."),
  excludeHeadPodFromServeSvc: z.boolean().optional().describe("The head serves no requests."),
  suspend: z.boolean().optional().describe("Deletes the clusters and the Services; they are created again afterwards."),
  managedBy: managedBy(),
  serviceUnhealthySecondThreshold: z.int().optional().describe("No effect, as upstream since 1.1."),
  deploymentUnhealthySecondThreshold: z.int().optional().describe("No effect, as upstream since 1.1."),
});

const part = z
  .object({
    rayClusterName: z.string().optional(),
    rayClusterStatus: rayClusterStatus.optional(),
    applicationStatuses: z
      .record(
        z.string(),
        z.object({
          status: z.string().optional(),
          message: z.string().optional(),
          serveDeploymentStatuses: z
            .record(z.string(), z.object({ status: z.string().optional(), message: z.string().optional() }))
            .optional(),
        }),
      )
      .optional(),
  })
  .optional();

const status = z.object({
  serviceStatus: z.enum(["Running", ""]).optional().describe("Running while there are endpoints."),
  numServeEndpoints: z.int().optional().describe("How many pods the Service sends requests to."),
  activeServiceStatus: part.describe("The cluster that gets the requests."),
  pendingServiceStatus: part.describe("The cluster that is to replace it."),
});

const columns = {
  "service status": ".status.serviceStatus",
  "num serve endpoints": ".status.numServeEndpoints",
  age: ageColumn,
};

/** Applications of Ray Serve on a cluster that is replaced without downtime. */
export const RayService = defineKind(rayKind("RayService", { spec, status, columns }));
export type RayService = ObjectOf<typeof RayService>;
