import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { LLMModel, llmOperator } from "@konverge/llm-operator";
import { type Scenario, supplyVolumes, type TestEnvironment } from "@konverge/operator-suite";
import { PersistentVolumeClaim, Pod, Secret } from "konverge/kinds";
import { parseYaml } from "konverge/schema";
import { model, untilDegraded, untilReady } from "./llm-model-scenarios.ts";

/** The objects of a section of this package's README. */
export function readmeObjects(heading: string): object[] {
  const text = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const section = text.slice(text.indexOf(`\n## ${heading}\n`));
  const [, yaml = ""] = /```yaml[^\n]*\n([\s\S]*?)```/.exec(section) ?? [];
  return parseYaml(yaml) as object[];
}

/** What the examples refer to. */
export async function prerequisites(stage: TestEnvironment): Promise<void> {
  const { client, namespace } = stage;
  await supplyVolumes(stage, "1Gi");
  await client.create(PersistentVolumeClaim, {
    metadata: { name: "weights", namespace },
    spec: { accessModes: ["ReadWriteMany"], resources: { requests: { storage: "1Gi" } } },
  });
  await client.create(Secret, { metadata: { name: "hugging-face", namespace }, stringData: { token: "t" } });
  await client.create(Secret, {
    metadata: { name: "bucket", namespace },
    stringData: { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "key" },
  });
}

/** The sources of the README, as they are. */
export const sourcesConverge: Scenario = async (stage) => {
  await prerequisites(stage);
  await stage.start(llmOperator);
  const objects = readmeObjects("Model sources");
  assert.equal(objects.length, 4);
  for (const object of objects) await stage.apply(object);
  for (const name of ["from-hugging-face", "from-claim", "from-s3", "from-image"]) await untilReady(stage, name);
  const pods = await stage.list(Pod, "ai.example.com/model=from-s3");
  const [download] = pods[0]?.status?.initContainerStatuses ?? [];
  assert.equal(download?.state?.terminated?.exitCode, 0, "the download ended before the server started");
};

/** A Secret that does not exist is reported, and found when it is created. */
export const secretMissing: Scenario = async (stage) => {
  await stage.start(llmOperator);
  const source = { huggingFace: { repo: "org/llama", tokenSecret: { name: "hub" } } };
  await stage.apply(model("llama", { source }));
  await untilDegraded(stage, "llama", "ContainerCannotStart");
  await stage.client.create(Secret, {
    metadata: { name: "hub", namespace: stage.namespace },
    stringData: { token: "t" },
  });
  await untilReady(stage, "llama");
};

/** A server that is too old for image volumes is reported, with what to do; another source works. */
export const imageVolumesUnsupported: Scenario = async (stage) => {
  stage.injectFault(async (request, next) => {
    const answer = await next(request);
    if (request.path !== "/version") return answer;
    const body = JSON.stringify({ major: "1", minor: "30+", gitVersion: "v1.30.4" });
    return { ...answer, body } as typeof answer;
  });
  await stage.start(llmOperator);
  await stage.apply(model("llama", { source: { image: { reference: "registry.example/llama:1" } } }));
  await stage.until(
    "it is refused",
    async () => (await stage.condition(LLMModel, "llama", "Ready")) === "False ImageVolumesUnsupported",
  );
  await stage.client.patch(LLMModel, `${stage.namespace}/llama`, {
    merge: { spec: { source: { image: null, huggingFace: { repo: "org/llama" } } } },
  } as never);
  await untilReady(stage, "llama");
};
