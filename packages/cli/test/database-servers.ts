import type { Cluster } from "@konverge/cluster";
import { realClock, sleep } from "@konverge/core";

/** Lets pods of an image answer as servers of PostgreSQL that follow their topology, and its psql repeat what it is given. */
export function playDatabaseServers(cluster: Cluster, image: string): void {
  const topologies = new Map<string, () => string>();
  cluster.image(image, {
    run: async ({ pod, files, stop }) => {
      // What is not a server is a task, which ends.
      if (files.get("/topology/topology") === undefined) return;
      topologies.set(pod.metadata.name, () => files.get("/topology/topology") ?? "");
      while (!stop.aborted) await sleep(realClock(), 200, { signal: stop }).catch(() => undefined);
    },
    exec: async ({ pod, command, stdin, stdout }) => {
      const [program, script] = command;
      const topology = topologies.get(pod.metadata.name)?.() ?? "";
      if (program === "pg_isready") return roleIn(topology, pod.metadata.name) === "halted" ? 2 : 0;
      if (script?.endsWith("/alive.sh")) return 0;
      if (program === "psql") return repeat(pod.metadata.name, command, stdin, stdout);
      if (!script?.endsWith("/status.sh")) return 127;
      stdout(report(pod.metadata.name, topology));
      return 0;
    },
  });
}

async function repeat(
  pod: string,
  command: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
  stdout: (text: string) => void,
): Promise<number> {
  stdout(`${pod}: ${command.slice(1).join(" ")}\n`);
  if (!command.includes("-")) return command.includes("fail") ? 3 : 0;
  for await (const chunk of stdin) stdout(Buffer.from(chunk).toString().toUpperCase());
  return 0;
}

const fieldOf = (topology: string, name: string) =>
  new RegExp(`^${name}='?([^'\n]*)'?$`, "m").exec(topology)?.[1] ?? "";

function roleIn(topology: string, pod: string): string {
  if (fieldOf(topology, "fenced").split(" ").includes(pod)) return "halted";
  if (fieldOf(topology, "primary") === pod) return "primary";
  return fieldOf(topology, "upstream") === pod ? "stopped" : "standby";
}

function report(pod: string, topology: string): string {
  const field = (name: string) => fieldOf(topology, name);
  const role = roleIn(topology, pod);
  const lsn = role === "stopped" ? "0/10" : "0/20";
  const own = role === "primary" ? ["confirming=", `checkpoint=${field("checkpoint")}`] : ["streaming=yes", "behind=0"];
  return [`role=${role}`, `term=${field("term")}`, "timeline=1", `lsn=${lsn}`, "size=100", "used=40", ...own, ""].join(
    "\n",
  );
}
