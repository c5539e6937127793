// The operator of workload.ts as 1, 2 and 4 replicas that divide the objects among themselves by leases, on a real etcd and
// kube-apiserver; then one of them is killed.
//   node bench/operator/shards.ts [--objects N] [--more N] [--rounds N]
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Client, connect } from "@konverge/client";
import { Lease } from "@konverge/kinds";
import { findControlPlane, startRealCluster } from "@konverge/real";
import { table, writeResult } from "../harness/results.ts";
import { median } from "./figures.ts";
import { konvergeProgram, type Program } from "./konverge-program.ts";
import { createWidget, forEach, Onlooker } from "./load.ts";
import { prepare, until } from "./measure.ts";
import { OperatorProcess } from "./operator-process.ts";

const REPLICAS = [1, 2, 4];
/** How many times in a row, two seconds apart, the leases must be divided in the same way before replicas count as stable. */
const STABLE = 3;

const { values } = parseArgs({
  options: {
    objects: { type: "string", default: "2000" },
    more: { type: "string", default: "500" },
    rounds: { type: "string", default: "3" },
  },
});
const [objects, more, rounds] = [Number(values.objects), Number(values.more), Number(values.rounds)];
const plane = findControlPlane();
if (!plane.available) {
  console.log(`skipped: ${plane.why}`);
  process.exit(0);
}

const FIGURES = [
  "s",
  "CPU s of all",
  "CPU s of the busiest",
  "peak MiB of the largest",
  "parts of the busiest",
  "after a kill: s",
] as const;
type Figure = (typeof FIGURES)[number];

const program = await konvergeProgram();
const samples = new Map(REPLICAS.map((replicas) => [replicas, new Map<Figure, number[]>()]));
for (let round = 1; round <= rounds; round++) {
  for (const replicas of REPLICAS) {
    for (const [figure, value] of await measured(program, replicas)) {
      const known = samples.get(replicas)!;
      known.set(figure, [...(known.get(figure) ?? []), value]);
      console.log(`${replicas} replicas, round ${round}: ${figure} ${value.toFixed(2)}`);
    }
  }
}
const cell = (values: number[] | undefined) =>
  values ? median(values).toFixed(values.some((v) => v < 100) ? 1 : 0) : "–";
writeResult(
  "shards",
  "An operator as several replicas",
  `The operator of [operator.md](operator.md) with \`sharding\`: replicas divide the objects among themselves by 16 leases of 15 s.
When no lease changes hands any more, ${objects} objects are created with 50 requests at a time, and it is measured until the last one has its status and child. Then
one replica is killed and ${more} more are created: those whose lease it held have to wait until it expires. Replicas, API server, etcd
and the benchmark share the machine, which is busy with one replica already: more of them cannot make it faster here.

${rounds === 1 ? "One round." : `Medians of ${rounds} rounds, in turns.`} Each replica watches all objects, so that CPU time grows with their number.

${table(
  ["replicas", ...REPLICAS.map(String)],
  FIGURES.map((figure) => [figure, ...REPLICAS.map((replicas) => cell(samples.get(replicas)!.get(figure)))]),
)}`,
);

async function measured(program: Program, replicas: number): Promise<[Figure, number][]> {
  await using stack = new AsyncDisposableStack();
  const cluster = stack.use(await startRealCluster());
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  stack.defer(() => client.close());
  await prepare(cluster, client);
  const onlooker = new Onlooker(client);
  stack.defer(() => onlooker.stop());
  const processes = Array.from({ length: replicas }, () =>
    stack.use(new OperatorProcess(program, cluster.kubeconfig, ["shards"])),
  );
  const parts = await settled(client, processes);
  const before = processes.map((one) => one.usage().cpuSeconds);

  const done = () => onlooker.done.size;
  const begun = performance.now();
  await forEach(objects, (i) => createWidget(client, i));
  await until("objects have a status", processes[0]!, objects, done);
  const seconds = (Math.max(...onlooker.done.values()) - begun) / 1000;
  const used = processes.map((one, i) => one.usage().cpuSeconds - before[i]!);
  const peak = Math.max(...processes.map((one) => one.usage().peakBytes));
  const figures: [Figure, number][] = [
    ["s", seconds],
    ["CPU s of all", used.reduce((sum, one) => sum + one, 0)],
    ["CPU s of the busiest", Math.max(...used)],
    ["peak MiB of the largest", peak / 2 ** 20],
    ["parts of the busiest", Math.max(...parts.values())],
  ];
  if (replicas === 1) return figures;

  await processes.pop()!.kill();
  const killed = performance.now();
  await forEach(more, (i) => createWidget(client, objects + i));
  await until("objects have a status", processes[0]!, objects + more, done);
  return [...figures, ["after a kill: s", (Math.max(...onlooker.done.values()) - killed) / 1000]];
}

/** Resolves when all replicas are there and no lease changes hands any more, to how many each of them holds. */
async function settled(client: Client, replicas: readonly OperatorProcess[]): Promise<Map<string, number>> {
  let [last, times] = ["", 0];
  for (;;) {
    for (const replica of replicas) replica.check();
    const { items } = await client.list(Lease, { namespace: "default", labelSelector: "konverge.dev/shards=widgets" });
    const held = items.filter(({ metadata }) => metadata.name.startsWith("widgets-part-"));
    const parts = new Map<string, number>();
    for (const { spec } of held) {
      if (!spec?.holderIdentity) continue;
      parts.set(spec.holderIdentity, (parts.get(spec.holderIdentity) ?? 0) + 1);
    }
    const total = [...parts.values()].reduce((sum, one) => sum + one, 0);
    const members = items.length - held.length;
    const now = held.map(({ metadata, spec }) => `${metadata.name} ${spec?.holderIdentity}`).join();
    // Which replica a lease is for follows from hashes: with bad luck, one has none.
    times = members === replicas.length && total === 16 && now === last ? times + 1 : 0;
    if (times === STABLE) return parts;
    last = now;
    await sleep(2000);
  }
}
