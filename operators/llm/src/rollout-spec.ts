import { cel, duration, z } from "konverge";

/** The field `rollout` of a spec. */
export const rolloutField = z.object({
  canary: z
    .object({
      stepWeights: z
        .array(z.int().min(1).max(100))
        .min(1)
        .max(20)
        .default([10, 50])
        .check(cel("self.isSorted()", "each weight must be at least the one before"))
        .describe("The percentage of requests that the new revision gets in each step."),
      interval: duration()
        .default("5m")
        .describe("How long the new revision must be ready and within the SLA in each step."),
      maxErrorRate: z
        .number()
        .min(0)
        .max(100)
        .default(1)
        .describe("The percentage of requests that can fail in the new revision's servers (HTTP 5xx)."),
    })
    .describe("A new revision runs beside the stable one and gets more requests step by step."),
});

/** The status of a canary: all that is known about it when the operator starts again. */
export const canaryStatus = z.object({
  revision: z.string().describe("The revision of the spec that is tried."),
  phase: z.enum(["Starting", "Analyzing", "Promoting", "RolledBack"]),
  step: z.int().describe("The index of its weight in stepWeights."),
  weight: z.int().describe("The percentage of requests that it gets."),
  replicas: z.int(),
  readyReplicas: z.int(),
  since: z.string().optional().describe("When the phase of this step began; none while the model is scaled to zero."),
  missedSince: z
    .string()
    .optional()
    .describe("Since when it has missed an objective, or too many requests have failed."),
  reason: z.string().optional().describe("Why it was rolled back."),
  message: z.string().optional(),
});
export type CanaryStatus = z.infer<typeof canaryStatus>;
