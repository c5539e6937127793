import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  type JobObject,
  type JobRules,
  mxnet,
  mxnetRules,
  PLUGIN_GROUPS,
  pytorch,
  pytorchRules,
  tensorflow,
  tensorflowRules,
  VOLCANO_GROUPS,
  xgboost,
  xgboostRules,
} from "@konverge/kubeflow-operator";
import type { KindRef } from "konverge";
import { parseYaml } from "konverge/schema";
import { podGroupCrd } from "./gang-scenarios.ts";
import { job, KINDS, type Kind, PYTORCH, TENSORFLOW, XGBOOST } from "./jobs.ts";
import { arena, whyNoArena } from "./upstream/arena.ts";
import { SELECTORS, WAITS_FOR_GROUP } from "./upstream/differences.ts";
import { Duel } from "./upstream/duel.ts";
import { findUpstream } from "./upstream/locate.ts";

const wait = { image: "alpine:3.10", maxTries: 100, template: undefined };
const RULES: Readonly<Record<string, JobRules<never>>> = {
  PyTorchJob: pytorchRules(pytorch(wait)) as unknown as JobRules<never>,
  TFJob: tensorflowRules(tensorflow()) as unknown as JobRules<never>,
  XGBoostJob: xgboostRules(xgboost()) as unknown as JobRules<never>,
  MXJob: mxnetRules(mxnet()) as unknown as JobRules<never>,
};

describe("upstream's webhooks, examples and gang schedulers", { skip: whyNoArena(), concurrency: 3 }, () => {
  const open = arena({
    gangSchedulers: ["none", "volcano", "coscheduler"],
    crds: [podGroupCrd(VOLCANO_GROUPS), podGroupCrd(PLUGIN_GROUPS)],
  });

  const template = (containers: object[]) => ({ template: { spec: { containers } } });
  const bad: readonly [string, Kind, object][] = [
    ["two masters", PYTORCH, job(PYTORCH, "x", { Master: { replicas: 2 } })],
    ["a type that does not exist", PYTORCH, job(PYTORCH, "x", { Master: {}, Chief: {} })],
    ["a type in another case", PYTORCH, job(PYTORCH, "x", { master: {} })],
    ["no containers", PYTORCH, job(PYTORCH, "x", { Master: template([]) })],
    ["no image", PYTORCH, job(PYTORCH, "x", { Master: template([{ name: "pytorch" }, { name: "b" }]) })],
    ["another container", PYTORCH, job(PYTORCH, "x", { Worker: template([{ name: "main", image: "i" }]) })],
    ["a name that is none", PYTORCH, job(PYTORCH, "9-x", { Master: {} })],
    [
      "processes said twice",
      PYTORCH,
      job(PYTORCH, "x", { Worker: {} }, { nprocPerNode: "2", elasticPolicy: { nProcPerNode: 2 } }),
    ],
    ["a chief and a master", TENSORFLOW, job(TENSORFLOW, "x", { Chief: {}, Master: {} })],
    ["no TensorFlow", TENSORFLOW, job(TENSORFLOW, "x", { Worker: template([{ name: "t", image: "i" }]) })],
    ["no master", XGBOOST, job(XGBOOST, "x", { Worker: {} })],
    ["masters", XGBOOST, job(XGBOOST, "x", { Master: { replicas: 3 } })],
    ["an unknown type", XGBOOST, job(XGBOOST, "x", { Master: {}, Server: {} })],
    ["nothing wrong", XGBOOST, job(XGBOOST, "x", { Master: {}, Worker: { replicas: 4 } })],
    ["nothing wrong", TENSORFLOW, job(TENSORFLOW, "x", { Worker: {}, PS: {}, Evaluator: {} })],
    ["nothing wrong", PYTORCH, job(PYTORCH, "x", { Master: {}, Worker: {} }, { elasticPolicy: { nProcPerNode: 2 } })],
  ];
  for (const [what, { kind }, object] of bad) {
    test(`${kind.kind}: ${what}: both say the same`, async () => {
      const rules = RULES[kind.kind]!;
      const ours = rules.problems(object as never).map(({ field, message }) => `${field}: ${message}`);
      const theirs = await open().referee.judge(kind.kind.toLowerCase(), object);
      assert.equal(theirs.allowed, ours.length === 0, theirs.message);
      for (const text of ours) assert.ok(theirs.message.includes(text), `${text} is not in ${theirs.message}`);
      const rest = ours.reduce((left, text) => left.replace(text, ""), theirs.message);
      assert.match(rest, /^[\s[\],]*$/, "upstream says more");
      assert.deepEqual(rules.warnings?.(object as never) ?? [], theirs.warnings);
    });
  }

  test("upstream's own examples are made as upstream makes them", async () => {
    const { client, sides } = open();
    const examples = manifests();
    assert.ok(examples.length > 5, "upstream's examples are not there");
    for (const [index, example] of examples.entries()) {
      const { kind } = KINDS.find((one) => one.kind.kind === example.kind)!;
      const name = `example-${index}`;
      const duel = new Duel(client, sides, { kind: kind as KindRef<JobObject>, name }, [SELECTORS]);
      const { cleanPodPolicy: _, ...spec } = example.spec as Record<string, unknown>;
      await duel.apply({ ...example, spec, metadata: { name } });
      await duel.agree({ state: "Created" });
      if (isTuning(example)) continue;
      await duel.run();
      await duel.agree({ state: "Running" });
    }
  });

  const policy = { schedulingPolicy: { minAvailable: 2, queue: "research", scheduleTimeoutSeconds: 30 } };
  const asks = { resources: { requests: { cpu: "500m" }, limits: { memory: "1Gi" } } };

  test("the coscheduling plugin gets the same PodGroup and the same pods", async () => {
    const { client, sides } = open("coscheduler");
    const duel = new Duel(client, sides, { kind: PYTORCH.kind, name: "together", others: [PLUGIN_GROUPS] }, [
      SELECTORS,
      WAITS_FOR_GROUP,
    ]);
    await duel.apply(
      job(PYTORCH, "together", { Master: { container: asks }, Worker: { container: asks } }, { runPolicy: policy }),
    );
    await duel.agree({ state: "Created", pods: ["master-0 Pending", "worker-0 Pending"] });
    await duel.run();
    await duel.agree({ state: "Running" });
    await duel.end(0, "master-0");
    await duel.agree({ state: "Succeeded" });
  });

  test("volcano gets the same PodGroup, and pods when it is admitted", async () => {
    const { client, sides } = open("volcano");
    const name = "erupts";
    const duel = new Duel(client, sides, { kind: TENSORFLOW.kind, name, others: [VOLCANO_GROUPS] }, [WAITS_FOR_GROUP]);
    await duel.apply(job(TENSORFLOW, name, { Worker: { replicas: 2, container: asks } }, { runPolicy: policy }));
    await duel.agree({ state: "Created", pods: [] });
    await duel.both((namespace) =>
      client.patchStatus(VOLCANO_GROUPS, `${namespace}/${name}`, { merge: { status: { phase: "Inqueue" } } } as never),
    );
    await duel.agree({ state: "Created", pods: ["worker-0 Pending", "worker-1 Pending"] });
    await duel.run();
    await duel.agree({ state: "Running" });
    await duel.patch({ runPolicy: { suspend: true } });
    await duel.agree({ state: "Suspended", pods: [] });
  });
});

interface Manifest {
  readonly kind: string;
  readonly apiVersion: string;
  readonly spec: object;
}

/** The jobs among the manifests that come with upstream's operator. */
function manifests(): Manifest[] {
  const upstream = findUpstream();
  if (!upstream.available) return [];
  return readdirSync(upstream.examples, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".yaml"))
    .sort()
    .flatMap((file) => parseYaml(readFileSync(join(upstream.examples, file), "utf8")) as Manifest[])
    .filter((one) => one?.apiVersion === "kubeflow.org/v1" && KINDS.some(({ kind }) => kind.kind === one.kind));
}

/** Of a tuning upstream never says that it runs. */
const isTuning = ({ spec }: Manifest) => (spec as { jobMode?: string }).jobMode === "MXTune";
