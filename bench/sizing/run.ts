// How well a size follows the load: a ModelDeployment beside a HorizontalPodAutoscaler on the same metrics, against an oracle that
// knows the load, on virtual time.
//   node bench/sizing/run.ts
import { llmOperatorWith } from "@konverge/llm-operator";
import { playOnEmbedded, registerMetricsAdapter, SimulatedLoad, type TestEnvironment } from "@konverge/operator-suite";
import { HorizontalPodAutoscaler, Pod, StatefulSet } from "konverge/kinds";
import { table, writeResult } from "../harness/results.ts";
import { type LoadShape, loadShapes } from "./load-shapes.ts";
import { MetricsAdapter } from "./metrics-adapter.ts";
import { capacities, oracleSize } from "./oracle.ts";

const MINUTE = 60_000;
const STEP = 5_000;
const MAX_REPLICAS = 12;
const SERVING = { serviceTime: 100, concurrency: 4, maxLatency: 0.25, part: 0.95 };
/** How long a server takes until it answers. */
const START = { "sim.konverge.dev/ready-delay": "45s" };
/** Minutes at the beginning that do not count: the load is not known yet. */
const WARM_UP = 10;
/** A change in the other direction within this many minutes is a flap. */
const FLAP_MINUTES = 15;

const capacity = capacities(SERVING, MAX_REPLICAS);

/** One minute of a run; replicas on average. */
interface Minute {
  readonly tooMany: number;
  readonly tooFew: number;
  readonly oracle: number;
  readonly inTime: boolean;
}

interface Run {
  readonly minutes: readonly Minute[];
  readonly changes: readonly { readonly at: number; readonly by: number }[];
}

/** Something that sizes the StatefulSet `chat`. */
interface Contender {
  readonly name: string;
  begin(stage: TestEnvironment, load: SimulatedLoad): Promise<void>;
}

const konverge: Contender = {
  name: "ModelDeployment",
  async begin(stage, load) {
    await stage.start(llmOperatorWith(load.fetch));
    await stage.apply({
      apiVersion: "ai.example.com/v1",
      kind: "ModelDeployment",
      metadata: { name: "chat" },
      spec: {
        model: "m",
        gpuCount: 0,
        replicas: 2,
        sla: { maxLatency: `${SERVING.maxLatency * 1000}ms`, percentile: SERVING.part * 100 },
        capacity: { concurrency: SERVING.concurrency },
        scaling: { maxReplicas: MAX_REPLICAS },
        template: { metadata: { annotations: START } },
      },
    });
  },
};

/** An autoscaler as one would write it: replicas are busy with `busy` of four requests on average, and hardly any wait. */
function autoscaler(busy: number): Contender {
  return {
    name: `HPA: ${busy} requests running per pod, 1 waiting`,
    async begin(stage) {
      const { client, namespace } = stage;
      await registerMetricsAdapter(stage);
      const labels = { app: "modeldeployment" };
      await client.create(StatefulSet, {
        metadata: { name: "chat", namespace },
        spec: {
          replicas: 2,
          serviceName: "chat",
          podManagementPolicy: "Parallel",
          selector: { matchLabels: labels },
          template: {
            metadata: { labels, annotations: START },
            spec: { containers: [{ name: "model", image: "vllm/vllm-openai:latest" }] },
          },
        },
      });
      const metric = (name: string, averageValue: string) => ({
        type: "Pods" as const,
        pods: { metric: { name }, target: { type: "AverageValue" as const, averageValue } },
      });
      await client.create(HorizontalPodAutoscaler, {
        metadata: { name: "chat", namespace },
        spec: {
          scaleTargetRef: { apiVersion: "apps/v1", kind: "StatefulSet", name: "chat" },
          minReplicas: 1,
          maxReplicas: MAX_REPLICAS,
          metrics: [metric("vllm:num_requests_running", `${busy * 1000}m`), metric("vllm:num_requests_waiting", "1")],
        },
      });
    },
  };
}

async function play(contender: Contender, { rates }: LoadShape): Promise<Run> {
  const adapter = new MetricsAdapter();
  const minutes: Minute[] = [];
  const changes: { at: number; by: number }[] = [];
  await playOnEmbedded(
    async (stage) => {
      const load = new SimulatedLoad(stage, { ...SERVING, selector: "app=modeldeployment" });
      await contender.begin(stage, load);
      let last: number | undefined;
      for (const [minute, rate] of rates.entries()) {
        load.rate = rate;
        const oracle = oracleSize(capacity, rate);
        let [tooMany, tooFew] = [0, 0];
        for (let passed = 0; passed < MINUTE; passed += STEP) {
          await load.pass(STEP);
          const pods = (await stage.list(Pod, "app=modeldeployment")).flatMap(({ metadata, status }) =>
            status?.podIP ? [{ name: metadata.name, address: status.podIP }] : [],
          );
          await adapter.scrape(load, pods, stage.clock.now());
          const set = await stage.find(StatefulSet, "chat");
          const size = set?.spec?.replicas;
          tooMany += (Math.max(0, (size ?? 0) - oracle) * STEP) / MINUTE;
          tooFew += (Math.max(0, oracle - (set?.status?.readyReplicas ?? 0)) * STEP) / MINUTE;
          if (size !== undefined && last !== undefined && size !== last && minute >= WARM_UP)
            changes.push({ at: minute, by: size - last });
          last = size ?? last;
        }
        if (minute < WARM_UP) continue;
        const inTime = load.latency(MINUTE, SERVING.part) <= SERVING.maxLatency;
        minutes.push({ tooMany, tooFew, oracle, inTime });
      }
    },
    { podSecurity: "privileged", strictImages: false, extension: adapter.answer },
  );
  return { minutes, changes };
}

const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;

function row({ minutes, changes }: Run): string[] {
  const sum = (count: (minute: Minute) => number) => minutes.reduce((total, minute) => total + count(minute), 0);
  const oracle = sum((minute) => minute.oracle);
  const flaps = changes.filter(({ at, by }, i) => {
    const before = changes[i - 1];
    return before !== undefined && Math.sign(before.by) !== Math.sign(by) && at - before.at <= FLAP_MINUTES;
  });
  return [
    percent(
      sum(({ tooMany }) => tooMany),
      oracle,
    ),
    percent(
      sum(({ tooFew }) => tooFew),
      oracle,
    ),
    percent(
      sum(({ inTime }) => Number(!inTime)),
      minutes.length,
    ),
    ((changes.length * 60) / minutes.length).toFixed(1),
    ((flaps.length * 60) / minutes.length).toFixed(1),
  ];
}

const rows: string[][] = [];
for (const shape of loadShapes) {
  for (const contender of [konverge, autoscaler(2), autoscaler(2.8)]) {
    rows.push([shape.name, contender.name, ...row(await play(contender, shape))]);
    console.log(rows.at(-1)!.join(" | "));
  }
}
writeResult(
  "sizing",
  "Sizing by an SLA",
  `Servers of four requests at a time, ${SERVING.serviceTime} ms each, which take 45 s to start; ${SERVING.part * 100} % are to be answered within ${SERVING.maxLatency * 1000} ms. The
autoscalers are the embedded cluster's HorizontalPodAutoscaler controller with its defaults (tolerance 10 %, 300 s of
stabilization downwards) on the servers' own metrics, averaged over a minute; the ModelDeployment has its defaults. The oracle
knows the load of each minute and has the fewest replicas that a simulation, request by request, needs to answer in time,
without waiting for them to start. The first ${WARM_UP} minutes do not count. All on virtual time with fixed seeds: another run gives
the same figures.

Regret against the oracle: replicas beyond its own, and replicas missing to it, in percent of its replicas. Missed: minutes in
which too many requests were answered late. A flap is a change of size in the other direction within ${FLAP_MINUTES} minutes.

${table(["load", "sized by", "too many", "too few", "minutes missed", "changes per hour", "flaps per hour"], rows)}`,
);
