import { ConfigMap, Pod } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { type App, app } from "../../lib/app.ts";
import { deleteExactly, hasEnded, isMember, isReady, live, liveObjects, memberPod } from "../../lib/members.ts";
import type { Reconciliation } from "../../lib/reconciler.ts";
import { changeSpec, configMap, ownedBy, reaches, setStatus, tolerant } from "../../lib/steps.ts";

/** A replica set of three members loses one. */
export const shrunk =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { size: 3, image: "example/db:1" }));
    await reaches(environment, "a", "3 of 3");
    await changeSpec(environment, "a", { size: 2 });
    await reaches(environment, "a", "2 of 2");
  };

/** What the replica set knows of its members. */
async function replicaSet(context: Reconciliation, app: App): Promise<ConfigMap> {
  const name = `${app.metadata.name}-members`;
  const found = await live(context, ConfigMap, name);
  return found ?? context.client.create(ConfigMap, configMap(app, name, {}, ownedBy(app)));
}

/** Changes the members, unless they have changed since they were read. */
async function setMembers({ client }: Reconciliation, known: ConfigMap, members: readonly string[]): Promise<void> {
  const data = Object.fromEntries(members.toSorted().map((member) => [member, "member"]));
  await client.update(ConfigMap, { ...known, data });
}

/** Keeps the members of an App. `leaves` says whether a surplus pod leaves the replica set before it is deleted. */
export async function scale(
  context: Reconciliation,
  app: App,
  leaves: (pod: Pod) => boolean,
): Promise<number | undefined> {
  const { name } = app.metadata;
  const { size } = app.spec;
  const pods = await liveObjects(context, Pod, app);
  const known = await replicaSet(context, app);
  const members = Object.keys(known.data ?? {});
  const isSurplus = (pod: Pod) => !isMember(pod, size);
  for (const pod of pods.filter(isSurplus)) {
    const isKnown = members.includes(pod.metadata.name);
    if (isKnown && leaves(pod)) {
      await setMembers(
        context,
        known,
        members.filter((member) => member !== pod.metadata.name),
      );
      return 1_000;
    }
    await deleteExactly(context, Pod, pod);
  }
  const wanted = Array.from({ length: size }, (_, i) => `${name}-${i}`);
  for (const own of wanted) {
    const pod = pods.find(({ metadata }) => metadata.name === own);
    if (pod && hasEnded(pod)) await deleteExactly(context, Pod, pod);
    if (!pod) await tolerant(context.client.create(Pod, memberPod(app, own)));
  }
  const joining = pods.filter((pod) => isReady(pod) && !isSurplus(pod) && !members.includes(pod.metadata.name));
  if (joining.length > 0) {
    await setMembers(context, known, [...members, ...joining.map(({ metadata }) => metadata.name)]);
    return 1_000;
  }
  if (pods.length !== size || !pods.every(isReady)) return 2_000;
  await setStatus(context, app, { phase: `${size} of ${size}` });
  return undefined;
}
