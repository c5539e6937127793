import assert from "node:assert/strict";
import { keyOf } from "@konverge/core";
import { Deployment, HorizontalPodAutoscaler, Pod } from "@konverge/kinds";
import { makeNodes, placed } from "./placed.ts";
import { assertEvent, type Behavior, conditionOf, labelsOf, podsOf, type Stage } from "./stage.ts";

const AT_ONCE = { scaleDown: { stabilizationWindowSeconds: 0 } };

/** A Deployment whose pods use so much of the processor. */
async function web(stage: Stage, replicas: number, cpu = "10m"): Promise<void> {
  const { client, namespace } = stage;
  await makeNodes(stage, 1);
  await client.create(Deployment, {
    metadata: { name: "web", namespace },
    spec: {
      replicas,
      selector: { matchLabels: { ...labelsOf } },
      template: placed(stage, { requests: { cpu: "100m" }, sim: { cpu } }),
    },
  });
  await stage.until("its pods are ready", async () => (await target(stage)).status?.readyReplicas === replicas);
}

const target = ({ client, namespace }: Stage) => client.get(Deployment, `${namespace}/web`);
const get = ({ client, namespace }: Stage) => client.get(HorizontalPodAutoscaler, `${namespace}/web`);
const size = (stage: Stage, count: number) =>
  stage.until(`there are ${count} pods`, async () => {
    const { spec, status } = await target(stage);
    return spec?.replicas === count && (status?.readyReplicas ?? 0) === count;
  });

const autoscale = ({ client, namespace }: Stage, metric: object, more: object = {}) =>
  client.create(HorizontalPodAutoscaler, {
    metadata: { name: "web", namespace },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 4,
      metrics: [metric],
      behavior: AT_ONCE,
      ...more,
    } as never,
  });

const externally = (averageValue: string) => ({
  type: "External",
  external: { metric: { name: "jobs" }, target: { type: "AverageValue", averageValue } },
});

export const autoscaling: Record<string, Behavior> = {
  "pods that use more than they should get company up to the limit, and lose it when they do not": async (stage) => {
    await web(stage, 2, "90m");
    const averageUtilization = 50;
    const cpu = { name: "cpu", target: { type: "Utilization", averageUtilization } };
    await autoscale(stage, { type: "Resource", resource: cpu });
    await size(stage, 4);
    await assertEvent(
      stage,
      "HorizontalPodAutoscaler",
      "web",
      /^Normal SuccessfulRescale New size: 4; reason: cpu resource utilization \(percentage of request\) above target$/,
    );
    await stage.until("it says that it would go further", async () => {
      return conditionOf(await get(stage), "ScalingLimited") === "True TooManyReplicas";
    });
    const { status } = await get(stage);
    assert.deepEqual([status?.currentReplicas, status?.desiredReplicas], [4, 4]);
    await stage.until("it tells what is used", async () => {
      const { current } = (await get(stage)).status?.currentMetrics?.[0]?.resource ?? {};
      return current?.averageUtilization === 90 && current.averageValue === "90m";
    });
    for (const pod of await podsOf(stage)) {
      const annotations = { "sim.konverge.dev/cpu": "20m" };
      await stage.client.patch(Pod, keyOf(pod), { merge: { metadata: { annotations } } });
    }
    await size(stage, 2);
    await assertEvent(stage, "HorizontalPodAutoscaler", "web", /New size: 2; reason: All metrics below target$/);
    await stage.until("it is within its limits", async () => {
      return conditionOf(await get(stage), "ScalingLimited") === "False DesiredWithinRange";
    });
    assert.equal(conditionOf(await get(stage), "ScalingActive"), "True ValidMetricFound");
  },

  "a metric of each pod decides by its average": async (stage) => {
    const { namespace, measures } = stage;
    await web(stage, 2);
    const names = (await podsOf(stage)).map(({ metadata }) => metadata.name);
    measures.set(`${namespace}/pods/*/requests`, Object.fromEntries(names.map((name) => [name, "15"])));
    const average = { type: "AverageValue", averageValue: "10" };
    await autoscale(stage, { type: "Pods", pods: { metric: { name: "requests" }, target: average } });
    await size(stage, 3);
    await assertEvent(
      stage,
      "HorizontalPodAutoscaler",
      "web",
      /^Normal SuccessfulRescale New size: 3; reason: pods metric requests above target$/,
    );
  },

  "a metric of another object decides by its value": async (stage) => {
    const { namespace, measures } = stage;
    await web(stage, 1);
    measures.set(`${namespace}/services/front/queue`, "30");
    const describedObject = { apiVersion: "v1", kind: "Service", name: "front" };
    const value = { type: "Value", value: "10" };
    const object = { describedObject, metric: { name: "queue" }, target: value };
    // The same for more pods would ask for even more.
    await autoscale(stage, { type: "Object", object }, { maxReplicas: 3 });
    await size(stage, 3);
    await assertEvent(
      stage,
      "HorizontalPodAutoscaler",
      "web",
      /New size: 3; reason: Service metric queue above target$/,
    );
    const { current } = (await get(stage)).status?.currentMetrics?.[0]?.object ?? {};
    assert.equal(current?.value, "30");
  },

  "a metric from outside decides by what there is of it for each pod": async (stage) => {
    const { namespace, measures } = stage;
    await web(stage, 1);
    measures.set(`${namespace}/jobs`, "14");
    await autoscale(stage, externally("5"));
    await size(stage, 3);
    await assertEvent(
      stage,
      "HorizontalPodAutoscaler",
      "web",
      /New size: 3; reason: external metric jobs\(nil\) above target$/,
    );
    measures.set(`${namespace}/jobs`, "3");
    await size(stage, 1);
  },

  "a policy limits how fast pods come": async (stage) => {
    const { namespace, measures } = stage;
    await web(stage, 1);
    measures.set(`${namespace}/jobs`, "100");
    const behavior = { scaleUp: { policies: [{ type: "Pods", value: 1, periodSeconds: 1800 }] } };
    await autoscale(stage, externally("5"), { behavior });
    await size(stage, 2);
    await stage.until("it says that it would go faster", async () => {
      return conditionOf(await get(stage), "ScalingLimited") === "True ScaleUpLimit";
    });
    assert.equal((await target(stage)).spec?.replicas, 2);
  },

  "pods do not go at once when there is less to do": async (stage) => {
    const { namespace, measures } = stage;
    await web(stage, 1);
    measures.set(`${namespace}/jobs`, "15");
    await autoscale(stage, externally("5"), { behavior: { scaleDown: { stabilizationWindowSeconds: 1800 } } });
    await size(stage, 3);
    measures.set(`${namespace}/jobs`, "5");
    await stage.until("it waits", async () => {
      return conditionOf(await get(stage), "AbleToScale") === "True ScaleDownStabilized";
    });
    assert.equal((await target(stage)).spec?.replicas, 3);
  },

  "without its metric an autoscaler does nothing, and says why": async (stage) => {
    await web(stage, 2);
    await autoscale(stage, externally("5"));
    await stage.until("it says so", async () => {
      return conditionOf(await get(stage), "ScalingActive") === "False FailedGetExternalMetric";
    });
    const { conditions } = (await get(stage)).status ?? {};
    assert.equal(
      conditions?.find(({ type }) => type === "ScalingActive")?.message,
      `the HPA was unable to compute the replica count: unable to get external metric ${stage.namespace}/jobs/nil: no metrics returned from external metrics API`,
    );
    assert.equal((await target(stage)).spec?.replicas, 2);
    await assertEvent(
      stage,
      "HorizontalPodAutoscaler",
      "web",
      /^Warning FailedGetExternalMetric unable to get external/,
    );
    await assertEvent(stage, "HorizontalPodAutoscaler", "web", /^Warning FailedComputeMetricsReplicas invalid metrics/);
  },

  "an autoscaler whose target is missing or stopped says so": async (stage) => {
    const { client, namespace } = stage;
    await autoscale(stage, externally("5"));
    await stage.until("it says so", async () => {
      return conditionOf(await get(stage), "AbleToScale") === "False FailedGetScale";
    });
    await web(stage, 1);
    await client.scale(Deployment, `${namespace}/web`, 0);
    await stage.until("it is switched off", async () => {
      return conditionOf(await get(stage), "ScalingActive") === "False ScalingDisabled";
    });
  },
};
