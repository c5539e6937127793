import { Pod } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { type App, app } from "../../lib/app.ts";
import { deleteExactly, hasEnded, isMember, isReady, liveObjects, memberPod } from "../../lib/members.ts";
import type { Reconciliation } from "../../lib/reconciler.ts";
import { changeSpec, reaches, setStatus, tolerant } from "../../lib/steps.ts";

/** An App is suspended, resumed and suspended again. */
export const suspendedTwice =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { size: 2, image: "example/ray:1" }));
    await reaches(environment, "a", "Ready");
    await changeSpec(environment, "a", { suspended: true });
    await reaches(environment, "a", "Suspended");
    await changeSpec(environment, "a", { suspended: false });
    await reaches(environment, "a", "Ready");
    await changeSpec(environment, "a", { suspended: true });
    await reaches(environment, "a", "Suspended");
  };

/** Deletes the pods of an App, and reports when there are none left. */
export async function suspend(context: Reconciliation, app: App): Promise<number | undefined> {
  const pods = await liveObjects(context, Pod, app);
  for (const pod of pods) if (!pod.metadata.deletionTimestamp) await deleteExactly(context, Pod, pod);
  if (pods.length > 0) return 1_000;
  await setStatus(context, app, { phase: "Suspended" });
  return undefined;
}

/** Creates the pods of an App, and reports when they are ready. */
export async function run(context: Reconciliation, app: App): Promise<number | undefined> {
  const pods = await liveObjects(context, Pod, app);
  for (const pod of pods) if (!isMember(pod, app.spec.size)) await deleteExactly(context, Pod, pod);
  for (let i = 0; i < app.spec.size; i++) {
    const own = `${app.metadata.name}-${i}`;
    const pod = pods.find(({ metadata }) => metadata.name === own);
    if (pod && hasEnded(pod)) await deleteExactly(context, Pod, pod);
    if (!pod) await tolerant(context.client.create(Pod, memberPod(app, own)));
  }
  if (pods.length !== app.spec.size || !pods.every(isReady)) return 1_000;
  await setStatus(context, app, { phase: "Ready" });
  return undefined;
}
