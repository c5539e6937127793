import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, type TestContext, test } from "node:test";
import { inspect } from "node:util";
import { ConfigMap, type Container, DaemonSet, Node, Pod } from "@konverge/kinds";
import { LLMModel, ModelDeployment } from "@konverge/llm-operator";
import { NodeCluster, now, restrictedPod, timed, until } from "@konverge/nodes";
import { TrainingJob } from "@konverge/training-operator";
import { reportFailure } from "./failure-report.ts";
import { laneManifests } from "./lane-manifests.ts";
import { writeMachineImages, writeRuntime } from "./machine-images.ts";
import { lossesIn, Measurements, summaryIn } from "./measurements.ts";
import { findMachine, isWithoutGpu, whyNoGpu } from "./requirements.ts";

const NAMESPACE = "gpu";
/** A worker is killed after this step, with checkpoints of earlier ones. */
const KILLED_AFTER = 120;
/** How long something may take, in seconds: what hangs on a GPU must fail soon enough for the rest; a processor is slower. */
const limit = (onGpu: number) => (isWithoutGpu() ? 3 * onGpu : onGpu);

/** Operators and real workloads on a GPU of this machine, which stands for the images: see docs/guide/real-nodes.md. */
const why = whyNoGpu();
if (why) console.log(`skipped: ${why}`);
describe("the GPU lane", { skip: why }, () => {
  let cluster: NodeCluster;
  let folder: string;
  let measured: Measurements;
  /** Whether a pod has computed: without that, all else would only wait in vain. */
  let computes = false;

  before(async () => {
    const machine = findMachine();
    if ("missing" in machine) throw new Error(machine.missing.join("; "));
    measured = new Measurements(machine, new Date(now()));
    folder = mkdtempSync(join(tmpdir(), "konverge-gpu-"));
    const flags = ["--operators", "training-operator,llm-operator", "--oci-runtime", writeRuntime(folder, machine)];
    const archives = writeMachineImages(folder, machine, !isWithoutGpu());
    const start = async () => {
      cluster = await NodeCluster.start({ name: "lane-gpu", images: [], operators: false, nodes: 1, archives, flags });
    };
    measured.add("a node, two operators and the images are ready", `${await timed(start)} s`);
    await cluster.restrictedNamespace(NAMESPACE);
  });
  afterEach(async (t) => {
    const { name, passed, error } = t as unknown as { name: string; passed: boolean; error: Error | null };
    if (passed || !error) return;
    const text = inspect(error, { depth: 5 });
    console.log(text);
    measured.add(name, `failed: ${error.message.split("\n")[0]}`);
    await reportFailure(cluster, name, text);
  });
  after(async () => {
    await cluster?.stop();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  const requirePods = () => assert.ok(computes, "no pod has computed before");
  const note = (t: TestContext, what: string, value: string) => {
    t.diagnostic(`${what}: ${value}`);
    measured.add(what, value);
  };
  const logOf = (pod: string) => cluster.log(`${NAMESPACE}/${pod}`);
  const podsOf = async (labelSelector: string) =>
    (await cluster.client.list(Pod, { namespace: NAMESPACE, labelSelector })).items;
  /** A pod that ends with its program. */
  const once = (container: Container) => ({ ...restrictedPod(container), restartPolicy: "Never" }) as const;
  /** A program of the lane in a pod, which asks a server. */
  const ask = (name: string, url: string, model: string, variables: Record<string, number>) =>
    cluster.client.create(Pod, {
      metadata: { name, namespace: NAMESPACE },
      spec: once({
        name: "client",
        image: "konverge/gpu-trainer:1",
        command: ["python3", "/workspace/load.py"],
        env: Object.entries({ URL: url, MODEL: model, ...variables }).map(([one, value]) => ({
          name: one,
          value: String(value),
        })),
      }),
    });
  const summaryOf = (pod: string, seconds: number) =>
    until(`${pod} has ended`, seconds, async () => summaryIn(await logOf(pod)));

  test("NVIDIA's device plugin advertises the GPU to the scheduler, shared in time", {
    skip: isWithoutGpu() && "there is no GPU",
  }, async (t) => {
    for (const object of laneManifests("device-plugin.yaml")) {
      if (object.kind === "ConfigMap") await cluster.client.create(ConfigMap, object as never);
      else await cluster.client.create(DaemonSet, object as never);
    }
    let gpus = 0;
    const seconds = await timed(async () => {
      gpus = await until("the node has GPUs", limit(60), async () => {
        const { items } = await cluster.client.list(Node);
        const count = Number(items[0]?.status?.allocatable?.["nvidia.com/gpu"] ?? 0);
        if (count > 0) return count;
        const [pod] = (await cluster.client.list(Pod, { namespace: "kube-system" })).items;
        const lines = pod ? await cluster.log(`kube-system/${pod.metadata.name}`).catch(String) : [];
        throw new Error(`${JSON.stringify(pod?.status?.containerStatuses)} ${[...lines].slice(-5).join("\n")}`);
      });
    });
    note(t, "NVIDIA's device plugin: `nvidia.com/gpu` of the node", `${gpus} after ${seconds} s`);
  });

  test("a pod computes on the GPU", async (t) => {
    const gpus = isWithoutGpu() ? undefined : { "nvidia.com/gpu": "1" };
    const spec = once({
      name: "client",
      image: "konverge/gpu-trainer:1",
      command: ["python3", "/workspace/compute.py"],
      ...(gpus && { resources: { requests: gpus, limits: gpus } }),
    });
    await cluster.client.create(Pod, { metadata: { name: "compute", namespace: NAMESPACE }, spec });
    let summary: Record<string, number | string> | undefined;
    const took = await timed(async () => {
      summary = await summaryOf("compute", limit(45));
    });
    const { device, teraflops, seconds: multiplying } = summary!;
    const work = `${teraflops} TFLOP/s in products of matrices (bfloat16), ${multiplying} s`;
    note(t, "a pod that asks for a GPU: from its creation to its result", `${took} s; ${device}: ${work}`);
    // Without its GPU, a pod would compute all else on the processor, and take forever.
    assert.ok(isWithoutGpu() || device !== "the processor", "the pod found no GPU");
    computes = true;
  });

  test("a training whose worker is killed goes on from its checkpoint with the same losses", async (t) => {
    requirePods();
    const [manifest] = laneManifests("training.yaml");
    for (const name of ["undisturbed", "killed"]) {
      const metadata = { ...manifest!.metadata, name };
      await cluster.client.create(TrainingJob, { ...manifest, metadata } as never);
    }
    const ends = (name: string) =>
      until(`${name} has succeeded`, limit(120), async () => {
        const { status } = await cluster.client.get(TrainingJob, `${NAMESPACE}/${name}`);
        if (status?.phase === "Succeeded") return status;
        throw new Error(JSON.stringify(status));
      });
    const first = await until(`step ${KILLED_AFTER}`, limit(100), async () => {
      const lines = await logOf("killed-worker-0");
      if (lossesIn(lines).has(KILLED_AFTER)) return lossesIn(lines);
      throw new Error(lines.slice(-3).join("\n"));
    });
    await cluster.killContainer(`${NAMESPACE}/killed-worker-1`, "trainer");
    const begun = now();
    const resumedAt = await until("the gang trains again", limit(80), async () => {
      const { metadata } = await cluster.client.get(Pod, `${NAMESPACE}/killed-worker-0`);
      if (metadata.labels?.["ml.example.com/attempt"] !== "1") return undefined;
      const step = /begins at step (\d+)/.exec((await logOf("killed-worker-0")).join("\n"))?.[1];
      return step === undefined ? undefined : Number(step);
    });
    note(
      t,
      "TrainingJob: `kill -9` of a worker until the gang trains again",
      `${seconds(now() - begun)}, from step ${resumedAt}`,
    );
    assert.ok(resumedAt >= 25, `it begins at step ${resumedAt}`);
    await ends("undisturbed");
    const { restarts } = await ends("killed");
    assert.equal(restarts, 1);
    const lines = await logOf("undisturbed-worker-0");
    const whole = lossesIn(lines);
    const again = lossesIn(await logOf("killed-worker-0"));
    const last = Math.max(...whole.keys());
    assert.equal(Math.max(...again.keys()), last);
    const difference = Math.max(...[...first, ...again].map(([step, loss]) => Math.abs(loss - whole.get(step)!)));
    const curve = [1, Math.round(last / 2), last].map((step) => whole.get(step)!.toFixed(4)).join(", ");
    note(t, "loss at the first, the middle and the last step", curve);
    note(
      t,
      `largest difference of ${first.size + again.size} losses to those of the undisturbed run`,
      String(difference),
    );
    const { parameters, steps, seconds: took, device } = summaryIn(lines)!;
    const rate = (Number(steps) / Number(took)).toFixed(1);
    note(
      t,
      "DDP of two workers (Gloo)",
      `${millions(parameters)} parameters on ${device}: ${rate} steps/s beside another job`,
    );
    assert.ok(whole.get(last)! < whole.get(1)! / 2, `it learns: ${curve}`);
    assert.ok(difference < 1e-4, `losses differ by ${difference}`);
  });

  test("an LLMModel serves many requests at once through OpenAI's API", async (t) => {
    requirePods();
    const [manifest] = laneManifests("llm-model.yaml");
    const model = String(manifest!.spec["modelName"]);
    const ready = async () => {
      await cluster.client.create(LLMModel, manifest as never);
      await until("the model is ready", limit(80), async () => {
        const { status } = await cluster.client.get(LLMModel, `${NAMESPACE}/chat`);
        if (status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True")) return true;
        throw new Error(JSON.stringify(status));
      });
    };
    const took = await timed(ready);
    const [pod] = await podsOf("ai.example.com/model=chat");
    const { parameters, device } = summaryIn(await logOf(pod!.metadata.name!))!;
    note(
      t,
      "LLMModel: a decoder with random weights is ready",
      `${millions(parameters)} parameters on ${device}: ${took} s`,
    );
    const url = `http://llmmodel-chat.${NAMESPACE}.svc/v1`;
    const rates: number[] = [];
    for (const clients of [1, 8, 32]) {
      await ask(`clients-${clients}`, url, model, { CLIENTS: clients, SECONDS: 12, TOKENS: 64 });
      const { requests, failed, tokensPerSecond, p50, p95 } = await summaryOf(`clients-${clients}`, limit(45));
      const latency = `p50 ${p50} s, p95 ${p95} s`;
      note(
        t,
        `${clients} clients at once, 64 tokens each`,
        `${tokensPerSecond} tokens/s, ${latency}, ${requests} requests`,
      );
      assert.equal(failed, 0);
      rates.push(Number(tokensPerSecond));
    }
    if (!isWithoutGpu()) assert.ok(rates[2]! > 4 * rates[0]!, `32 clients get ${rates[2]} tokens/s, one ${rates[0]}`);
    await cluster.client.delete(LLMModel, `${NAMESPACE}/chat`);
  });

  test("the size of a ModelDeployment follows its load up and down", async (t) => {
    requirePods();
    const [manifest] = laneManifests("model.yaml");
    const model = String(manifest!.spec["model"]);
    await cluster.client.create(ModelDeployment, manifest as never);
    const statusOf = async () => (await cluster.client.get(ModelDeployment, `${NAMESPACE}/sized`)).status;
    const hasReplicas = (replicas: number, most: number) =>
      until(`${replicas} replicas are ready`, most, async () => {
        const status = await statusOf();
        if (status?.readyReplicas === replicas && status.neededReplicas === replicas) return true;
        throw new Error(JSON.stringify(status));
      });
    await hasReplicas(1, limit(80));
    const url = `http://sized.${NAMESPACE}.svc/v1`;
    // Four requests at a time is what the server takes in.
    await ask("probe", url, model, { CLIENTS: 4, SECONDS: 8, TOKENS: 128 });
    const { requests } = await summaryOf("probe", limit(45));
    const capacity = Number(requests) / 8;
    note(
      t,
      "ModelDeployment: what one replica of 4 sequences answers",
      `${capacity.toFixed(1)} requests/s of 128 tokens`,
    );
    await ask("busy", url, model, { RATE: 1.3 * capacity, TOKENS: 128 });
    const grown = await timed(() => hasReplicas(2, limit(120)));
    const load = `1.3 times as many requests`;
    note(t, `${load}: from 1 to 2 replicas, both ready`, `${grown} s`);
    const lost = (await logOf("busy")).filter((line) => line.startsWith("failed"));
    await cluster.client.delete(Pod, `${NAMESPACE}/busy`);
    const shrunk = await timed(() => hasReplicas(1, limit(120)));
    note(t, "no requests: back to 1 replica", `${shrunk} s`);
    const decisions = (await statusOf())?.decisions ?? [];
    note(t, "its decisions", decisions.map(({ from, to, message }) => `${from} to ${to}: ${message}`).join("; "));
    assert.deepEqual(lost, []);
  });
});

const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`;
const millions = (count: number | string | undefined) => `${Math.round(Number(count) / 1e6)} million`;
