import { Pod, PodDisruptionBudget } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { type App, app } from "../../lib/app.ts";
import { deleteExactly, hasEnded, isMember, isReady, live, liveObjects, memberPod } from "../../lib/members.ts";
import type { Reconciliation } from "../../lib/reconciler.ts";
import { changeSpec, ownedBy, reaches, setStatus, tolerant } from "../../lib/steps.ts";

/** Three controllers of a quorum are upgraded. */
export const upgraded =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { size: 3, version: "1", image: "example/kraft:1" }));
    await reaches(environment, "a", "Ready 1");
    await changeSpec(environment, "a", { version: "2" });
    await reaches(environment, "a", "Ready 2");
  };

/** Keeps the members of an App and their budget. The next outdated one is replaced when `isNext` says so. */
export async function upgrade(
  context: Reconciliation,
  app: App,
  isNext: (pods: readonly Pod[]) => boolean,
): Promise<number | undefined> {
  const { client } = context;
  const { name, namespace = "" } = app.metadata;
  const { size, version } = app.spec;
  if (!(await live(context, PodDisruptionBudget, name))) {
    const spec = { minAvailable: size - 1, selector: { matchLabels: { app: name } } };
    const budget = PodDisruptionBudget.draft({
      metadata: { name, namespace, labels: { app: name }, ...ownedBy(app) },
      spec,
    });
    await tolerant(client.create(PodDisruptionBudget, budget));
  }
  const pods = await liveObjects(context, Pod, app);
  for (let i = 0; i < size; i++) {
    const own = `${name}-${i}`;
    if (!pods.some(({ metadata }) => metadata.name === own)) await tolerant(client.create(Pod, memberPod(app, own)));
  }
  for (const pod of pods) if (hasEnded(pod) || !isMember(pod, size)) await deleteExactly(context, Pod, pod);
  const outdated = pods.filter(({ metadata }) => metadata.labels?.["version"] !== version);
  const [next] = outdated;
  if (next && pods.length === size && isNext(pods)) await deleteExactly(context, Pod, next);
  if (outdated.length > 0 || pods.length !== size || !pods.every(isReady)) return 2_000;
  await setStatus(context, app, { phase: `Ready ${version}` });
  return undefined;
}
