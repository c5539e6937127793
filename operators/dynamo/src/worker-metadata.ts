import { ageColumn, defineKind, opaqueObject, z } from "konverge";

/** What a worker reports about itself where components find each other by Kubernetes. Written by Dynamo's runtime only. */
export const DynamoWorkerMetadata = defineKind({
  group: "nvidia.com",
  kind: "DynamoWorkerMetadata",
  shortNames: ["dwm"],
  versions: {
    v1alpha1: {
      spec: z.object({ data: opaqueObject().describe("The runtime's own description.") }),
      columns: { Age: ageColumn },
    },
  },
});
