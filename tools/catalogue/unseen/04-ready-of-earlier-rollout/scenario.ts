import type { Deployment } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { App, app } from "../../lib/app.ts";
import type { Reconciliation } from "../../lib/reconciler.ts";
import { changeSpec } from "../../lib/steps.ts";

/** A Deployment is rolled out, and its App is ready when it is. */
export const rolledOut =
  (program: Program): Scenario =>
  async (environment) => {
    const isReady = (image: string) =>
      environment.until(`a is Ready with ${image}`, async () => {
        const { metadata, status } = await environment.get(App, "a");
        const isTrue = status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
        return isTrue === true && status?.observedGeneration === metadata.generation;
      });
    await environment.start(program);
    await environment.apply(app("a", { size: 2, image: "example/web:1" }));
    await isReady("example/web:1");
    await changeSpec(environment, "a", { image: "example/web:2" });
    await isReady("example/web:2");
  };

/** The Deployment of an App. */
export function deployment({ metadata: { name, namespace, uid }, spec: { size, image = "" } }: App): object {
  const labels = { app: name };
  const owner = { apiVersion: "example.com/v1", kind: "App", name, uid, controller: true };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels, ownerReferences: [owner] },
    spec: {
      replicas: size,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image }] } },
    },
  };
}

/** Reports whether an App is ready, for its present generation. */
export async function report({ client, namespace }: Reconciliation, app: App, isReady: boolean): Promise<void> {
  const { name, generation } = app.metadata;
  const [before] = app.status?.conditions ?? [];
  const status = isReady ? "True" : "False";
  if (app.status?.observedGeneration === generation && before?.status === status) return;
  const conditions = [{ type: "Ready", status, reason: isReady ? "Available" : "RollingOut" }];
  await client.patchStatus(App, `${namespace}/${name}`, {
    merge: { status: { observedGeneration: generation, conditions } },
  });
}

/** Whether as many replicas are ready as there are to be. */
export function hasReplicas({ spec, status }: Deployment): boolean {
  return (status?.readyReplicas ?? 0) >= (spec?.replicas ?? 1);
}
