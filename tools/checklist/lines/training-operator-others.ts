import assert from "node:assert/strict";
import { RayCluster, rayOperator } from "@konverge/ray-operator";
import { SeldonDeployment, seldonOperator } from "@konverge/seldon-operator";
import { Deployment, Pod, Service } from "konverge/kinds";
import { checklist, line } from "../form.ts";

interface Names {
  readonly namespace: string;
  readonly cluster: string;
  readonly ray: string;
  readonly group: string;
  readonly workers: number;
  readonly limits: Readonly<Record<string, string>>;
  readonly model: string;
  readonly predictor: string;
  readonly unit: string;
  readonly replicas: number;
  readonly memory: string;
}

export default checklist<Names>({
  id: "D2",
  name: "training-operator",
  cases: [
    {
      namespace: "default",
      cluster: "ray-cluster",
      ray: "2.3.0",
      group: "worker-group",
      workers: 3,
      limits: { cpu: "4", memory: "16Gi", "nvidia.com/gpu": "1" },
      model: "iris-model",
      predictor: "default",
      unit: "classifier",
      replicas: 3,
      memory: "1Gi",
    },
    {
      namespace: "team-x",
      cluster: "sim",
      ray: "2.46.0",
      group: "small",
      workers: 2,
      limits: { cpu: "1", memory: "2Gi" },
      model: "flowers",
      predictor: "main",
      unit: "tree",
      replicas: 1,
      memory: "300Mi",
    },
  ],
  stories: [
    line("L917-950", "a Ray cluster of the older version runs: a head, and its workers", async (stage, values) => {
      const { cluster, ray, group, workers, limits } = values;
      const template = (name: string, given: Readonly<Record<string, string>>) => ({
        spec: { containers: [{ name, image: `rayproject/ray:${ray}`, resources: { limits: given } }] },
      });
      await stage.start(rayOperator);
      await stage.apply({
        apiVersion: "ray.io/v1alpha1",
        kind: "RayCluster",
        metadata: { name: cluster },
        spec: {
          rayVersion: ray,
          headGroupSpec: {
            rayStartParams: { "dashboard-host": "0.0.0.0" },
            template: template("ray-head", { cpu: "2", memory: "8Gi" }),
          },
          workerGroupSpecs: [
            {
              replicas: workers,
              minReplicas: 1,
              maxReplicas: 10,
              groupName: group,
              rayStartParams: {},
              template: template("ray-worker", limits),
            },
          ],
        },
      });
      await stage.until("it is ready", async () => (await stage.find(RayCluster, cluster))?.status?.state === "ready");
      const { status } = await stage.get(RayCluster, cluster);
      assert.equal(status?.availableWorkerReplicas, workers);
      assert.ok(await stage.find(Service, `${cluster}-head-svc`));
      const pods = await stage.list(Pod, `ray.io/cluster=${cluster},ray.io/group=${group}`);
      assert.equal(pods.length, workers);
      const [start] = pods[0]!.spec!.containers[0]!.args!;
      assert.ok(start!.includes(`--num-cpus=${limits["cpu"]}`));
      assert.equal(start!.includes("--num-gpus=1"), limits["nvidia.com/gpu"] === "1");
    }),
    line("L958-972", "a model is served by a prepackaged server", async (stage, values) => {
      const { model, predictor, unit, replicas, memory } = values;
      await stage.start(seldonOperator);
      await stage.apply({
        apiVersion: "machinelearning.seldon.io/v1",
        kind: "SeldonDeployment",
        metadata: { name: model },
        spec: {
          predictors: [
            {
              name: predictor,
              replicas,
              graph: {
                name: unit,
                implementation: "SKLEARN_SERVER",
                modelUri: "gs://seldon-models/sklearn/iris",
                resources: { requests: { memory } },
              },
            },
          ],
        },
      });
      await stage.until("it is available", async () => {
        return (await stage.find(SeldonDeployment, model))?.status?.state === "Available";
      });
      const { spec, status } = await stage.get(Deployment, `${model}-${predictor}-0-${unit}`);
      assert.equal(status?.readyReplicas, replicas);
      const [server] = spec!.template.spec!.containers;
      assert.match(server!.image!, /^seldonio\/sklearnserver:/);
      assert.equal(server!.resources?.requests?.["memory"], memory);
      assert.ok(await stage.find(Service, `${model}-${predictor}`));
    }),
  ],
});
