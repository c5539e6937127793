import { controllerOf, timestamp } from "@konverge/core";
import { Deployment, Pod, ReplicaSet } from "@konverge/kinds";
import { type ReconcileContext, watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { controllersComponent } from "../../parts/part.ts";
import { claimChildren, watchChildren } from "../workloads/claim.ts";
import { selectorOf } from "../workloads/selector.ts";
import { isEmptySelector, SelectorIndex } from "../workloads/selector-index.ts";
import { writeStatus } from "../workloads/status.ts";
import {
  hasProgressDeadline,
  isComplete,
  progressing,
  setCondition,
  statusOf,
  untilDeadline,
  withProgress,
} from "./progress.ts";
import { findSets, forgetOldSets, scaleSet } from "./replica-sets.ts";
import { rollOn, stopOld } from "./rollout.ts";
import { isResized, scaleSets } from "./scaling.ts";
import { replicasOf, type Sets } from "./sets.ts";

const NAME = "deployment-controller";

function deploymentController() {
  const selectors = new SelectorIndex<Deployment>(({ spec }) => selectorOf(spec.selector));
  return builtInController(Deployment, {
    name: NAME,
    when: selectors.follow,
    watches: [
      watchChildren(ReplicaSet, Deployment, selectors),
      // A Deployment that is recreated waits for its last old pod to go. Its name is that of the set without the hash.
      watchKind<Pod, Deployment>(Pod, {
        when: ({ type }) => type === "deleted",
        to(pod) {
          const set = controllerOf(pod);
          if (set?.kind !== "ReplicaSet") return [];
          return [`${pod.metadata.namespace}/${set.name.slice(0, set.name.lastIndexOf("-"))}`];
        },
      }),
    ],
    async reconcile(given, context) {
      const selector = selectorOf(given.spec.selector);
      if (isEmptySelector(selector)) {
        const message = "This deployment is selecting all pods. A non-empty selector is required.";
        context.events.warning("SelectingAll", message);
        return undefined;
      }
      const claimed = await claimChildren(context, { kind: ReplicaSet, ownerKind: Deployment, owner: given, selector });
      const deployment = await notePause(context, given);
      const found = await findSets(context, deployment, claimed, { create: false });
      if (deployment.spec.paused || isResized(found)) {
        await scaleSets(context, found);
        if (deployment.spec.paused) await forgetOldSets(context, found);
        await writeStatus(context, Deployment, found.deployment, statusOf(found, context.clock));
        return undefined;
      }
      const isRecreate = deployment.spec.strategy?.type === "Recreate";
      return isRecreate ? recreate(context, found, claimed) : rollingUpdate(context, found, claimed);
    },
  });
}

async function rollingUpdate(context: ReconcileContext, found: Sets, claimed: readonly ReplicaSet[]) {
  const sets = await findSets(context, found.deployment, claimed, { create: true });
  if (await rollOn(context, sets)) return report(context, sets);
  if (isComplete(sets.deployment, sets.deployment.status ?? {})) await forgetOldSets(context, sets);
  return report(context, sets);
}

async function recreate(context: ReconcileContext, found: Sets, claimed: readonly ReplicaSet[]) {
  if (await stopOld(context, found)) return report(context, found);
  const sets = await findSets(context, found.deployment, claimed, { create: true });
  const { deployment, current } = sets;
  const { replicas = 1 } = deployment.spec;
  if (current && replicasOf(current) !== replicas) await scaleSet(context, deployment, current, replicas);
  if (isComplete(deployment, deployment.status ?? {})) await forgetOldSets(context, sets);
  return report(context, sets);
}

/** Reports from the sets as they were read: what was just changed is reported when it has had an effect. */
async function report(context: ReconcileContext, sets: Sets): Promise<{ requeueAfter: number } | undefined> {
  const { clock } = context;
  const status = withProgress(sets, statusOf(sets, clock), clock);
  await writeStatus(context, Deployment, sets.deployment, status);
  const requeueAfter = untilDeadline(sets.deployment, status, clock);
  return requeueAfter === undefined ? undefined : { requeueAfter };
}

/** A paused rollout makes no progress, and has no deadline. */
async function notePause(context: ReconcileContext, deployment: Deployment): Promise<Deployment> {
  const { spec, status } = deployment;
  const condition = progressing(status);
  if (!hasProgressDeadline(deployment) || condition?.reason === "ProgressDeadlineExceeded") return deployment;
  const isNoted = condition?.reason === "DeploymentPaused";
  if (Boolean(spec.paused) === isNoted) return deployment;
  const [reason, message] = spec.paused
    ? ["DeploymentPaused", "Deployment is paused"]
    : ["DeploymentResumed", "Deployment is resumed"];
  const next = { type: "Progressing", status: "Unknown", reason, message };
  const conditions = setCondition(status?.conditions, next, timestamp(context.clock));
  return writeStatus(context, Deployment, deployment, { ...status, conditions });
}

/** Rolls out the templates of Deployments. */
export const deployments = controllersComponent(NAME, [Deployment], () => [deploymentController()]);
