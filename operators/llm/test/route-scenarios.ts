import assert from "node:assert/strict";
import { HTTPRoute, LLMModel, llmOperator, ModelDeployment } from "@konverge/llm-operator";
import { installForeignKind, type Scenario, type TestEnvironment } from "@konverge/operator-suite";
import { deepCopy } from "konverge/objects";
import { untilReady } from "./llm-model-scenarios.ts";
import { deployment, operatorWithoutMetrics, untilDeployed } from "./model-deployment-scenarios.ts";
import { readmeObjects } from "./model-sources-scenarios.ts";

/** What a gateway's controller reports about a route. */
async function judge(stage: TestEnvironment, name: string, status: "True" | "False", reason: string): Promise<void> {
  const route = deepCopy(await stage.get(HTTPRoute, name)) as unknown as Record<string, unknown>;
  const conditions = [{ type: "Accepted", status, reason, message: "it says so" }];
  await stage.client.update(HTTPRoute, { ...route, status: { parents: [{ conditions }] } } as never);
}

const untilRouted = (stage: TestEnvironment, name: string, words: string) =>
  stage.until(`the route is ${words}`, async () => (await stage.condition(LLMModel, name, "Routed")) === words);

/** From before the Gateway API is installed to a route that is no longer wanted. */
export const routed: Scenario = async (stage) => {
  const [object] = readmeObjects("Requests from outside the cluster");
  await stage.start(llmOperator);
  await stage.apply(object!);
  await untilReady(stage, "routed");
  await untilRouted(stage, "routed", "False GatewayApiMissing");
  await installForeignKind(stage, HTTPRoute);
  await untilRouted(stage, "routed", "Unknown Pending");
  assert.deepEqual((await stage.get(HTTPRoute, "llmmodel-routed")).spec, {
    parentRefs: [{ name: "public", namespace: "edge" }],
    hostnames: ["models.example.com"],
    rules: [
      {
        matches: [{ path: { type: "PathPrefix", value: "/routed" } }],
        filters: [
          { type: "URLRewrite", urlRewrite: { path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/" } } },
        ],
        backendRefs: [{ name: "llmmodel-routed", port: 80, weight: 100 }],
        timeouts: { request: "10m" },
      },
    ],
  });
  await judge(stage, "llmmodel-routed", "False", "NotAllowedByListeners");
  await untilRouted(stage, "routed", "False RouteNotAccepted");
  await judge(stage, "llmmodel-routed", "True", "Accepted");
  await untilRouted(stage, "routed", "True Routed");
  await stage.client.patch(LLMModel, `${stage.namespace}/routed`, { merge: { spec: { route: null } } } as never);
  await stage.until("the route is gone", async () => (await stage.find(HTTPRoute, "llmmodel-routed")) === undefined);
  await stage.until(
    "the condition is gone",
    async () => (await stage.condition(LLMModel, "routed", "Routed")) === undefined,
  );
};

/** A ModelDeployment's route leads to its Service, and goes with it. */
export const deploymentRouted: Scenario = async (stage) => {
  await installForeignKind(stage, HTTPRoute);
  await stage.start(operatorWithoutMetrics);
  await stage.apply(deployment("chat", { model: "m", route: { gateway: { name: "public" } } }));
  await untilDeployed(stage, "chat", 1);
  await stage.until("there is a route", async () => (await stage.find(HTTPRoute, "chat")) !== undefined);
  const { spec } = await stage.get(HTTPRoute, "chat");
  assert.deepEqual(spec, {
    parentRefs: [{ name: "public" }],
    rules: [
      {
        matches: [{ path: { type: "PathPrefix", value: "/" } }],
        backendRefs: [{ name: "chat", port: 80, weight: 100 }],
      },
    ],
  });
  await stage.client.delete(ModelDeployment, `${stage.namespace}/chat`);
  await stage.until("the route goes with it", async () => (await stage.find(HTTPRoute, "chat")) === undefined);
};
