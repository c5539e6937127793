import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiServer, createAuthority } from "@konverge/apiserver";
import { Client } from "@konverge/client";
import { keyOf, type Transport, timestamp, VirtualClock } from "@konverge/core";
import { Deployment, Event, HorizontalPodAutoscaler, Pod } from "@konverge/kinds";
import { Cache, silentLog } from "@konverge/runtime";
import { NodePulse } from "../../parts/node-pulse.ts";
import { ServedKinds } from "../../parts/served-kinds.ts";
import { autoscalers } from "./autoscaler-controller.ts";

/** A server with a Deployment, its pods and an autoscaler; the test sets what the pods use. */
async function stage(spec: Partial<NonNullable<HorizontalPodAutoscaler["spec"]>>) {
  const clock = new VirtualClock();
  const server = new ApiServer({ clock });
  const usage: { cpu: string | undefined } = { cpu: undefined };
  const transport: Transport = async (request) => {
    if (!request.path.startsWith("/apis/metrics.k8s.io/")) return server.transport(request);
    const { items } = await user.list(Pod, { namespace: "default" });
    const metrics = items.map(({ metadata }) => ({
      metadata: { name: metadata.name },
      timestamp: timestamp(clock),
      window: "15s",
      containers: [{ name: "main", usage: { cpu: usage.cpu } }],
    }));
    const body = JSON.stringify({ items: usage.cpu ? metrics : [] });
    return { status: 200, headers: { "content-type": "application/json" }, body };
  };
  const user = new Client(server.transport, { clock });
  const client = new Client(transport, { clock });
  const labels = { app: "web" };
  const containers = [{ name: "main", image: "web", resources: { requests: { cpu: "100m" } } }];
  await user.create(Deployment, {
    metadata: { name: "web" },
    spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  });
  const grow = async () => {
    const { spec: wanted } = await user.get(Deployment, "web");
    const { items } = await user.list(Pod, { namespace: "default" });
    const started = "2025-01-01T00:00:00Z";
    for (let i = items.length; i < wanted.replicas!; i++) {
      const pod = await user.create(Pod, { metadata: { name: `web-${i}`, labels }, spec: { containers } });
      const conditions = [{ type: "Ready", status: "True", lastTransitionTime: started }];
      await user.patchStatus(Pod, keyOf(pod), {
        merge: { status: { phase: "Running", startTime: started, conditions } },
      });
    }
    for (const pod of items.slice(wanted.replicas)) await user.delete(Pod, keyOf(pod), { gracePeriodSeconds: 0 });
    const current = await user.get(Deployment, "web");
    await user.updateStatus(Deployment, { ...current, status: { replicas: wanted.replicas! } });
  };
  await grow();
  await user.create(HorizontalPodAutoscaler, {
    metadata: { name: "web" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 10,
      ...spec,
    },
  });
  const kinds = new ServedKinds(server, clock);
  const cache = new Cache(client);
  cache.start();
  const starting = autoscalers.start({
    client,
    cache,
    clock,
    kinds,
    pulse: new NodePulse(),
    rootCertificate: "",
    authority: () => createAuthority(clock),
    secretToken: (secret) => server.access.serviceAccounts.issueLegacy(secret),
    log: silentLog,
  });
  await clock.advance(1000);
  const running = await starting;
  return {
    usage,
    pass: async (ms: number) => {
      for (let left = ms; left > 0; left -= 15_000) {
        await clock.advance(15_000);
        await grow();
      }
    },
    size: async () => (await user.get(Deployment, "web")).spec.replicas,
    autoscaler: () => user.get(HorizontalPodAutoscaler, "default/web"),
    events: async () => (await user.list(Event)).items.map(({ reason, message }) => `${reason} ${message}`),
    async stop() {
      const stopping = running.stop();
      await clock.advance(2000);
      await stopping;
      kinds.close();
    },
  };
}

const conditionsOf = ({ status }: HorizontalPodAutoscaler) =>
  Object.fromEntries((status?.conditions ?? []).map(({ type, status: value, reason }) => [type, `${value} ${reason}`]));

test("pods that use too much get company, and lose it when they have used little for a while", async () => {
  const { usage, pass, size, autoscaler, events, stop } = await stage({
    metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } }],
  });
  usage.cpu = "100m";
  await pass(30_000);
  assert.equal(await size(), 8);
  const { status } = await autoscaler();
  assert.deepEqual(status?.currentMetrics?.[0]?.resource, {
    name: "cpu",
    current: { averageUtilization: 100, averageValue: "100m" },
  });
  assert.ok(
    (await events()).includes(
      "SuccessfulRescale New size: 4; reason: cpu resource utilization (percentage of request) above target",
    ),
  );
  usage.cpu = "10m";
  await pass(240_000);
  assert.equal(await size(), 8);
  assert.equal(conditionsOf(await autoscaler())["AbleToScale"], "True ScaleDownStabilized");
  await pass(120_000);
  assert.equal(await size(), 2);
  assert.ok((await events()).some((line) => line.endsWith("reason: All metrics below target")));
  await stop();
});

test("within the tolerance nothing happens, and without metrics the autoscaler says why", async () => {
  const { usage, pass, size, autoscaler, stop } = await stage({
    metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } }],
  });
  await pass(15_000);
  assert.equal(conditionsOf(await autoscaler())["ScalingActive"], "False FailedGetResourceMetric");
  usage.cpu = "54m";
  await pass(60_000);
  assert.equal(await size(), 2);
  assert.deepEqual(conditionsOf(await autoscaler()), {
    AbleToScale: "True ReadyForNewScale",
    ScalingActive: "True ValidMetricFound",
    ScalingLimited: "False DesiredWithinRange",
  });
  await stop();
});
