import { controllerOf, keyOf } from "@konverge/core";
import { Pod, ResourceClaim, ResourceClaimTemplate } from "@konverge/kinds";
import { type ReconcileContext, watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { messageOf } from "../workloads/pod-control.ts";
import { isTerminal } from "../workloads/pod-state.ts";

/** Which of a pod's claims a ResourceClaim was made for. */
const POD_CLAIM = "resource.kubernetes.io/pod-claim-name";
/** The longest that a generated name may be before its random end. */
const LONGEST_BASE = 57;

type PodClaim = NonNullable<NonNullable<Pod["spec"]>["resourceClaims"]>[number];

/** Makes the ResourceClaims that pods ask for by templates, and says in the pods which they are. */
export function claimsFromTemplates() {
  const templatesOf = ({ metadata, spec }: Pod) =>
    (spec?.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName: name }) =>
      name ? [`${metadata.namespace}/${name}`] : [],
    );
  return builtInController(Pod, {
    name: "resource_claim",
    when: ({ object }) => object.spec?.resourceClaims !== undefined,
    watches: [
      watchKind<ResourceClaimTemplate, Pod>(ResourceClaimTemplate, { references: templatesOf }),
      watchKind<ResourceClaim, Pod>(ResourceClaim, {
        to: (claim) => {
          const owner = controllerOf(claim);
          return owner?.kind === "Pod" ? [`${claim.metadata.namespace}/${owner.name}`] : [];
        },
      }),
    ],
    async reconcile(pod, context) {
      const wanted = (pod.spec?.resourceClaims ?? []).filter((one) => one.resourceClaimTemplateName !== undefined);
      if (wanted.length === 0 || isTerminal(pod) || pod.metadata.deletionTimestamp) return undefined;
      const known = pod.status?.resourceClaimStatuses ?? [];
      const made = [...known];
      for (const podClaim of wanted) {
        const name = known.find((one) => one.name === podClaim.name)?.resourceClaimName;
        const claim = name && context.cache.get(ResourceClaim, `${pod.metadata.namespace}/${name}`);
        if (claim && controllerOf(claim)?.uid === pod.metadata.uid) continue;
        const resourceClaimName = await claimFor(context, pod, podClaim).catch((error: unknown) => {
          const message = `PodResourceClaim ${podClaim.name}: ${messageOf(error)}`;
          context.events.warning("FailedResourceClaimCreation", message);
          throw error;
        });
        const at = made.findIndex((one) => one.name === podClaim.name);
        made.splice(at < 0 ? made.length : at, at < 0 ? 0 : 1, { name: podClaim.name, resourceClaimName });
      }
      if (JSON.stringify(made) === JSON.stringify(known)) return undefined;
      // Direct writes: the kubelet waits for the name of the claim in the status of a pod that other controllers own.
      await context.client.patchStatus(Pod, keyOf(pod), {
        strategic: { metadata: { uid: pod.metadata.uid! }, status: { resourceClaimStatuses: made } } as never,
      });
      return undefined;
    },
  });
}

/** The claim of a pod by one of its templates: one that was made before its name could be noted, or a new one. */
async function claimFor({ cache, client }: ReconcileContext, pod: Pod, { name, ...of }: PodClaim): Promise<string> {
  const { namespace, uid } = pod.metadata;
  const isMine = (claim: ResourceClaim) =>
    controllerOf(claim)?.uid === uid && claim.metadata.annotations?.[POD_CLAIM] === name;
  const orphan = cache.list(ResourceClaim, namespace).find(isMine);
  if (orphan) return orphan.metadata.name;
  const template = cache.get(ResourceClaimTemplate, `${namespace}/${of.resourceClaimTemplateName}`);
  if (!template) {
    const quoted = JSON.stringify(of.resourceClaimTemplateName);
    throw new Error(`resource claim template ${quoted}: resourceclaimtemplate.resource.k8s.io ${quoted} not found`);
  }
  const { labels, annotations } = template.spec.metadata ?? {};
  const { metadata } = await client.create(ResourceClaim, {
    metadata: {
      generateName: baseName(pod.metadata.name, name),
      namespace: namespace!,
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: pod.metadata.name, uid: uid!, controller: true }],
      annotations: { ...annotations, [POD_CLAIM]: name },
      ...(labels && { labels }),
    },
    spec: template.spec.spec,
  });
  return metadata.name;
}

/** Both names have a share in what there is room for. */
function baseName(pod: string, claim: string): string {
  const whole = `${pod}-${claim}-`;
  if (whole.length <= LONGEST_BASE) return whole;
  const cut = (name: string) => name.slice(0, Math.floor((name.length * LONGEST_BASE) / whole.length));
  return `${cut(pod)}-${cut(claim)}`;
}
