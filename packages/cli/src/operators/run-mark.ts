import { hostname } from "node:os";
import type { KubeObject } from "@konverge/core";

/** Which process has registered its webhooks by URL, and for which operator: `HOST/PID/NAMESPACE/NAME`. */
export const RUN_ANNOTATION = "konverge.dev/development-run";

/** The operator whose Service converts, where it is deployed. */
export interface RunOperator {
  readonly name: string;
  readonly namespace: string;
}

/** The process that an object was registered by. */
export interface RunMark extends RunOperator {
  /** The machine of the process. */
  readonly host: string;
  readonly pid: number;
}

/** What the registrations of this process are marked with. */
export function runAnnotations({ name, namespace }: RunOperator): Record<string, string> {
  return { [RUN_ANNOTATION]: [hostname(), process.pid, namespace, name].join("/") };
}

export function runMark({ metadata }: KubeObject): RunMark | undefined {
  const [host, pid, namespace, name] = metadata.annotations?.[RUN_ANNOTATION]?.split("/") ?? [];
  if (!host || !pid || !namespace || !name) return undefined;
  return { host, pid: Number(pid), namespace, name };
}
