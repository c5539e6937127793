/**
 * What random values of a release depend on: a Secret that is created once, before anything that has such a value. Rendering the same
 * release again gives the same passwords.
 */
import type { KubeObject } from "@konverge/core";
import { Secret } from "@konverge/kinds";
import { type Child, type PlannedChild, plannedChild, type ReconcileContext } from "@konverge/runtime";
import type { ExistingObjects } from "./plan-release.ts";

const seedName = ({ metadata }: KubeObject) => `${metadata.name}-helm-random`;

/** The seed of a release; undefined if there is none yet. */
export function storedSeed(release: KubeObject, { observed }: ReconcileContext): string | undefined {
  return observed(Secret, seedName(release))?.data?.["seed"];
}

/** The Secret, which is there. */
export function seedChild(release: KubeObject): PlannedChild {
  return plannedChild(Secret.draft({ metadata: { name: seedName(release) } }), { unchanged: true });
}

/** The children while there is no seed: the Secret, and what there is. */
export function childrenForSeed(
  release: KubeObject,
  existing: ExistingObjects,
  { clock }: ReconcileContext,
): PlannedChild[] {
  const seed = Buffer.from(clock.secrets.text(32)).toString("base64");
  const made = Secret.draft({ metadata: { name: seedName(release) }, immutable: true, data: { seed } });
  const others = existing.all().map((object) => plannedChild(object as Child, { unchanged: true }));
  return [plannedChild(made, {}), ...others];
}
