import type { Container } from "konverge/kinds";

/** What a pod is in a group of several nodes that make one replica. */
export type GroupRole = "leader" | "worker";

/** Where the nodes of a group meet: Ray's port, and that of SGLang's own rendezvous. */
const RAY_PORT = 6379;
const SGLANG_PORT = 29500;
/** Set in each container by the LeaderWorkerSet controller. */
const LEADER = "LWS_LEADER_ADDRESS";
const INDEX = "LWS_WORKER_INDEX";

/**
 * The container of a pod in a group. vLLM spans nodes through Ray: the leader starts it and the engine, the others only join.
 * SGLang runs the same program everywhere, which is told its place. Only the leader answers, so only it is probed. A program
 * of another engine is left as it is.
 */
export function groupContainer(main: Container, role: GroupRole, nodeCount: number): Container {
  const { livenessProbe, readinessProbe, startupProbe, ...rest } = main;
  const probes = { livenessProbe, readinessProbe, startupProbe };
  const probed = role === "leader" ? main : rest;
  const words = [...(main.command ?? []), ...(main.args ?? [])];
  if (words.some((word) => word.includes("dynamo.sglang"))) {
    const place = ["--dist-init-addr", `$(${LEADER}):${SGLANG_PORT}`, "--nnodes", String(nodeCount)];
    return { ...probed, args: [...(main.args ?? []), ...place, "--node-rank", `$(${INDEX})`] };
  }
  if (!words.some((word) => word.includes("dynamo.vllm"))) return probed;
  if (role === "worker") {
    const command = ["/bin/sh", "-c", `exec ray start --address="$${LEADER}:${RAY_PORT}" --block`];
    const { args: _, ...joining } = rest;
    return { ...joining, command };
  }
  const start = `ray start --head --port=${RAY_PORT} && exec "$0" "$@"`;
  const { args: _, ...leading } = rest;
  return { ...leading, ...defined(probes), command: ["/bin/sh", "-c", start, ...words] };
}

function defined<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
