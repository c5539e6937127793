import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { Deployment, Pod } from "@konverge/kinds";
import { LLMModel, ModelDeployment } from "@konverge/llm-operator";
import { openaiServer } from "./images/openai-server.ts";
import { python } from "./images/server-images.ts";
import { NodeCluster } from "./node-cluster.ts";
import { restrictedPod } from "./pods.ts";
import { whyNoRealNodes } from "./requirements.ts";
import { now, timed, until } from "./waiting.ts";

const NAMESPACE = "models";
const KEY = `${NAMESPACE}/words`;
const CLIENT = readFileSync(new URL("programs/ask.py", import.meta.url), "utf8");

/** The server in place of vLLM needs little, and the nodes are small. */
const SMALL = { requests: { cpu: "50m", memory: "64Mi", "ephemeral-storage": "16Mi" } };

/** A server with vLLM's flags, probes and metrics, as the operator runs it, and a client that asks it through its Service. */
describe("llm on real nodes", { skip: whyNoRealNodes() }, () => {
  let cluster: NodeCluster;

  before(async () => {
    cluster = await NodeCluster.start({ name: "lane-llm", images: [openaiServer, python] });
    for (const name of [NAMESPACE, "operators"]) await cluster.restrictedNamespace(name);
    cluster.deploy("llm-operator", "operators");
  });
  after(async () => await cluster?.stop());

  const isReady = (seconds: number) =>
    until("the model is ready", seconds, async () => {
      const { metadata, status } = await cluster.client.get(LLMModel, KEY);
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      if (ready?.status === "True" && ready.observedGeneration === metadata.generation) return true;
      throw new Error(JSON.stringify(status));
    });
  /** A pod that asks a server, 20 times per second unless the variables say otherwise. */
  const ask = (name: string, url: string, variables: Record<string, string> = {}) =>
    cluster.client.create(Pod, {
      metadata: { name, namespace: NAMESPACE },
      spec: restrictedPod({
        name: "client",
        image: "python:3.11-slim",
        command: ["python3", "-c", CLIENT],
        env: [
          { name: "URL", value: url },
          { name: "MODEL", value: "example/words" },
          ...Object.entries(variables).map(([variable, value]) => ({ name: variable, value })),
        ],
      }),
    });
  const outcomes = async (client = "client") => {
    const lines = await cluster.log(`${NAMESPACE}/${client}`);
    return {
      answered: lines.filter((line) => line === "answered").length,
      failed: lines.filter((line) => line.startsWith("failed")),
    };
  };

  test("two replicas parse the arguments they are given, and pass their probes", async (t) => {
    const created = async () => {
      await cluster.client.create(LLMModel, {
        metadata: { name: "words", namespace: NAMESPACE },
        // As a user writes it: fields with defaults are left to the server.
        spec: {
          modelName: "example/words",
          replicas: 2,
          gpuCount: 0,
          image: "example/openai-server:v1",
          args: ["--max-model-len", "512"],
          sharedMemory: "64Mi",
          resources: SMALL,
        } as unknown as LLMModel["spec"],
      });
      await isReady(120);
    };
    t.diagnostic(`serves after ${await timed(created)} s`);
  });

  test("a client of OpenAI's API is answered through the Service", async () => {
    await ask("client", `http://llmmodel-words.${NAMESPACE}.svc/v1`);
    await until("100 requests are answered", 60, async () => ((await outcomes()).answered >= 100 ? true : undefined));
    assert.deepEqual((await outcomes()).failed, []);
  });

  test("a rollout under load loses no request", async (t) => {
    const before = (await outcomes()).answered;
    const rollOut = async () => {
      await cluster.client.patch(LLMModel, KEY, { merge: { spec: { args: ["--max-model-len", "1024"] } } });
      await until("the Deployment is rolled out", 180, async () => {
        const { metadata, status } = await cluster.client.get(Deployment, `${NAMESPACE}/llmmodel-words`);
        const { items } = await cluster.client.list(Pod, { namespace: NAMESPACE, labelSelector: "app=llmmodel" });
        const isDone = status?.observedGeneration === metadata.generation && status?.updatedReplicas === 2;
        return isDone && items.length === 2 && items.every(({ spec }) => spec?.containers[0]?.args?.includes("1024"))
          ? true
          : undefined;
      });
    };
    const seconds = await timed(rollOut);
    const after = await outcomes();
    t.diagnostic(
      `rolled out in ${seconds} s: ${after.answered - before} requests answered, ${after.failed.length} lost`,
    );
    assert.deepEqual(after.failed, []);
    await cluster.client.delete(Pod, `${NAMESPACE}/client`);
  });

  test("a replica that is deleted while it loads ends long before its grace period", async (t) => {
    const spec = {
      ...{ modelName: "example/words", gpuCount: 0, image: "example/openai-server:v1", sharedMemory: "64Mi" },
      ...{ resources: SMALL, env: [{ name: "LOADING_SECONDS", value: "600" }] },
    } as unknown as LLMModel["spec"];
    await cluster.client.create(LLMModel, { metadata: { name: "loading", namespace: NAMESPACE }, spec });
    const labelSelector = "ai.example.com/model=loading";
    const pods = async () => (await cluster.client.list(Pod, { namespace: NAMESPACE, labelSelector })).items;
    await until("it loads", 120, async () => {
      const [pod] = await pods();
      return pod?.status?.containerStatuses?.[0]?.state?.running ? true : undefined;
    });
    await cluster.client.delete(LLMModel, `${NAMESPACE}/loading`);
    const seconds = await timed(async () => {
      await until("its pod is gone", 60, async () => ((await pods()).length === 0 ? true : undefined));
    });
    t.diagnostic(`gone ${seconds} s after its deletion, of a grace period of 310 s`);
  });

  test("the size of a ModelDeployment follows a load that rises and falls, and no request is lost", async (t) => {
    await cluster.client.delete(LLMModel, KEY);
    await cluster.client.create(ModelDeployment, {
      metadata: { name: "sized", namespace: NAMESPACE },
      // Requests of half a second, four at a time on each replica.
      spec: {
        ...{ model: "example/words", gpuCount: 0, image: "example/openai-server:v1", sharedMemory: "64Mi" },
        resources: SMALL,
        args: ["--max-num-seqs", "4"],
        sla: { maxLatency: "1s" },
        scaling: { minReplicas: 1, maxReplicas: 8, downAfter: "30s" },
      } as unknown as ModelDeployment["spec"],
    });
    const begun = now();
    let last = "";
    const size = async () => {
      const { status } = await cluster.client.get(ModelDeployment, `${NAMESPACE}/sized`);
      const { requestsPerSecond = 0, latency = "no", neededReplicas = 0, readyReplicas = 0, conditions } = status ?? {};
      const isMet = conditions?.find(({ type }) => type === "SLAMet")?.status === "True";
      const state = `${requestsPerSecond} requests/s, ${latency} latency: ${neededReplicas} needed, ${readyReplicas} ready`;
      if (state !== last) t.diagnostic(`${((now() - begun) / 1000).toFixed(0)} s: ${state}`);
      last = state;
      return neededReplicas === readyReplicas ? { isMet, load: requestsPerSecond, replicas: readyReplicas } : undefined;
    };
    type Size = NonNullable<Awaited<ReturnType<typeof size>>>;
    /** Waits for a load in the status, and for the replicas that it needs. */
    const sizedFor = (what: string, isMeasured: (size: Size) => boolean) =>
      until(what, 300, async () => {
        const found = await size();
        return found && isMeasured(found) ? found.replicas : undefined;
      });
    const demand = async (client: string, rate: number) =>
      await ask(client, `http://sized.${NAMESPACE}.svc/v1`, { RATE: String(rate), TOKENS: "25" });

    await sizedFor("a replica is ready", ({ replicas }) => replicas > 0);
    await demand("calm", 3);
    const calm = await sizedFor("the calm load is measured", ({ load, isMet }) => isMet && load > 2 && load < 4);
    await demand("busy", 17);
    const busy = await sizedFor(
      "the SLA is met again",
      ({ load, replicas, isMet }) => isMet && load > 15 && replicas > calm,
    );
    const peak = await outcomes("busy");
    await cluster.client.delete(Pod, `${NAMESPACE}/busy`);
    const after = await sizedFor("the fall is followed", ({ load, replicas }) => load < 4 && replicas < busy);
    const { items } = await until("the others have ended", 330, async () => {
      const pods = await cluster.client.list(Pod, { namespace: NAMESPACE, labelSelector: "app=modeldeployment" });
      return pods.items.length === after ? pods : undefined;
    });
    const low = await outcomes("calm");
    t.diagnostic(
      `${calm} replicas, then ${busy}, then ${items.length}: ${low.answered + peak.answered} requests answered, ` +
        `${low.failed.length + peak.failed.length} lost`,
    );
    assert.deepEqual([...low.failed, ...peak.failed], []);
    const { status } = await cluster.client.get(ModelDeployment, `${NAMESPACE}/sized`);
    t.diagnostic((status?.decisions ?? []).map(({ from, to, message }) => `${from} to ${to}: ${message}`).join("; "));
  });
});
