import { test } from "node:test";
import { HTTPRoute, ModelDeployment, ServiceMonitor } from "@konverge/llm-operator";
import { installForeignKind, playOnEmbedded, type TestEnvironment } from "@konverge/operator-suite";
import { sample } from "./llm-model-scenarios.ts";
import { deployment, operatorWithoutMetrics } from "./model-deployment-scenarios.ts";

/** What the samples leave out, and what could be divided between two revisions. */
const ROUTED = {
  model: "m",
  replicas: 3,
  gpuCount: 0,
  image: "vllm/vllm-openai:v0.8",
  sla: { maxLatency: "2s", timeToFirstToken: "500ms" },
  source: { huggingFace: { repo: "org/m", revision: "v1" } },
  lora: { adapters: [{ name: "law", source: { huggingFace: { repo: "org/law" } } }] },
  env: [{ name: "A", value: "b" }],
  template: { metadata: { labels: { team: "chat" } } },
  route: { gateway: { name: "public" }, hostnames: ["models.example.com"] },
};

/** What the operator sends to write children, by what it writes: each text once, in the order in which it was sent. */
function recordWrites(stage: TestEnvironment): Map<string, Set<string>> {
  const written = new Map<string, Set<string>>();
  stage.injectFault((request, next) => {
    const { method, path, body = "" } = request;
    const [url = ""] = path.split("?");
    const isOwn = /\/(modeldeployments|events)(\/|$)/.test(url);
    if (method !== "GET" && method !== "DELETE" && url.includes(`/namespaces/${stage.namespace}/`) && !isOwn) {
      const text = typeof body === "string" ? body : new TextDecoder().decode(body);
      const texts = written.get(`${method} ${path}`) ?? new Set();
      written.set(`${method} ${path}`, texts.add(text));
    }
    return next(request);
  });
  return written;
}

test("without spec.rollout, the children are byte for byte those of an operator that has no canaries", async (t) => {
  let recorded = "";
  await playOnEmbedded(async (stage) => {
    await installForeignKind(stage, HTTPRoute);
    await installForeignKind(stage, ServiceMonitor);
    await stage.start(operatorWithoutMetrics);
    const written = recordWrites(stage);
    await stage.apply(sample("model-deployment"));
    await stage.apply(sample("model-deployment-full"));
    await stage.apply(deployment("routed", ROUTED));
    const names = ["gemma-2b", "llama-3-8b", "routed"];
    for (const name of names) {
      await stage.until(
        `${name} is ready`,
        async () => (await stage.condition(ModelDeployment, name, "Ready")) === "True AsExpected",
      );
    }
    await stage.settled();
    stage.injectFault(undefined);
    const requests = [...written].sort(([a], [b]) => (a < b ? -1 : 1));
    recorded = JSON.stringify(Object.fromEntries(requests.map(([to, texts]) => [to, [...texts].map(sent)])), null, 2);
    for (const name of names) {
      const { metadata } = await stage.get(ModelDeployment, name);
      recorded = recorded.replaceAll(metadata.uid!, `uid-of-${name}`);
    }
  });
  t.assert.fileSnapshot(recorded, new URL("generated/children/model-deployments.json", import.meta.url).pathname, {
    serializers: [(text: string) => `${text}\n`],
  });
});

/** A child as it was sent, its fields in that order; without the preconditions of the request. */
function sent(text: string): unknown {
  const { metadata, ...object } = JSON.parse(text) as { metadata: Record<string, unknown> };
  const { uid: _, resourceVersion: __, ...given } = metadata;
  return { ...object, metadata: given };
}
