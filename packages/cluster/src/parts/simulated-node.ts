import type { Node } from "@konverge/kinds";

/** What simulated nodes report as their container runtime, which distinguishes them from those with a real kubelet. */
export const RUNTIME = "konverge://";

/**
 * Whether the simulated kubelet answers for a Node: it reports so, or nothing reports anything about it yet, as with one
 * that a user has created. A real kubelet names its container runtime with the request that registers its Node.
 */
export function isSimulated({ status }: Node): boolean {
  const runtime = status?.nodeInfo?.containerRuntimeVersion ?? "";
  return runtime === "" || runtime.startsWith(RUNTIME);
}
