/** Runs the controller of instances for the kinds that the OperatorVersions of the cluster name, and again for others when these change. */
import { createHash } from "node:crypto";
import { groupKindText, type KubeObject, keyOf, type ObjectKey } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import { type Controller, controller, dynamicController, type ReconcileContext, watchKind } from "@konverge/runtime";
import { builtinKind, type KindLookup, kindsOf } from "../kinds/known-kinds.ts";
import { instanceController } from "./instance-controller.ts";
import { Instance, OperatorVersion } from "./kudo-kinds.ts";
import { CLEANUP } from "./schedule-plan.ts";
import { TaskEngine } from "./task-engine.ts";
import { versionKinds } from "./version-kinds.ts";

/** The definition of instances: the one object that there is exactly once. */
const INSTANCES: ObjectKey = `${Instance.plural}.${Instance.group}`;
const BY_KIND = "byKind";

/** `known`: a controller of instances whose permissions the role has. */
export function versionController(known: readonly Controller[]): Controller {
  const engine = new TaskEngine();
  const used = new Set<string>();
  return controller(CustomResourceDefinition, {
    name: "kudo",
    fieldSelector: `metadata.name=${INSTANCES}`,
    watches: [
      watchKind(OperatorVersion, { to: () => [INSTANCES] }),
      watchKind(CustomResourceDefinition, {
        // Only kinds that templates name.
        to: ({ spec }: CustomResourceDefinition) =>
          used.has(`${spec?.group}/${spec?.names?.kind}`) ? [INSTANCES] : [],
        indexes: { [BY_KIND]: ({ spec }: CustomResourceDefinition) => [`${spec?.group}/${spec?.names?.kind}`] },
      }),
    ],
    knownControllers: known,
    reconcile(_definition, context) {
      const versions = context.cache.list(OperatorVersion);
      const { kinds, usesPods } = versionKinds(versions, noted(kindsIn(context), used), { isCluster: true });
      const cleaning = versions
        .filter(({ spec }) => Object.hasOwn(spec?.plans ?? {}, CLEANUP))
        .map((one) => keyOf(one as KubeObject));
      const described = [kinds.map((kind) => `${groupKindText(kind)}/${kind.version}`), usesPods, cleaning.sort()];
      const revision = createHash("sha256").update(JSON.stringify(described)).digest("hex").slice(0, 12);
      const instances = instanceController({ kinds, usesPods, cleaning: new Set(cleaning), engine });
      return { controllers: [dynamicController(instances, { revision })], conditions: {} };
    },
    status: "whole",
  });
}

const kindsIn =
  ({ cache }: ReconcileContext): KindLookup =>
  (apiVersion, kind) => {
    const found = builtinKind(apiVersion, kind);
    if (found) return found;
    const group = apiVersion.slice(0, apiVersion.lastIndexOf("/"));
    return kindsOf(cache.find(CustomResourceDefinition, BY_KIND, `${group}/${kind}`))(apiVersion, kind);
  };

/** Remembers which kinds have been looked up. A process that starts does so again. */
function noted(lookup: KindLookup, used: Set<string>): KindLookup {
  return (apiVersion, kind) => {
    used.add(`${apiVersion.slice(0, apiVersion.lastIndexOf("/"))}/${kind}`);
    return lookup(apiVersion, kind);
  };
}
