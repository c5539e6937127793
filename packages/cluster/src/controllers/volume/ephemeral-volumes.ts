import { controllerOf } from "@konverge/core";
import { PersistentVolumeClaim, Pod, type Volume } from "@konverge/kinds";
import { ownedKind, plannedChild, watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { type ControlPlaneComponent, controllersComponent, type RunningComponent } from "../../parts/part.ts";

/** The name of the claim that is created for an ephemeral volume. */
export function ephemeralClaimName({ metadata }: Pick<Pod, "metadata">, { name }: Pick<Volume, "name">): string {
  return `${metadata.name}-${name}`;
}

/** Why a claim is not that of a pod's ephemeral volume: another object of the same name was there first. */
export function foreignClaimProblem(
  pod: { readonly name: string; readonly namespace?: string; readonly uid?: string },
  claim: PersistentVolumeClaim,
): string | undefined {
  const isOurs = claim.metadata.namespace === pod.namespace && controllerOf(claim)?.uid === pod.uid;
  return isOurs ? undefined : notOwner(pod, claim.metadata);
}

interface NamedObject {
  readonly name: string;
  readonly namespace?: string | undefined;
}

const notOwner = (pod: NamedObject, claim: NamedObject): string =>
  `PVC ${claim.namespace}/${claim.name} was not created for pod ${pod.namespace}/${pod.name} (pod is not owner)`;

const ephemeralOf = ({ spec }: Pod) => (spec?.volumes ?? []).filter(({ ephemeral }) => ephemeral !== undefined);

/** Creates the claims of generic ephemeral volumes. They are deleted with their pods, whose property they are. */
function ephemeralClaims() {
  const claimsOf = (pod: Pod) =>
    ephemeralOf(pod).map((volume) => `${pod.metadata.namespace}/${ephemeralClaimName(pod, volume)}`);
  return builtInController(Pod, {
    name: "ephemeral_volume",
    when: ({ object }) => ephemeralOf(object).length > 0,
    owns: [ownedKind(PersistentVolumeClaim, { createOnly: true })],
    // Of another object's claim, whose name becomes free when it is deleted.
    watches: [watchKind<PersistentVolumeClaim, Pod>(PersistentVolumeClaim, { references: claimsOf })],
    reconcile(pod, { observed, events }) {
      const claims = new Map(ephemeralOf(pod).map((volume) => [ephemeralClaimName(pod, volume), volume]));
      const drafts = [...claims].map(([name, volume]) => claimFor(pod, name, volume));
      return {
        // Of a pod whose volumes cannot change, no claim is deleted.
        children: [
          ...observed.all(PersistentVolumeClaim).filter(({ metadata }) => !claims.has(metadata.name)),
          ...drafts.map((draft) => plannedChild(draft, { onRefused: "report" })),
        ],
        report({ refused }) {
          for (const { child, reason, message } of refused) {
            const { name = "", namespace } = child.metadata;
            const why = reason.startsWith("Child")
              ? notOwner(pod.metadata, { name, namespace })
              : `create PVC ${name}: ${message}`;
            events.warning("FailedBinding", `ephemeral volume ${claims.get(name)?.name}: ${why}`);
          }
          return undefined;
        },
      };
    },
  });
}

function claimFor(pod: Pod, name: string, volume: Volume) {
  const { metadata: { labels, annotations } = {}, spec } = volume.ephemeral?.volumeClaimTemplate ?? { spec: {} };
  return PersistentVolumeClaim.draft({
    metadata: {
      name,
      namespace: pod.metadata.namespace,
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
    spec,
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
