import assert from "node:assert/strict";
import { join } from "node:path";
import { chartFiles, OPERATOR_IMAGE, operatorCatalog, operatorProgram, writeManifests } from "@konverge/cli";
import { isNotFound, type KindRef, type KubeObject } from "@konverge/core";
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  NetworkPolicy,
  PodDisruptionBudget,
  Secret,
  ServiceAccount,
} from "@konverge/kinds";
import { operators } from "@konverge/operators";
import { helm } from "./catalogue.ts";
import { onBothServers, type Scene } from "./on-both-servers.ts";

const KUBERNETES = "1.36";
const TRAINING = operators.find(({ name }) => name === "training-operator")!;

onBothServers(
  helm,
  {
    "every operator's chart passes lint and renders, with every option on": async (scene) => {
      const run = helmIn(scene);
      const charts = writeCharts(scene, "all", operators);
      const on = ["serviceMonitor", "networkPolicy", "podDisruptionBudget"].map((name) => `${name}.enabled=true`);
      for (const { name } of operators) {
        const chart = join(charts, name);
        assert.match(await run("lint", "--strict", "--kube-version", KUBERNETES, chart), /0 chart\(s\) failed/);
        const more = ["--set", [...on, "podAnnotations.a=b", "priorityClassName=high", "crds.keep=false"].join(",")];
        const printed = await run("template", name, chart, "--kube-version", KUBERNETES, ...more);
        assert.match(printed, /kind: ServiceMonitor/);
        assert.doesNotMatch(printed, /resource-policy/);
      }
    },

    "a chart is installed, upgraded, tested and removed; its CRDs stay": async (scene) => {
      const { client, until } = scene.stage;
      const namespace = "charts";
      const run = helmIn(scene, namespace);
      const first = join(writeCharts(scene, "first", [TRAINING], { version: "1.0.0" }), TRAINING.name);
      const name = TRAINING.name;
      // Its pods and the pod of the test are simulated here.
      const test = ["--set", "test.annotations.sim\\.konverge\\.dev/run-duration=100ms"];
      const installed = await run("install", "training", first, "--create-namespace", "--wait", ...test);
      assert.match(installed, /training-operator runs in the namespace charts/);
      const crd = () => client.get(CustomResourceDefinition, "trainingjobs.ml.example.com");
      const { spec, metadata } = await crd();
      assert.equal(spec.conversion?.webhook?.clientConfig?.service?.namespace, namespace);
      assert.equal(metadata.annotations?.["helm.sh/resource-policy"], "keep");

      // As the operator does: an upgrade leaves what it has registered.
      const caBundle = Buffer.from((await client.get(ConfigMap, `${namespace}/kube-root-ca.crt`)).data!["ca.crt"]!);
      const patch = { spec: { conversion: { webhook: { clientConfig: { caBundle: caBundle.toString("base64") } } } } };
      await client.patch(CustomResourceDefinition, metadata.name, { merge: patch });
      const second = join(
        writeCharts(scene, "second", [TRAINING], { version: "1.1.0", image: "example/new:v2" }),
        name,
      );
      const values = [
        ...["replicas=2", "podDisruptionBudget.enabled=true", "networkPolicy.enabled=true"],
        ...["annotations.team=ml", "extraEnv[0].name=HTTPS_PROXY", "extraEnv[0].value=http://proxy:3128"],
        ...["extraVolumes[0].name=cache", "extraVolumes[0].emptyDir.medium=Memory"],
        ...["extraVolumeMounts[0].name=cache", "extraVolumeMounts[0].mountPath=/cache"],
      ];
      await run("upgrade", "training", second, "--wait", "--reset-then-reuse-values", "--set", values.join(","));
      const deployment = await client.get(Deployment, `${namespace}/${name}`);
      assert.equal(deployment.spec?.replicas, 2);
      const { containers, volumes } = deployment.spec!.template.spec!;
      assert.equal(containers[0]?.image, "example/new:v2");
      assert.equal(deployment.metadata.annotations?.["team"], "ml");
      assert.deepEqual(containers[0]?.env?.at(-1), { name: "HTTPS_PROXY", value: "http://proxy:3128" });
      assert.deepEqual([volumes?.at(-1)?.name, containers[0]?.volumeMounts?.at(-1)?.mountPath], ["cache", "/cache"]);
      assert.equal((await crd()).spec.conversion?.webhook?.clientConfig?.caBundle, caBundle.toString("base64"));
      await client.get(PodDisruptionBudget, `${namespace}/${name}`);
      await client.get(NetworkPolicy, `${namespace}/${name}`);
      await assert.rejects(
        run("upgrade", "training", second, "--set", "setings.word=x"),
        /additional properties 'setings' not allowed/,
      );
      if (scene.stage.server === "embedded") assert.match(await run("test", "training"), /Phase: {10}Succeeded/);

      await run("uninstall", "training", "--wait");
      await until("the Deployment is gone", () => isDeleted(scene, Deployment, `${namespace}/${name}`));
      await until("its account is gone", () => isDeleted(scene, ServiceAccount, `${namespace}/${name}`));
      await crd();
      await client.delete(CustomResourceDefinition, metadata.name);
    },
  },
  {
    why: "its nodes are simulated: nothing in them runs an operator",
    stories: {
      "an operator from its chart works, with the permissions that the chart gives it and the settings of its values":
        async (scene) => {
          const { stage } = scene;
          const { client, until, cluster } = stage;
          const catalog = await operatorCatalog({ modules: [import.meta.resolve("./chart-operator.ts").slice(7)] });
          cluster!.image(OPERATOR_IMAGE, { run: operatorProgram(catalog, { clock: cluster!.clock }) });
          const { echoOperator, Echo } = await import("./chart-operator.ts");
          const image = `${OPERATOR_IMAGE}:0.1.0`;
          const chart = join(writeCharts(scene, "echo", [echoOperator], { image }), echoOperator.name);
          const run = helmIn(scene, "echo");
          await run(
            "install",
            "echo",
            chart,
            "--create-namespace",
            "--wait",
            "--timeout=1m",
            "--set",
            "settings.times=1000000",
          );
          await client.create(Echo, { metadata: { name: "hey", namespace: "default" }, spec: { text: "hey" } });
          const said = async () => (await client.get(ConfigMap, "default/hey")).data?.["said"];
          await until("it has said", async () => (await said().catch(() => undefined)) === "hey 1000000 times");
          await run("upgrade", "echo", chart, "--wait", "--set", "settings.times=3");
          await until("the new setting counts", async () => (await said()) === "hey 3 times");
          await run("uninstall", "echo", "--wait");
          assert.equal((await client.list(Secret, { namespace: "echo" })).items.length, 0);
        },
    },
  },
);

function writeCharts(
  { stage }: Scene,
  folder: string,
  chosen: typeof operators,
  { image = "example/training:v1", version = "1.0.0" } = {},
): string {
  const path = join(stage.folder, "charts", folder);
  writeManifests(path, chartFiles(chosen, { image, version }), "chart");
  return path;
}

function helmIn({ stage, peer }: Scene, namespace?: string): (...args: string[]) => Promise<string> {
  return async (...args) => {
    const program = stage.run(peer.program, [...args, ...(namespace ? ["--namespace", namespace] : [])]);
    const code = await program.ended;
    if (code !== 0) throw new Error(`helm ${args.join(" ")} ended with ${code}: ${program.output}`);
    return program.output;
  };
}

function isDeleted<T extends KubeObject>({ stage }: Scene, kind: KindRef<T>, key: string): Promise<boolean> {
  return stage.client.get(kind, key).then(
    () => false,
    (error: unknown) => isNotFound(error),
  );
}
