import assert from "node:assert/strict";
import { Deployment } from "@konverge/kinds";
import { LLMModel, llmOperator } from "@konverge/llm-operator";
import { admissionWebhook, controller, controllerPermissions, rolesFor, watchKind } from "@konverge/runtime";
import { defineKind } from "@konverge/schema";
import type { Story } from "../form.ts";
import type { ModelCase } from "./model-case.ts";

/** What the framework offers, and how operators are to behave. */
export const practices: Story<ModelCase> = {
  title: "what a framework gives, and good practice",
  lines: {
    "L320-331": "a reconcile function is called with what a watch tells",
    "L354-357": "watches, the reconcile loop, CRDs and RBAC come from the framework",
    "L361-368": "idempotent, status and not spec, metrics, owner references, least privilege",
  },
  async play(stage, { name, model, replicas }, line) {
    const running = await stage.start(llmOperator);
    const spec = { modelName: model, replicas };
    await stage.apply({ apiVersion: "ai.example.com/v1", kind: "LLMModel", metadata: { name }, spec });
    await line("L320-331", async () => {
      await stage.until(
        "what was applied is made",
        async () => (await stage.find(Deployment, `llmmodel-${name}`)) !== undefined,
      );
    });
    await line("L354-357", async () => {
      for (const given of [watchKind, controller, admissionWebhook, defineKind]) assert.equal(typeof given, "function");
      const sketch = controller(LLMModel, { owns: [Deployment], reconcile: () => ({}) });
      const [role] = rolesFor(controllerPermissions([sketch]), { name: "sketch" });
      assert.ok(role && "rules" in role && role.rules?.some(({ resources }) => resources?.includes("deployments")));
      assert.equal(LLMModel.crd().metadata.name, "llmmodels.ai.example.com");
    });
    await line("L361-368", async () => {
      await stage.until(
        "it is ready",
        async () => (await stage.get(LLMModel, name)).status?.readyReplicas === replicas,
      );
      await stage.settled();
      const before = await stage.get(LLMModel, name);
      const writes = stage.writes();
      running.crash();
      await running.restart();
      await stage.settled();
      assert.equal(stage.writes(), writes, "a second look writes nothing");
      assert.deepEqual((await stage.get(LLMModel, name)).spec, before.spec, "the spec is the user's");
      const { metadata } = await stage.get(Deployment, `llmmodel-${name}`);
      assert.equal(metadata.ownerReferences?.[0]?.uid, before.metadata.uid);
      assert.match(await running.metrics(), /controller_runtime_reconcile_total/);
    });
  },
};
