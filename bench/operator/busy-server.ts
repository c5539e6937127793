// The operator of workload.ts on a kube-apiserver that has no room for all its requests: the priority level of service accounts
// has few seats, and what finds none is refused with 429 and "Retry-After: 1".
//   node bench/operator/busy-server.ts [--objects N] [--rounds N]
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { connect } from "@konverge/client";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { table, writeResult } from "../harness/results.ts";
import { CONTESTANTS } from "./contestants.ts";
import { median } from "./figures.ts";
import type { Program } from "./konverge-program.ts";
import { createWidget, forEach, Onlooker } from "./load.ts";
import { prepare, until } from "./measure.ts";
import { OperatorProcess } from "./operator-process.ts";

const NAMES = ["konverge", "controller-runtime", "kube-rs"];
/** Seats of the priority level, and the shares by which a server with 30 seats gives it that many. */
const SHARES = new Map([
  [4, 20],
  [1, 1],
]);
const LIMITED = ["--max-requests-inflight=20", "--max-mutating-requests-inflight=10"];
/** A server with its own settings has enough. */
const SEATS = ["enough", ...SHARES.keys()] as const;
type Seats = (typeof SEATS)[number];

const { values } = parseArgs({
  options: { objects: { type: "string", default: "300" }, rounds: { type: "string", default: "3" } },
});
const [objects, rounds] = [Number(values.objects), Number(values.rounds)];
const plane = findControlPlane();
if (!plane.available) {
  console.log(`skipped: ${plane.why}`);
  process.exit(0);
}

const FIGURES = ["s", "CPU s", "refused"] as const;
const programs = new Map<string, Program>();
for (const { name, program } of CONTESTANTS) if (NAMES.includes(name)) programs.set(name, await program());
const samples = new Map<string, number[]>();
for (let round = 1; round <= rounds; round++) {
  for (const seats of SEATS) {
    for (const [name, program] of programs) {
      const figures = await measured(program, seats);
      FIGURES.forEach((figure, i) => {
        const key = `${seats} ${name} ${figure}`;
        samples.set(key, [...(samples.get(key) ?? []), figures[i]!]);
        console.log(`${name}, seats ${seats}, round ${round}: ${figure} ${figures[i]!.toFixed(2)}`);
      });
    }
  }
}
const cell = (seats: Seats, name: string, figure: string) => {
  const value = median(samples.get(`${seats} ${name} ${figure}`)!);
  return value.toFixed(figure === "refused" ? 0 : 1);
};
writeResult(
  "busy-server",
  "An operator on an API server without room for its requests",
  `The cold start of [operator.md](operator.md) with ${objects} objects. The operator has the token of a service account; the priority level
for those has enough seats, 4 or 1, and a request without a seat is refused with 429 and \`Retry-After: 1\` and not queued.
Ten workers ask for up to ten seats.

Medians of ${rounds} rounds, in turns.

${table(
  ["seats", "", ...programs.keys()],
  SEATS.flatMap((seats) =>
    FIGURES.map((figure) => [`${seats}`, figure, ...[...programs.keys()].map((name) => cell(seats, name, figure))]),
  ),
)}`,
);

async function measured(program: Program, seats: Seats): Promise<[seconds: number, cpu: number, refused: number]> {
  await using stack = new AsyncDisposableStack();
  const cluster = stack.use(await startRealCluster(seats === "enough" ? {} : { extraApiServerFlags: LIMITED }));
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  stack.defer(() => client.close());
  await prepare(cluster, client);
  const kubeconfig = await serviceAccount(cluster);
  await forEach(objects, (i) => createWidget(client, i));
  if (seats !== "enough") await limit(cluster, seats);
  const onlooker = new Onlooker(client);
  stack.defer(() => onlooker.stop());
  await using operator = new OperatorProcess(program, kubeconfig);
  await until("objects have a status", operator, objects, () => onlooker.done.size);
  const seconds = (Math.max(...onlooker.done.values()) - operator.startedAt) / 1000;
  return [seconds, operator.usage().cpuSeconds, await refusals(cluster)];
}

/** A kubeconfig with the token of a service account: members of system:masters are never limited. */
async function serviceAccount(cluster: RealCluster): Promise<string> {
  const kubectl = async (...args: string[]) => {
    const { code, stdout, stderr } = await cluster.kubectl(args);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };
  await kubectl("create", "serviceaccount", "widgets", "-n", "default");
  const binding = ["--clusterrole=cluster-admin", "--serviceaccount=default:widgets"];
  await kubectl("create", "clusterrolebinding", "widgets", ...binding);
  const token = (await kubectl("create", "token", "widgets", "-n", "default")).trim();
  const name = "widgets";
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [{ name, cluster: { server: cluster.url, "certificate-authority-data": cluster.caData } }],
    users: [{ name, user: { token } }],
  };
  const path = join(cluster.folder, "service-account.kubeconfig");
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

/** Gives the priority level of service accounts this many seats, and none to borrow, and lets it refuse what finds no seat. */
async function limit(cluster: RealCluster, seats: number): Promise<void> {
  const patch = {
    metadata: { annotations: { "apf.kubernetes.io/autoupdate-spec": "false" } },
    spec: {
      limited: {
        nominalConcurrencyShares: SHARES.get(seats),
        lendablePercent: 0,
        borrowingLimitPercent: 0,
        limitResponse: { type: "Reject", queuing: null },
      },
    },
  };
  const args = ["patch", "prioritylevelconfiguration", "workload-low", "--type=merge", "-p", JSON.stringify(patch)];
  const { code, stderr } = await cluster.kubectl(args);
  if (code !== 0) throw new Error(stderr);
  const given = async () =>
    (await metric(cluster, /^apiserver_flowcontrol_nominal_limit_seats\{priority_level="workload-low"\}/))[0];
  for (let tries = 0; (await given()) !== seats; tries++) {
    if (tries === 100) throw new Error(`the priority level has ${await given()} seats, not ${seats}`);
    await sleep(100);
  }
}

/** How many requests the server has refused for lack of a seat. */
async function refusals(cluster: RealCluster): Promise<number> {
  const values = await metric(cluster, /^apiserver_flowcontrol_rejected_requests_total\{/);
  return values.reduce((sum, value) => sum + value, 0);
}

async function metric(cluster: RealCluster, pattern: RegExp): Promise<number[]> {
  const { stdout } = await cluster.kubectl(["get", "--raw", "/metrics"]);
  const lines = stdout.split("\n").filter((line) => pattern.test(line));
  return lines.map((line) => Number(line.slice(line.lastIndexOf(" ") + 1)));
}
