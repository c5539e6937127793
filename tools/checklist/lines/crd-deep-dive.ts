import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CustomResourceDefinition, Deployment, Pod } from "@konverge/kinds";
import { LLMModel, llmOperator } from "@konverge/llm-operator";
import { knowsOperator } from "../deployed.ts";
import { checklist, type Story } from "../form.ts";
import { sh, shUntil } from "../shell.ts";
import { checkLogs } from "../stories/operator-logs.ts";

/** Names and values of two models, and where they are. */
interface DeepCase {
  readonly namespace: string;
  readonly name: string;
  readonly model: string;
  readonly replicas: number;
  readonly gpuType: string;
  readonly path: string;
  readonly other: {
    readonly name: string;
    readonly model: string;
    readonly replicas: number;
    readonly gpuType: string;
  };
  readonly grown: number;
  readonly gpus: number;
}

const manifest = (name: string, spec: Readonly<Record<string, string | number>>) =>
  [
    "apiVersion: ai.example.com/v1",
    "kind: LLMModel",
    "metadata:",
    `  name: ${name}`,
    "spec:",
    ...Object.entries(spec).map(([field, value]) => `  ${field}: ${value}`),
  ].join("\n");

const heredoc = (text: string) => `kubectl apply -f - <<EOF\n${text}\nEOF`;

const TUTORIAL = join(import.meta.dirname, "../../../operators/llm/tutorial");

/** Milliseconds until the operator knows of a model, and until it has made what is needed. */
const EVENT_TIME = 2_000;
const DEPLOYMENT_TIME = 3_000;

/** The three layers, one after another: definition, instance, operator. */
const layers: Story<DeepCase> = {
  title: "from a CRD to running containers",
  kubectl: true,
  lines: {
    "L20-22": "a CRD creates no containers",
    L39: "a definition runs nothing",
    L52: "an instance runs nothing",
    "L62-65": "the operator is where containers come from",
    "L87-107": "the CRD has the model's name, its replicas and its GPUs' type",
    L117: "the CRD is applied from a file",
    L122: "the list of models is empty, and no error",
    "L132-140": "an instance has a name, replicas, a GPU type and a path",
    L150: "an instance is applied from a file",
    "L151-153": "the list has the columns NAME and MODEL",
    "L157-160": "nothing runs yet",
    L202: "an instance from before is picked up when the operator starts",
    "L212-242": "the Deployment has the name, the replicas, the container, the image and the variable",
    "L257-265": "the Deployment and its pods are listed, all ready",
  },
  async play(stage, { name, model, replicas, gpuType, path }, line) {
    const crd = "llmmodels.ai.example.com";
    await line("L117", async () => {
      assert.match(
        await sh(stage, `kubectl apply -f ${TUTORIAL}/01-what-is-crd.yaml`),
        /llmmodels|unchanged|configured/,
      );
      await sh(stage, `kubectl wait --for=condition=Established crd/${crd} --timeout=60s`);
    });
    await line("L87-107", async () => {
      const { spec } = await stage.get(CustomResourceDefinition, crd);
      const fields = spec.versions[0]?.schema?.openAPIV3Schema?.properties?.["spec"]?.properties ?? {};
      assert.deepEqual(
        ["modelName", "replicas", "gpuType"].map((field) => fields[field]?.type),
        ["string", "integer", "string"],
      );
    });
    await line("L122", async () => {
      const { code, stderr } = await stage.shell("kubectl get llmmodels");
      assert.deepEqual([code, stderr.trim()], [0, `No resources found in ${stage.namespace} namespace.`]);
    });
    await line("L39", async () => assert.deepEqual(await stage.list(Pod), []));
    const text = manifest(name, { modelName: model, replicas, gpuType, modelPath: path });
    await line("L150", async () => {
      await sh(stage, `cat > my-model.yaml <<'EOF'\n${text}\nEOF`);
      assert.match(await sh(stage, "kubectl apply -f my-model.yaml"), /created/);
    });
    await line("L132-140", async () => {
      const { spec } = await stage.get(LLMModel, name);
      assert.deepEqual([spec.modelName, spec.replicas, spec.gpuType, spec.modelPath], [model, replicas, gpuType, path]);
    });
    await line("L151-153", async () => {
      assert.match(await sh(stage, "kubectl get llmmodels"), new RegExp(`^NAME +MODEL.*\n${name} +${model}\\b`));
    });
    await line("L157-160", async () => {
      await stage.advance(1_000);
      assert.deepEqual(await stage.list(Pod), []);
    });
    await line("L52", async () =>
      assert.deepEqual((await stage.get(LLMModel, name)).status, { observedGeneration: -1 }),
    );
    await line("L20-22", async () => assert.deepEqual(await stage.list(Deployment), []));
    await stage.start(llmOperator);
    await line("L202", async () => {
      await stage.until(
        "it is picked up",
        async () => (await stage.find(Deployment, `llmmodel-${name}`)) !== undefined,
      );
    });
    await line("L257-265", async () => {
      await shUntil(stage, "kubectl get deployments", new RegExp(`llmmodel-${name} +${replicas}/${replicas}`));
      const rows = (await sh(stage, "kubectl get pods")).match(new RegExp(`^llmmodel-${name}-\\S+ +1/1`, "gm"));
      assert.equal(rows?.length, replicas);
    });
    await line("L62-65", async () => {
      const pods = await stage.list(Pod);
      assert.equal(pods.flatMap(({ spec }) => spec?.containers ?? []).length, replicas);
    });
    await line("L212-242", async () => {
      const { spec } = await stage.get(Deployment, `llmmodel-${name}`);
      const [container] = spec?.template.spec?.containers ?? [];
      assert.equal(spec?.replicas, replicas);
      assert.deepEqual([container?.name, container?.image], ["model", "vllm/vllm-openai:latest"]);
      assert.deepEqual(container?.env?.[0], { name: "MODEL_NAME", value: model });
    });
  },
};

/** A model is made, grows and goes, each by one command. */
const examples: Story<DeepCase> = {
  title: "creating, scaling, deleting",
  kubectl: true,
  lines: {
    "L281-344": "additions, changes and deletions are followed, for ever",
    "L354-363": "a model is applied from standard input",
    "L371-374": "its Deployment has the replicas, and as many pods come",
    "L377-384": "the Deployment is there within three seconds",
    "L393-394": "a patch of the replicas is followed by the Deployment",
    L415: "deleting the model takes the Deployment and its pods along",
    L435: "definitions make no containers; operators do",
    L443: "an instance without an operator is only stored",
  },
  async play(stage, { other, grown }, line) {
    const { name, model, replicas, gpuType } = other;
    const text = manifest(name, { modelName: model, replicas, gpuType });
    await stage.install(llmOperator);
    await line("L443", async () => {
      await sh(stage, heredoc(text));
      await stage.advance(500);
      assert.deepEqual(await stage.list(Deployment), []);
      await sh(stage, `kubectl delete llmmodel ${name}`);
    });
    await stage.start(llmOperator);
    let applied = 0;
    await line("L354-363", async () => {
      assert.match(await sh(stage, heredoc(text)), new RegExp(`llmmodel.ai.example.com/${name} created`));
      applied = stage.clock.now();
    });
    await line("L377-384", async () => {
      await stage.until(
        "the Deployment is there",
        async () => (await stage.find(Deployment, `llmmodel-${name}`)) !== undefined,
      );
      const made = Date.parse((await stage.get(Deployment, `llmmodel-${name}`)).metadata.creationTimestamp ?? "");
      const asked = Date.parse((await stage.get(LLMModel, name)).metadata.creationTimestamp ?? "");
      assert.ok(made - asked <= EVENT_TIME + DEPLOYMENT_TIME, `it took ${made - asked} ms`);
      assert.ok(applied > 0);
    });
    await line("L371-374", async () => {
      await shUntil(stage, "kubectl get deployments", new RegExp(`llmmodel-${name} +${replicas}/${replicas}`));
      assert.equal((await stage.list(Pod)).length, replicas);
    });
    await line("L435", async () => {
      const { metadata } = await stage.get(Deployment, `llmmodel-${name}`);
      assert.equal(metadata.ownerReferences?.[0]?.kind, "LLMModel");
    });
    await line("L393-394", async () => {
      const patch = `[{"op": "replace", "path": "/spec/replicas", "value":${grown}}]`;
      assert.match(await sh(stage, `kubectl patch llmmodel ${name} --type=json \\\n  -p='${patch}'`), /patched/);
      await shUntil(stage, "kubectl get deployments", new RegExp(`llmmodel-${name} +${grown}/${grown}`));
    });
    await line("L415", async () => {
      await sh(stage, `kubectl delete llmmodel ${name}`);
      await stage.until("nothing is left", async () => {
        return (await stage.list(Deployment)).length === 0 && (await stage.list(Pod)).length === 0;
      });
    });
    await line("L281-344", async () => {
      await sh(stage, heredoc(text));
      await stage.until(
        "it is made again",
        async () => (await stage.find(Deployment, `llmmodel-${name}`)) !== undefined,
      );
    });
  },
};

/** The short form stands for the long one. */
const abstraction: Story<DeepCase> = {
  title: "the simple form and what it stands for",
  lines: {
    "L466-471": "an operator can be written in any language; this one is in TypeScript",
    "L480-483": "a kind of the domain, that checks what users write",
    "L487-513": "three fields stand for the arguments and the GPUs",
  },
  async play(stage, { name, model, replicas, gpus }, line) {
    await stage.start(llmOperator);
    await line("L487-513", async () => {
      const spec = { modelName: model, replicas, gpuCount: gpus };
      await stage.apply({ apiVersion: "ai.example.com/v1", kind: "LLMModel", metadata: { name }, spec });
      await stage.until(
        "all are ready",
        async () => (await stage.get(LLMModel, name)).status?.readyReplicas === replicas,
      );
      const [container] = (await stage.get(Deployment, `llmmodel-${name}`)).spec?.template.spec?.containers ?? [];
      // Without its flag, which vLLM deprecates.
      assert.deepEqual(container?.args, [model, "--tensor-parallel-size", String(gpus)]);
      assert.deepEqual(container?.resources?.limits, { "nvidia.com/gpu": String(gpus) });
    });
    await line("L480-483", async () => {
      const bad = { metadata: { name: "bad", namespace: stage.namespace }, spec: { replicas: -1 } };
      await assert.rejects(stage.client.create(LLMModel, bad as never), /spec\.replicas/);
    });
    await line("L466-471", async () => assert.equal(typeof llmOperator.create, "function"));
  },
};

/** The operator is applied from the tutorial's file, and runs in a separate pod. */
const appliedOperator: Story<DeepCase> = {
  title: "the operator from the tutorial's file",
  kubectl: true,
  lines: {
    "L171-183": "the operator is a Deployment called llm-operator, of one replica",
    L193: "it is applied from 02-simple-operator.yaml",
    "L194-196": "its pod is ready",
    "L548-552": "the files are there",
    L558: "./01-test-crd.sh is there",
    L559: "./02-test-operator.sh is there",
  },
  async play(stage, _values, line) {
    await knowsOperator(stage);
    await sh(stage, `kubectl apply -f ${TUTORIAL}/01-what-is-crd.yaml`);
    await line("L193", async () => {
      const text = readFileSync(join(TUTORIAL, "02-simple-operator.yaml"), "utf8");
      // The file is for the namespace default; the reader replaces it.
      const inNamespace = text.replaceAll("namespace: default", `namespace: ${stage.namespace}`);
      await sh(stage, `cat > 02-simple-operator.yaml <<'EOF'\n${inNamespace}\nEOF`);
      assert.match(
        await sh(stage, "kubectl apply -f 02-simple-operator.yaml"),
        /deployment.apps\/llm-operator created/,
      );
    });
    await line("L194-196", async () => {
      await shUntil(stage, "kubectl get pods -l app=llm-operator", /^llm-operator-\S+ +1\/1/m);
    });
    await line("L171-183", async () => {
      const { spec } = await stage.get(Deployment, "llm-operator");
      assert.deepEqual([spec?.replicas, spec?.template.spec?.containers[0]?.name], [1, "operator"]);
    });
    await line("L548-552", async () => {
      for (const file of ["01-what-is-crd.yaml", "02-simple-operator.yaml", "README.md"]) {
        assert.ok(existsSync(join(TUTORIAL, file)), file);
      }
    });
    await line("L558", async () => assert.ok(existsSync(join(TUTORIAL, "01-test-crd.sh"))));
    await line("L559", async () => assert.ok(existsSync(join(TUTORIAL, "02-test-operator.sh"))));
  },
};

export default checklist<DeepCase>({
  id: "D1",
  name: "crd-deep-dive",
  cases: [
    {
      namespace: "default",
      name: "llama-3-70b-serving",
      model: "llama-3-70b",
      replicas: 3,
      gpuType: "H100",
      path: "/models/llama-3-70b",
      other: { name: "my-new-model", model: "llama-3-8b", replicas: 2, gpuType: "A100" },
      grown: 5,
      gpus: 4,
    },
    {
      namespace: "research",
      name: "chat",
      model: "mixtral-8x7b",
      replicas: 2,
      gpuType: "A100",
      path: "/srv/weights/mixtral",
      other: { name: "draft", model: "phi-3", replicas: 1, gpuType: "H100" },
      grown: 4,
      gpus: 2,
    },
  ],
  stories: [
    layers,
    examples,
    abstraction,
    appliedOperator,
    {
      title: "the operator's log, as it comes",
      kubectl: true,
      where: "embedded",
      lines: { L560: "the log tells of reconciling, while one follows it" },
      play: (stage, values, line) =>
        checkLogs(stage, values.other, { L560: "timeout 5 kubectl logs -l app=llm-operator -f || true" }, line),
    },
  ],
});
