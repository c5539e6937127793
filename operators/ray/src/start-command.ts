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

/** What a group says that its nodes have, which goes before what follows from limits. Others than Ray's own are in JSON. */
export function resourceParameters(resources: Readonly<Record<string, string>> = {}): Record<string, string> {
  const found: Record<string, string> = {};
  const others: Record<string, number> = {};
  for (const [name, text] of Object.entries(resources)) {
    const amount = parseQuantity(text).asNumber();
    const parameter = parameterOf(name.toLowerCase());
    if (parameter) found[parameter] = String(Math.ceil(amount));
    else others[name] = amount;
  }
  return Object.keys(others).length > 0 ? { ...found, resources: `'${JSON.stringify(others)}'` } : found;
}

function parameterOf(resource: string): string | undefined {
  if (resource === "cpu") return "num-cpus";
  if (resource === "memory") return "memory";
  return resource.endsWith("gpu") ? "num-gpus" : undefined;
}

/** Labels of Ray's nodes, by which tasks and actors choose them. */
export function labelParameters(labels: Readonly<Record<string, string>> = {}): Record<string, string> {
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.length > 0 ? { labels: pairs.map(([name, value]) => `${name}=${value}`).join(",") } : {};
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
