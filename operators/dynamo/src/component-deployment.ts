import { ageColumn, conditionColumn, defineKind, type ObjectOf, z } from "konverge";
import { ENGINES } from "./engine.ts";
import { serviceFields } from "./service-spec.ts";

/** One service of a graph at work. Made by the graph's controller; it can be written by hand as well. */
export const DynamoComponentDeployment = defineKind({
  group: "nvidia.com",
  kind: "DynamoComponentDeployment",
  shortNames: ["dcd"],
  versions: {
    v1alpha1: {
      spec: z.object({
        ...serviceFields,
        serviceName: z.string().min(1).optional().describe("The service's name in its graph. Default: the object's."),
        backendFramework: z.enum(ENGINES).optional().describe("What a worker runs. Default: as its command says."),
        image: z.string().min(1).optional().describe("Default: the operator's."),
        restartId: z.string().optional().describe("A new value restarts the pods."),
      }),
      status: z.object({
        replicas: z.int().optional(),
        readyReplicas: z.int().optional(),
        updatedReplicas: z.int().optional(),
        draining: z.int().optional().describe("Pods that finish their requests before they are removed."),
        podSelector: z.string().optional(),
        restartId: z.string().optional().describe("The one that all pods run with."),
      }),
      columns: {
        Type: ".spec.componentType",
        Available: conditionColumn("Available"),
        Replicas: ".status.replicas",
        Ready: ".status.readyReplicas",
        Age: ageColumn,
      },
      scale: { replicas: ".spec.replicas", statusReplicas: ".status.replicas", selector: ".status.podSelector" },
    },
  },
});
export type DynamoComponentDeployment = ObjectOf<typeof DynamoComponentDeployment>;
