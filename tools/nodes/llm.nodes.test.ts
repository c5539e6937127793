import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { Deployment, Pod } from "@konverge/kinds";
import { LLMModel } from "@konverge/llm-operator";
import { openaiServer } from "./images/openai-server.ts";
import { python } from "./images/server-images.ts";
import { NodeCluster } from "./node-cluster.ts";
import { restrictedPod } from "./pods.ts";
import { whyNoRealNodes } from "./requirements.ts";
import { timed, until } from "./waiting.ts";

const NAMESPACE = "models";
const KEY = `${NAMESPACE}/words`;
const CLIENT = readFileSync(new URL("programs/ask.py", import.meta.url), "utf8");

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
  /** A pod that asks a server 20 times per second. */
  const ask = (name: string, url: string) =>
    cluster.client.create(Pod, {
      metadata: { name, namespace: NAMESPACE },
      spec: restrictedPod({
        name: "client",
        image: "python:3.11-slim",
        command: ["python3", "-c", CLIENT],
        env: [
          { name: "URL", value: url },
          { name: "MODEL", value: "example/words" },
        ],
      }),
    });
  const outcomes = async () => {
    const lines = await cluster.log(`${NAMESPACE}/client`);
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
});
