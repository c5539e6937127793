import assert from "node:assert/strict";
import { CustomResourceDefinition, Deployment, Pod, Service } from "@konverge/kinds";
import { LLMModel, llmOperator } from "@konverge/llm-operator";
import { printYaml } from "@konverge/schema";
import { checklist, type Story } from "../form.ts";
import { sh, shUntil } from "../shell.ts";
import type { ModelCase } from "../stories/model-case.ts";
import { modelDeployments } from "../stories/model-deployments.ts";
import { checkLogs } from "../stories/operator-logs.ts";
import { practices } from "../stories/practices.ts";
import { runningOperator } from "../stories/running-operator.ts";
import { tutorialScripts } from "../stories/tutorial-scripts.ts";

const manifest = ({ name, model, replicas, gpuType }: ModelCase) =>
  printYaml({
    apiVersion: "ai.example.com/v1",
    kind: "LLMModel",
    metadata: { name },
    spec: { modelName: model, replicas, gpuType },
  });

const write = (file: string, text: string) => `cat > ${file} <<'EOF'\n${text}\nEOF`;

/** Without an operator: kubectl works on custom resources, the schema is checked, and nothing runs. */
const crdAlone: Story<ModelCase> = {
  title: "a CRD without an operator",
  kubectl: true,
  lines: {
    "L51-54": "kubectl works with custom resources, and nothing runs without an operator",
    L64: "the schema is OpenAPI v3, and what contradicts it is refused",
    "L69-91": "the CRD has the names, the scope, the version and the fields",
    L96: "kubectl lists the models",
    L97: "kubectl describes a model",
    L98: "kubectl applies a file",
    "L191-197": "a CRD alone takes no action",
    L204: "kubectl lists CRDs",
    L207: "kubectl describes the CRD",
    L210: "kubectl prints the CRD as YAML",
    L219: "kubectl lists custom resources",
    L220: "kubectl lists them by their short name",
    L223: "kubectl describes one",
    L226: "kubectl prints one as YAML",
    L229: "kubectl creates one from a file",
    L232: "kubectl edits one",
    L235: "kubectl deletes one",
  },
  async play(stage, values, line) {
    const { name, model, replicas, gpuType } = values;
    const row = new RegExp(`${name} +${model}`);
    await stage.install(llmOperator);
    await line("L69-91", async () => {
      const { spec } = await stage.get(CustomResourceDefinition, "llmmodels.ai.example.com");
      assert.equal(spec.group, "ai.example.com");
      assert.deepEqual(
        [spec.names.plural, spec.names.singular, spec.names.kind],
        ["llmmodels", "llmmodel", "LLMModel"],
      );
      assert.equal(spec.scope, "Namespaced");
      const fields = spec.versions[0]?.schema?.openAPIV3Schema?.properties?.["spec"]?.properties;
      assert.deepEqual([fields?.["modelName"]?.type, fields?.["replicas"]?.type], ["string", "integer"]);
    });
    await sh(stage, write("my-llm-model.yaml", manifest(values)));
    await line("L98", async () => {
      assert.match(
        await sh(stage, "kubectl apply -f my-llm-model.yaml"),
        new RegExp(`llmmodel.ai.example.com/${name} created`),
      );
    });
    await line("L96", async () => assert.match(await sh(stage, "kubectl get llmmodels"), row));
    await line("L219", async () => assert.match(await sh(stage, "kubectl get llmmodels"), /^NAME +MODEL/));
    await line("L220", async () => assert.match(await sh(stage, "kubectl get llm"), row));
    await line("L97", async () => {
      assert.match(await sh(stage, `kubectl describe llmmodel ${name}`), new RegExp(`Gpu Type: +${gpuType}`));
    });
    await line("L223", async () => {
      assert.match(await sh(stage, `kubectl describe llmmodel ${name}`), new RegExp(`Replicas: +${replicas}\\b`));
    });
    await line("L226", async () => {
      assert.match(await sh(stage, `kubectl get llmmodel ${name} -o yaml`), new RegExp(`modelName: ${model}`));
    });
    await line("L229", async () => {
      assert.match(await sh(stage, "kubectl apply -f my-llm-model.yaml"), /unchanged/);
    });
    await line("L232", async () => {
      const env = { KUBE_EDITOR: `sed -i 's/replicas: ${replicas}/replicas: ${replicas + 1}/'` };
      assert.match(await sh(stage, `kubectl edit llmmodel ${name}`, env), /edited/);
      assert.equal((await stage.get(LLMModel, name)).spec.replicas, replicas + 1);
    });
    await line("L64", async () => {
      const bad = manifest({ ...values, name: "bad" }).replace(`replicas: ${replicas}`, "replicas: many");
      const { code, stderr } = await stage.shell(`${write("bad.yaml", bad)}\nkubectl apply -f bad.yaml`);
      assert.equal(code, 1);
      assert.match(stderr, /spec\.replicas: Invalid value: "string": .*must be of type integer/);
      assert.equal(await stage.find(LLMModel, "bad"), undefined);
    });
    await line("L51-54", async () => {
      await stage.advance(2_000);
      assert.deepEqual(await stage.list(Pod), []);
      assert.deepEqual((await stage.get(LLMModel, name)).status, { observedGeneration: -1 });
    });
    await line("L191-197", async () => assert.deepEqual(await stage.list(Deployment), []));
    await line("L204", async () => assert.match(await sh(stage, "kubectl get crds"), /llmmodels\.ai\.example\.com/));
    await line("L207", async () => {
      assert.match(await sh(stage, "kubectl describe crd llmmodels.ai.example.com"), /Kind: +LLMModel/);
    });
    await line("L210", async () => {
      assert.match(await sh(stage, "kubectl get crd llmmodels.ai.example.com -o yaml"), /openAPIV3Schema:/);
    });
    await line("L235", async () => {
      assert.match(await sh(stage, `kubectl delete llmmodel ${name}`), /deleted/);
      assert.equal(await stage.find(LLMModel, name), undefined);
    });
  },
};

/** With the operator: what is declared is made, followed and reported; deleting the CRD does not hang. */
const operatorAtWork: Story<ModelCase> = {
  title: "an operator at work",
  kubectl: true,
  lines: {
    "L34-37": "the operator watches, reconciles and automates",
    L41: "YAML goes in, resources come out",
    "L108-111": "it watches the API and makes Deployments from models",
    "L119-122": "what is desired and what is there are compared; the status follows continuously",
    "L126-133": "spec, status of the Deployment, reconcile, again",
    "L141-147": "a model without a name of its own is served under the object's name",
    "L155-161": "the five steps repeat for ever",
    L167: "a Deployment, pods and a Service are there",
    L213: "deleting the CRD deletes all its instances and what was made for them, while the operator runs",
    L431: "kubectl describes a model and what became of it",
    L451: "the operator's events are listed by their last time",
  },
  async play(stage, values, line) {
    const { name, replicas, gpuType } = values;
    await stage.start(llmOperator);
    await sh(stage, `${write("model.yaml", manifest(values))}\nkubectl apply -f model.yaml`);
    const ready = new RegExp(`llmmodel-${name} +${replicas}/${replicas}`);
    await line("L41", async () => void (await shUntil(stage, "kubectl get deployments", ready)));
    await line("L167", async () => {
      const pods = (await stage.list(Pod)).filter(({ metadata }) => metadata.name.startsWith(`llmmodel-${name}-`));
      assert.equal(pods.length, replicas);
      assert.ok(await stage.find(Service, `llmmodel-${name}`));
    });
    await line("L108-111", async () => {
      const { spec, metadata } = await stage.get(Deployment, `llmmodel-${name}`);
      assert.equal(spec?.replicas, replicas);
      assert.equal(metadata.ownerReferences?.[0]?.name, name);
    });
    await line("L119-122", async () => {
      await stage.until(
        "the status says so",
        async () => (await stage.get(LLMModel, name)).status?.readyReplicas === replicas,
      );
      await sh(stage, `kubectl scale llmmodel ${name} --replicas=${replicas + 1}`);
      await stage.until(
        "the status follows",
        async () => (await stage.get(LLMModel, name)).status?.readyReplicas === replicas + 1,
      );
    });
    await line("L126-133", async () => {
      await sh(stage, `kubectl scale deployment llmmodel-${name} --replicas=0`);
      await stage.until("it is put right", async () => {
        return (await stage.get(Deployment, `llmmodel-${name}`)).spec?.replicas === replicas + 1;
      });
    });
    await line("L34-37", async () => {
      await sh(stage, `kubectl delete deployment llmmodel-${name}`);
      await shUntil(stage, "kubectl get deployments", new RegExp(`llmmodel-${name} +${replicas + 1}/${replicas + 1}`));
    });
    await line("L155-161", async () => {
      for (const size of [replicas, replicas + 1, replicas]) {
        await sh(stage, `kubectl scale llmmodel ${name} --replicas=${size}`);
        await stage.until(
          `${size} are ready`,
          async () => (await stage.get(LLMModel, name)).status?.readyReplicas === size,
        );
      }
    });
    await line("L431", async () => {
      const text = await sh(stage, `kubectl describe llmmodel ${name}`);
      assert.match(text, /Ready Replicas: +\d/);
      assert.match(text, /Type: +Ready/);
    });
    await line("L451", async () => {
      // Times of events are whole seconds: within the same one, kubectl may put any of them last.
      await stage.advance(1_000);
      await sh(
        stage,
        `${write("wrong.yaml", manifest({ ...values, name: `${name}-x`, gpuType: "Z9000" }))}\nkubectl apply -f wrong.yaml`,
      );
      await shUntil(stage, "kubectl get events --sort-by='.lastTimestamp' | tail -20", /UnknownGpuType/);
      const last = await sh(
        stage,
        `kubectl get events --field-selector involvedObject.name=${name}-x -o jsonpath='{.items[*].lastTimestamp}'`,
      );
      assert.match(last, /\d{4}-\d\d-\d\dT/);
      await sh(stage, `kubectl delete llmmodel ${name}-x`);
    });
    await line("L141-147", async () => {
      const spec = { replicas: 1, gpuType };
      await stage.apply({ apiVersion: "ai.example.com/v1", kind: "LLMModel", metadata: { name: `${name}-8b` }, spec });
      await stage.until("it is made", async () => (await stage.find(Deployment, `llmmodel-${name}-8b`)) !== undefined);
      const { spec: made } = await stage.get(Deployment, `llmmodel-${name}-8b`);
      assert.deepEqual(made?.template.spec?.containers[0]?.env?.[0], { name: "MODEL_NAME", value: `${name}-8b` });
    });
    await line("L213", async () => {
      // A real garbage collector discovers new kinds every half minute; if a CRD is deleted before that, it does not know the
      // owners of the remaining children.
      if (stage.where === "real") await stage.advance(40_000);
      assert.match(await sh(stage, "timeout 60 kubectl delete crd llmmodels.ai.example.com"), /deleted/);
      await stage.until("all is gone", async () => {
        const made = (await stage.list(Deployment)).filter(({ metadata }) => metadata.name.startsWith("llmmodel-"));
        return (
          made.length === 0 && (await stage.find(CustomResourceDefinition, "llmmodels.ai.example.com")) === undefined
        );
      });
    });
  },
};

/** The log of the deployed operator. A pod on a simulated node of a real control plane has none. */
const logs: Story<ModelCase> = {
  title: "the operator's log",
  kubectl: true,
  where: "embedded",
  lines: { L425: "its log is read by its label", L448: "the last lines of it, too" },
  play: (stage, values, line) =>
    checkLogs(
      stage,
      values,
      { L425: "kubectl logs -l app=llm-operator", L448: "kubectl logs -l app=llm-operator --tail=100" },
      line,
    ),
};

export default checklist<ModelCase>({
  id: "D0",
  name: "what-is-a-crd",
  cases: [
    { namespace: "default", name: "my-model", model: "llama-3-70b", replicas: 3, gpuType: "H100" },
    { namespace: "team-b", name: "chat", model: "mistral-7b", replicas: 2, gpuType: "A100" },
  ],
  stories: [crdAlone, operatorAtWork, modelDeployments, runningOperator, logs, practices, tutorialScripts],
});
