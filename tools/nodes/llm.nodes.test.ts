import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { Deployment, Pod } from "@konverge/kinds";
import { LLMModel } from "@konverge/llm-operator";
import { openaiServer } from "./images/openai-server.ts";
import { python } from "./images/server-images.ts";
import { NodeCluster } from "./node-cluster.ts";
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
  const outcomes = async () => {
    const lines: string[] = [];
    for await (const line of cluster.client.logs(`${NAMESPACE}/client`)) lines.push(line);
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
    await cluster.client.create(Pod, {
      metadata: { name: "client", namespace: NAMESPACE },
      spec: {
        terminationGracePeriodSeconds: 0,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
        containers: [
          {
            name: "client",
            image: "python:3.11-slim",
            command: ["python3", "-c", CLIENT],
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
            env: [
              { name: "URL", value: `http://llmmodel-words.${NAMESPACE}.svc/v1` },
              { name: "MODEL", value: "example/words" },
            ],
          },
        ],
      },
    });
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
  });
});
