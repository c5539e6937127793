import { Deployment } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { type App, app } from "../../lib/app.ts";
import type { Reconciliation } from "../../lib/reconciler.ts";
import { reaches, setStatus } from "../../lib/steps.ts";

/** What an App is configured with. */
export const SETTINGS = { CACHE: "ispn", CACHE_STACK: "kubernetes", HEALTH: "true", METRICS: "true", PROXY: "edge" };

/** An App runs. */
export const running =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { image: "example/web:1" }));
    await reaches(environment, "a", "Ready");
  };

/** Runs an App with these settings, and reports whether it is available. */
export async function run(context: Reconciliation, app: App, settings: readonly (readonly string[])[]): Promise<void> {
  const { name, namespace = "", uid = "" } = app.metadata;
  const labels = { app: name };
  const env = settings.map(([name = "", value = ""]) => ({ name, value }));
  const draft = Deployment.draft({
    metadata: {
      name,
      namespace,
      labels,
      ownerReferences: [{ apiVersion: "example.com/v1", kind: "App", name, uid, controller: true }],
    },
    spec: {
      replicas: app.spec.size,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image: app.spec.image ?? "", env }] } },
    },
  });
  const found = await context.client.apply(Deployment, draft, { fieldManager: "app-operator", force: true });
  const { observedGeneration = 0, availableReplicas = 0, updatedReplicas = 0 } = found.status ?? {};
  const isCurrent = observedGeneration === found.metadata.generation && updatedReplicas === app.spec.size;
  const isReady = isCurrent && availableReplicas === app.spec.size;
  await setStatus(context, app, { phase: isReady ? "Ready" : "Starting" });
}
