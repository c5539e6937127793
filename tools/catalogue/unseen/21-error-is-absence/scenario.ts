import { ConfigMap, PersistentVolumeClaim } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { type App, app } from "../../lib/app.ts";
import { deleteExactly, liveObjects } from "../../lib/members.ts";
import type { Reconciliation } from "../../lib/reconciler.ts";
import { changeSpec, claim, ownedBy, reaches, setStatus, tolerant } from "../../lib/steps.ts";

/** The operator reads what users want in ConfigMaps. */
export const CLASSES = { kind: ConfigMap, verbs: ["get"] } as const;

/** An App has a volume of each class, and is resized. */
export const withClasses =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    for (const name of ["fast", "slow"]) {
      await environment.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { size: "1Gi" } });
    }
    await environment.apply(app("a", { size: 1 }));
    await reaches(environment, "a", "1 ready");
    await changeSpec(environment, "a", { size: 2 });
    await reaches(environment, "a", "2 ready");
  };

/** Keeps a volume for each class that exists, and none of others. */
export async function provide(
  context: Reconciliation,
  app: App,
  exists: (name: string) => Promise<boolean>,
): Promise<void> {
  const { name } = app.metadata;
  const found: string[] = [];
  for (const one of ["fast", "slow"]) if (await exists(one)) found.push(`${name}-${one}`);
  const volumes = await liveObjects(context, PersistentVolumeClaim, app);
  for (const own of found) {
    if (!volumes.some(({ metadata }) => metadata.name === own)) {
      await tolerant(context.client.create(PersistentVolumeClaim, claim(app, own, ownedBy(app))));
    }
  }
  for (const volume of volumes) {
    if (!found.includes(volume.metadata.name)) await deleteExactly(context, PersistentVolumeClaim, volume);
  }
  await setStatus(context, app, { phase: `${app.spec.size} ready` });
}
