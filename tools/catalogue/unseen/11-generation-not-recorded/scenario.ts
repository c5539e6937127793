import { ConfigMap } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { App, app } from "../../lib/app.ts";
import { live } from "../../lib/members.ts";
import type { Reconciliation } from "../../lib/reconciler.ts";
import { applyMap, changeSpec, configMap, ownedBy } from "../../lib/steps.ts";

/** An App is resized, and its user waits until the change was observed. */
export const resized =
  (program: Program): Scenario =>
  async (environment) => {
    const isReady = (size: number) =>
      environment.until(`a is Ready with ${size}`, async () => {
        const { metadata, spec, status } = await environment.get(App, "a");
        const isLast = status?.observedGeneration === metadata.generation;
        return status?.phase === "Ready" && isLast && spec.size === size;
      });
    await environment.start(program);
    await environment.apply(app("a", { size: 1 }));
    await isReady(1);
    await changeSpec(environment, "a", { size: 2 });
    await isReady(2);
  };

/** Writes what an App configures, and returns whether that was something else. */
export async function isUpdated(context: Reconciliation, app: App): Promise<boolean> {
  const { name } = app.metadata;
  const size = String(app.spec.size);
  const found = await live(context, ConfigMap, name);
  if (found?.data?.["size"] === size && found.metadata.labels?.["app"] === name) return false;
  await applyMap(context, configMap(app, name, { size }, ownedBy(app)));
  return true;
}
