import type { ResourceRequirements } from "konverge/kinds";
import { parseQuantity } from "konverge/objects";

export const GCS_PORT = "6379";
const METRICS_PORT = "8080";
const AGENT_PORT = "52365";

/** Parameters of `ray start`, with what follows from the node's part and its container's limits. */
export function startParameters(
  node: "head" | "worker",
  given: Readonly<Record<string, string>>,
  resources: ResourceRequirements | undefined,
  address: string,
): Record<string, string> {
  const { limits, requests } = resources ?? {};
  const whole = (amount: string | number | undefined) =>
    amount === undefined ? undefined : String(parseQuantity(String(amount)).value());
  const gpu = Object.entries(limits ?? {}).find(([name]) => name.endsWith("gpu"))?.[1];
  const found = {
    "num-cpus": whole(limits?.["cpu"] ?? requests?.["cpu"]),
    memory: whole(limits?.["memory"]),
    "num-gpus": whole(gpu),
  };
  return {
    ...Object.fromEntries(
      Object.entries(found).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== "0"),
    ),
    "metrics-export-port": METRICS_PORT,
    "dashboard-agent-listen-port": AGENT_PORT,
    ...(node === "head" ? { "dashboard-host": "0.0.0.0" } : { address }),
    ...given,
    block: "true",
  };
}

/** The command that makes a container a node of the cluster. Parameters are in the order of their names. */
export function startCommand(node: "head" | "worker", parameters: Readonly<Record<string, string>>): string {
  const flags = new Set(["block", "head", "no-monitor", "include-dashboard", "disable-usage-stats"]);
  const words = Object.entries(parameters)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, value]) => {
      if (flags.has(name) && value === "true") return [`--${name}`];
      if (flags.has(name) && name !== "include-dashboard") return [];
      return [`--${name}=${value}`];
    });
  return ["ray start", ...(node === "head" ? ["--head"] : []), ...words].join(" ");
}
