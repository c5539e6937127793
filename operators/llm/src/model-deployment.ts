import { ageColumn, cel, conditionColumn, defineKind, duration, type ObjectOf, wideColumn } from "konverge";
import { z } from "zod";
import { servingFields } from "./serving-spec.ts";

/** A model served within an agreement on its latency: as many replicas as that takes. */
export const ModelDeployment = defineKind({
  group: "ai.example.com",
  kind: "ModelDeployment",
  description: "A model served within an agreement on its latency: as many replicas as that takes.",
  shortNames: ["md"],
  versions: {
    v1: {
      spec: z.object({
        model: z.string().min(1).max(253).describe("The model to serve."),
        replicas: z.int().min(1).max(1000).optional().describe("The size to begin with, while no load is known."),
        sla: z
          .object({
            maxLatency: duration().describe("Within this time requests are answered."),
            percentile: z.number().min(50).max(99.9).default(95).describe("So many percent of them."),
            minThroughput: z.number().min(0).optional().describe("Requests per second to be ready for at any time."),
          })
          .optional()
          .describe("What is promised to those who use the model."),
        capacity: z
          .object({
            serviceTime: duration().optional().describe("How long a replica works on a request, until it is measured."),
            concurrency: z.int().min(1).max(4096).default(1).describe("Requests that a replica works on at once."),
          })
          .optional()
          .describe("What one replica can do."),
        load: z
          .object({ requestsPerSecond: z.number().min(0) })
          .optional()
          .describe("The load to begin with, until it is measured."),
        scaling: z
          .object({
            minReplicas: z.int().min(1).max(1000).default(1),
            maxReplicas: z.int().min(1).max(1000).optional().describe("Default: 10, or twice the replicas."),
            downAfter: duration().default("5m").describe("Replicas are given up when fewer were enough for so long."),
            burst: z.int().min(0).max(1000).default(50).describe("Percent by which the autoscaler may go beyond need."),
            queueMetric: z
              .string()
              .min(1)
              .max(253)
              .default("vllm:num_requests_waiting")
              .describe("The metric of pods by which the autoscaler goes beyond need."),
            toZeroAfter: duration().optional().describe("No replica runs when no request has come for so long."),
            demandUrl: z
              .string()
              .max(2048)
              .regex(/^https?:\/\//)
              .optional()
              .describe(
                "Where a gateway tells, as Prometheus metrics, how many requests wait for a model that does not run.",
              ),
          })
          .optional()
          .describe("Within which bounds, and how fast, the size follows the load."),
        cost: z
          .object({
            perReplicaHour: z.number().min(0.000001).describe("What a replica costs in an hour."),
            maxPerHour: z.number().min(0).describe("What all of them together may cost in an hour."),
          })
          .optional(),
        ...servingFields,
      }),
      status: z.object({
        endpoint: z.string().optional(),
        replicas: z.int().optional(),
        readyReplicas: z.int().optional(),
        neededReplicas: z.int().optional().describe("What the SLA takes at the present load."),
        selector: z.string().optional(),
        requestsPerSecond: z.number().optional(),
        latency: z.string().optional().describe("The percentile that the SLA speaks of, as measured."),
        costPerHour: z.number().optional(),
        idleSince: z.string().optional().describe("When the last request was seen, where no replica may run without."),
        decisions: z
          .array(
            z.object({
              time: z.string(),
              from: z.int(),
              to: z.int(),
              reason: z.string(),
              message: z.string(),
            }),
          )
          .optional()
          .describe("The latest changes of size, newest last."),
      }),
      columns: {
        Model: ".spec.model",
        Replicas: ".status.replicas",
        Ready: conditionColumn("Ready"),
        SLA: conditionColumn("SLAMet"),
        Latency: wideColumn(".status.latency"),
        "Req/s": wideColumn(".status.requestsPerSecond"),
        Age: ageColumn,
      },
      rules: [
        cel("self.gpuCount > 0 || !has(self.gpuType)", "gpuType says which GPUs, but gpuCount asks for none"),
        cel(
          "!has(self.scaling) || !has(self.scaling.maxReplicas) || self.scaling.minReplicas <= self.scaling.maxReplicas",
          "scaling.minReplicas must not exceed scaling.maxReplicas",
        ),
        cel(
          "!has(self.cost) || self.cost.perReplicaHour <= self.cost.maxPerHour",
          "cost.maxPerHour does not even pay for one replica",
        ),
        cel(
          "!has(self.scaling) || !has(self.scaling.demandUrl) || has(self.scaling.toZeroAfter)",
          "scaling.demandUrl wakes what scaling.toZeroAfter puts to sleep: set both",
        ),
      ],
      objectRules: [
        cel(
          "self.metadata.name.size() <= 52 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
          "the name becomes that of a Service and of pods: at most 52 letters, digits and dashes, a letter first",
        ),
      ],
    },
  },
});
export type ModelDeployment = ObjectOf<typeof ModelDeployment>;
