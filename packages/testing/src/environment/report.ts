import type { AnyObject, Condition, KindRef, KubeObject } from "@konverge/core";
import { Event, Pod } from "@konverge/kinds";
import type { TestEnvironment } from "./test-environment.ts";

/** The number of lines of each kind. */
const SHOWN = 8;

/** The state of the objects of a test environment, for the message of a wait that timed out. */
export async function report(
  environment: TestEnvironment,
  kinds: readonly KindRef<KubeObject>[],
  operators: readonly { readonly warnings: readonly string[] }[],
): Promise<string> {
  const lines: string[] = [];
  for (const kind of kinds) {
    const objects = await environment.list(kind).catch(() => []);
    for (const object of objects.slice(0, SHOWN))
      lines.push(`  ${kind.kind} ${object.metadata.name}: ${stateOf(object)}`);
  }
  for (const pod of (await environment.list(Pod)).slice(0, SHOWN)) {
    const { phase, reason, conditions = [], containerStatuses = [] } = pod.status ?? {};
    const waiting = containerStatuses.map(({ state }) => state?.waiting?.reason).filter(Boolean);
    const unmet = conditions
      .filter(({ status }) => status !== "True")
      .map(({ type, message }) => `${type} ${message ?? ""}`);
    lines.push(`  Pod ${pod.metadata.name}: ${[phase, reason, ...waiting, ...unmet].filter(Boolean).join(", ")}`);
  }
  const events = (await environment.list(Event)).filter(({ type }) => type === "Warning").slice(-SHOWN);
  for (const { involvedObject, reason, message } of events) {
    lines.push(`  event about ${involvedObject.kind} ${involvedObject.name}: ${reason} ${message}`);
  }
  for (const { warnings } of operators) {
    for (const [warning, times] of counted(warnings).slice(-SHOWN)) {
      lines.push(`  the operator logged${times > 1 ? ` ${times} times` : ""}: ${warning}`);
    }
  }
  return lines.length > 0 ? `Current state:\n${lines.join("\n")}` : "There is nothing in the namespace.";
}

/** Each text once, with how often it occurs; what occurred last comes last. */
function counted(texts: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const text of texts) {
    const times = (counts.get(text) ?? 0) + 1;
    counts.delete(text);
    counts.set(text, times);
  }
  return [...counts];
}

function stateOf(object: KubeObject): string {
  const { conditions, ...status } = ((object as AnyObject)["status"] ?? {}) as {
    conditions?: Condition[] | null;
    observedGeneration?: number;
  };
  // The default of the CRD: no operator has seen the object yet.
  if (status.observedGeneration === -1) delete status.observedGeneration;
  const shown = (conditions ?? []).map(({ type, status: is, reason, message }) =>
    `${type}=${is} ${reason} ${message}`.trim(),
  );
  const rest = JSON.stringify(status);
  return [...shown, rest === "{}" ? "" : rest.slice(0, 300)].filter(Boolean).join("; ") || "no status";
}
