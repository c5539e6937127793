import type { AnyObject } from "@konverge/core";

/** Whether an object is a Job or a pod that will not run again. */
export function hasEnded(object: AnyObject): boolean {
  const { phase, conditions = [] } = (object["status"] ?? {}) as {
    phase?: string;
    conditions?: readonly { readonly type?: string; readonly status?: string }[];
  };
  if (object.kind === "Pod") return phase === "Succeeded" || phase === "Failed";
  const isEnd = ({ type, status }: { type?: string; status?: string }) =>
    status === "True" && (type === "Complete" || type === "Failed");
  return object.kind === "Job" && conditions.some(isEnd);
}
