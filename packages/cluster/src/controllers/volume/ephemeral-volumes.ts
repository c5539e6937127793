import { controllerOf } from "@konverge/core";
import { PersistentVolumeClaim, Pod, type Volume } from "@konverge/kinds";
import { type ReconcileContext, watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { type ControlPlaneComponent, controllersComponent, type RunningComponent } from "../../parts/part.ts";
import { messageOf } from "../workloads/pod-control.ts";

/** The name of the claim that is created for an ephemeral volume. */
export function ephemeralClaimName({ metadata }: Pick<Pod, "metadata">, { name }: Pick<Volume, "name">): string {
  return `${metadata.name}-${name}`;
}

/** Why a claim is not that of a pod's ephemeral volume: another object of the same name was there first. */
export function foreignClaimProblem(
  pod: { readonly name: string; readonly namespace?: string; readonly uid?: string },
  claim: PersistentVolumeClaim,
): string | undefined {
  const { name, namespace } = claim.metadata;
  const isOurs = namespace === pod.namespace && controllerOf(claim)?.uid === pod.uid;
  return isOurs
    ? undefined
    : `PVC ${namespace}/${name} was not created for pod ${pod.namespace}/${pod.name} (pod is not owner)`;
}

const ephemeralOf = ({ spec }: Pod) => (spec?.volumes ?? []).filter(({ ephemeral }) => ephemeral !== undefined);

/** Creates the claims of generic ephemeral volumes. They are deleted with their pods, whose property they are. */
function ephemeralClaims() {
  const claimsOf = (pod: Pod) =>
    ephemeralOf(pod).map((volume) => `${pod.metadata.namespace}/${ephemeralClaimName(pod, volume)}`);
  return builtInController(Pod, {
    name: "ephemeral_volume",
    when: ({ object }) => ephemeralOf(object).length > 0,
    watches: [watchKind<PersistentVolumeClaim, Pod>(PersistentVolumeClaim, { references: claimsOf })],
    async reconcile(pod, context) {
      if (pod.metadata.deletionTimestamp) return undefined;
      for (const volume of ephemeralOf(pod)) {
        await ensureClaim(context, pod, volume).catch((error: unknown) => {
          context.events.warning("FailedBinding", `ephemeral volume ${volume.name}: ${messageOf(error)}`);
          throw error;
        });
      }
      return undefined;
    },
  });
}

async function ensureClaim({ cache, client }: ReconcileContext, pod: Pod, volume: Volume): Promise<void> {
  const name = ephemeralClaimName(pod, volume);
  const { namespace = "", uid = "" } = pod.metadata;
  const claim = cache.get(PersistentVolumeClaim, `${namespace}/${name}`);
  const problem = claim && foreignClaimProblem(pod.metadata, claim);
  if (problem) throw new Error(problem);
  if (claim) return;
  const { metadata: { labels, annotations } = {}, spec } = volume.ephemeral?.volumeClaimTemplate ?? { spec: {} };
  const owner = { apiVersion: "v1", kind: Pod.kind, name: pod.metadata.name, uid };
  await client
    .create(PersistentVolumeClaim, {
      metadata: {
        name,
        namespace,
        ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
        ...(labels && { labels }),
        ...(annotations && { annotations }),
      },
      spec,
    })
    .catch((error: unknown) => {
      throw new Error(`create PVC ${name}: ${messageOf(error)}`, { cause: error });
    });
}

const controllers = controllersComponent("ephemeral-volume-controller", [Pod], () => [ephemeralClaims()]);

/** Creates the claims of ephemeral volumes, from the first pod on that has one: most clusters never need it. */
export const ephemeralVolumes: ControlPlaneComponent = {
  ...controllers,
  async start(context) {
    let running: Promise<RunningComponent> | undefined;
    context.cache.use(Pod).subscribe(({ object }) => {
      if (ephemeralOf(object).length > 0) running ??= controllers.start(context);
    });
    return { stop: async () => (await running)?.stop() };
  },
};
