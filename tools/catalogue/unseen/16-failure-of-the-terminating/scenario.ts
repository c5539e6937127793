import { Pod } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { type App, app } from "../../lib/app.ts";
import { deleteExactly, isReady, live, memberPod } from "../../lib/members.ts";
import type { Reconciliation } from "../../lib/reconciler.ts";
import { changeSpec, reaches, setStatus, tolerant } from "../../lib/steps.ts";

/** A sandbox is paused and resumed. */
export const pausedAndResumed =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { image: "example/sandbox:1" }));
    await reaches(environment, "a", "Running");
    await changeSpec(environment, "a", { suspended: true });
    await reaches(environment, "a", "Paused");
    await changeSpec(environment, "a", { suspended: false });
    await reaches(environment, "a", "Running");
  };

/** Keeps the pod of a sandbox. `fails` says what is to be done about one that has failed. */
export async function keep(
  context: Reconciliation,
  app: App,
  fails: (pod: Pod) => Promise<boolean>,
): Promise<number | undefined> {
  const { client } = context;
  const { name } = app.metadata;
  const pod = await live(context, Pod, name);
  if (pod?.status?.phase === "Failed" && (await fails(pod))) return undefined;
  if (app.spec.suspended) {
    if (pod && !pod.metadata.deletionTimestamp) await deleteExactly(context, Pod, pod);
    await setStatus(context, app, { phase: "Paused" });
    return undefined;
  }
  if (!pod) await tolerant(client.create(Pod, memberPod(app, name)));
  if (!pod || !isReady(pod)) return 1_000;
  await setStatus(context, app, { phase: "Running" });
  return undefined;
}
