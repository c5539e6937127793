import { ageColumn, cel, conditionColumn, defineKind, duration, type ObjectOf, wideColumn, z } from "konverge";
import { adapterStatus } from "./lora.ts";
import { canaryStatus, rolloutField } from "./rollout-spec.ts";
import { servingFields, servingRules } from "./serving-spec.ts";

/** A model served within a latency SLA: as many replicas as the SLA requires. */
export const ModelDeployment = defineKind({
  group: "ai.example.com",
  kind: "ModelDeployment",
  description: "A model served within a latency SLA: as many replicas as the SLA requires.",
  shortNames: ["md"],
  versions: {
    v1: {
      spec: z.object({
        model: z.string().min(1).max(253).describe("The model to serve."),
        replicas: z.int().min(1).max(1000).optional().describe("Initial number of replicas, while no load is known."),
        sla: z
          .object({
            maxLatency: duration().optional().describe("Requests are answered within this time."),
            timeToFirstToken: duration()
              .optional()
              .describe("The first token of an answer comes within this time: vllm:time_to_first_token_seconds."),
            interTokenLatency: duration()
              .optional()
              .describe("Each further token comes within this time: vllm:inter_token_latency_seconds."),
            queueTime: duration()
              .optional()
              .describe("A request waits at most this long in a server's queue: vllm:request_queue_time_seconds."),
            percentile: z
              .number()
              .min(50)
              .max(99.9)
              .default(95)
              .describe("The percentage of requests, or of tokens, for which these times hold."),
            minThroughput: z
              .number()
              .min(0)
              .optional()
              .describe("Requests per second that must be possible at any time."),
          })
          .check(
            cel(
              "[has(self.maxLatency), has(self.timeToFirstToken), has(self.interTokenLatency), has(self.queueTime), has(self.minThroughput)].exists(given, given)",
              "set at least one of maxLatency, timeToFirstToken, interTokenLatency, queueTime and minThroughput",
            ),
          )
          .optional()
          .describe("The service level of the model."),
        capacity: z
          .object({
            serviceTime: duration()
              .optional()
              .describe("How long a replica takes for a request, until it is measured."),
            concurrency: z
              .int()
              .min(1)
              .max(4096)
              .optional()
              .describe(
                "Requests that a replica processes concurrently. Default: --max-num-seqs of args, otherwise 64.",
              ),
          })
          .optional()
          .describe("What one replica can do."),
        load: z
          .object({ requestsPerSecond: z.number().min(0) })
          .optional()
          .describe("The expected load, until it is measured."),
        scaling: z
          .object({
            minReplicas: z.int().min(1).max(1000).default(1),
            maxReplicas: z.int().min(1).max(1000).optional().describe("Default: 10, or twice the replicas."),
            downAfter: duration()
              .default("5m")
              .describe("Scale down when fewer replicas were sufficient for this long."),
            burst: z
              .int()
              .min(0)
              .max(1000)
              .default(50)
              .describe("Percentage by which the autoscaler can exceed the computed size."),
            queueMetric: z
              .string()
              .min(1)
              .max(253)
              .optional()
              .describe(
                "The pod metric by which the autoscaler exceeds the computed size. Default: the engine's, such as vllm:num_requests_waiting.",
              ),
            toZeroAfter: duration().optional().describe("Scale to zero when there was no request for this long."),
            demandUrl: z
              .string()
              .max(2048)
              .regex(/^https?:\/\//)
              .optional()
              .describe(
                "URL of a gateway's Prometheus metrics: how many requests wait for a model that is scaled to zero.",
              ),
          })
          .optional()
          .describe("Within which bounds, and how fast, the size follows the load."),
        cost: z
          .object({
            perReplicaHour: z.number().min(0.000001).describe("Cost of a replica per hour."),
            maxPerHour: z.number().min(0).describe("Maximum cost of all replicas per hour."),
          })
          .optional(),
        rollout: rolloutField
          .optional()
          .describe("How a change of what the servers run is rolled out. Default: one replica after the other."),
        ...servingFields,
      }),
      status: z.object({
        endpoint: z.string().optional(),
        adapters: z.array(adapterStatus).optional().describe("The LoRA adapters that are served."),
        replicas: z.int().optional(),
        readyReplicas: z.int().optional(),
        neededReplicas: z
          .int()
          .optional()
          .describe("The number of replicas that the SLA requires at the current load."),
        selector: z.string().optional(),
        requestsPerSecond: z.number().optional(),
        latency: z.string().optional().describe("The measured latency of the SLA's percentile."),
        objectives: z
          .array(
            z.object({
              name: z.string(),
              target: z.string(),
              measured: z
                .string()
                .optional()
                .describe("The percentile of the last minute; none if there were too few requests."),
            }),
          )
          .optional()
          .describe("The objectives of the SLA, and what is measured."),
        costPerHour: z.number().optional(),
        idleSince: z.string().optional().describe("Time of the last request, if the model can be scaled to zero."),
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
        stableRevision: z.string().optional().describe("The revision that serves, if rollouts have a canary."),
        canary: canaryStatus.optional().describe("The revision that is tried, or was rolled back."),
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
        ...servingRules,
        cel(
          "!has(self.scaling) || !has(self.scaling.maxReplicas) || self.scaling.minReplicas <= self.scaling.maxReplicas",
          "scaling.minReplicas must not exceed scaling.maxReplicas",
        ),
        cel(
          "!has(self.cost) || self.cost.perReplicaHour <= self.cost.maxPerHour",
          "cost.maxPerHour is less than the cost of one replica",
        ),
        cel(
          "!has(self.scaling) || !has(self.scaling.demandUrl) || has(self.scaling.toZeroAfter)",
          "scaling.demandUrl and scaling.toZeroAfter must be set together",
        ),
        cel(
          "!has(self.rollout) || !has(self.cost) || self.cost.perReplicaHour * 2.0 <= self.cost.maxPerHour",
          "cost.maxPerHour is less than the cost of two replicas, and a canary runs beside the stable revision",
        ),
      ],
      objectRules: [
        cel(
          "self.metadata.name.size() <= 52 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
          "the name becomes that of a Service and of pods: at most 52 letters, digits and dashes, starting with a letter",
        ),
        cel(
          "!has(self.spec.rollout) || self.metadata.name.size() <= 45",
          "with spec.rollout, the name becomes part of a longer one: at most 45 characters",
        ),
      ],
    },
  },
});
export type ModelDeployment = ObjectOf<typeof ModelDeployment>;
