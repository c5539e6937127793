import { ageColumn } from "konverge";

/** Columns of `kubectl get` for all jobs: the newest condition is the state. */
export const jobColumns = {
  State: { jsonPath: ".status.conditions[-1:].type", type: "string" as const },
  Age: ageColumn,
};
