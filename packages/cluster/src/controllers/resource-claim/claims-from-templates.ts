import { keyOf } from "@konverge/core";
import { Pod, ResourceClaim, ResourceClaimTemplate } from "@konverge/kinds";
import { ownedKind, plannedChild, type ReconcileContext, watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { messageOf } from "../workloads/pod-control.ts";
import { isTerminal } from "../workloads/pod-state.ts";

/** Which of a pod's claims a ResourceClaim was made for. */
const POD_CLAIM = "resource.kubernetes.io/pod-claim-name";
/** The longest that a generated name may be before its random end. */
const LONGEST_BASE = 57;

type PodClaim = NonNullable<NonNullable<Pod["spec"]>["resourceClaims"]>[number];

/** Creates ResourceClaims from the templates that pods name, and records them in the status of the pods. */
export function claimsFromTemplates() {
  const templatesOf = ({ metadata, spec }: Pod) =>
    (spec?.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName: name }) =>
      name ? [`${metadata.namespace}/${name}`] : [],
    );
  return builtInController(Pod, {
    name: "resource_claim",
    when: ({ object }) => object.spec?.resourceClaims !== undefined,
    owns: [ownedKind(ResourceClaim, { createOnly: true })],
    watches: [watchKind<ResourceClaimTemplate, Pod>(ResourceClaimTemplate, { references: templatesOf })],
    async reconcile(pod, context) {
      const { observed, client, events } = context;
      const wanted = (pod.spec?.resourceClaims ?? []).filter((one) => one.resourceClaimTemplateName !== undefined);
      if (wanted.length === 0 || isTerminal(pod)) return undefined;
      const known = pod.status?.resourceClaimStatuses ?? [];
      const claims = observed.all(ResourceClaim);
      const named = [...known];
      const missing: PodClaim[] = [];
      for (const podClaim of wanted) {
        const at = known.findIndex((one) => one.name === podClaim.name);
        const claim =
          claims.find(({ metadata }) => metadata.name === known[at]?.resourceClaimName) ?? claims.find(isFor(podClaim));
        if (!claim) missing.push(podClaim);
        else
          named.splice(at < 0 ? named.length : at, at < 0 ? 0 : 1, {
            name: podClaim.name,
            resourceClaimName: claim.metadata.name,
          });
      }
      if (JSON.stringify(named) !== JSON.stringify(known)) {
        // Direct write: the kubelet waits for the name of the claim in the status of a pod that other controllers own.
        await client.patchStatus(Pod, keyOf(pod), {
          strategic: { metadata: { uid: pod.metadata.uid! }, status: { resourceClaimStatuses: named } } as never,
        });
      }
      const failed = (name: string | undefined, message: string) =>
        events.warning("FailedResourceClaimCreation", `PodResourceClaim ${name}: ${message}`);
      const drafts = missing.map((podClaim) => {
        try {
          return claimFor(context, pod, podClaim);
        } catch (error) {
          failed(podClaim.name, messageOf(error));
          throw error;
        }
      });
      return {
        // Existing claims are always desired: none is deleted here.
        children: [...claims, ...drafts.map((draft) => plannedChild(draft, { onRefused: "report" }))],
        report({ refused }) {
          for (const { child, message } of refused) failed(child.metadata.annotations?.[POD_CLAIM], message);
          return undefined;
        },
      };
    },
  });
}

const isFor =
  ({ name }: PodClaim) =>
  ({ metadata }: ResourceClaim) =>
    metadata.annotations?.[POD_CLAIM] === name;

/** The claim that a template makes for a pod. */
function claimFor({ cache }: ReconcileContext, pod: Pod, { name, ...of }: PodClaim) {
  const { namespace } = pod.metadata;
  const template = cache.get(ResourceClaimTemplate, `${namespace}/${of.resourceClaimTemplateName}`);
  if (!template) {
    const quoted = JSON.stringify(of.resourceClaimTemplateName);
    throw new Error(`resource claim template ${quoted}: resourceclaimtemplate.resource.k8s.io ${quoted} not found`);
  }
  const { labels, annotations } = template.spec.metadata ?? {};
  return ResourceClaim.draft({
    metadata: {
      generateName: baseName(pod.metadata.name, name),
      namespace,
      annotations: { ...annotations, [POD_CLAIM]: name },
      ...(labels && { labels }),
    },
    spec: template.spec.spec,
  });
}

/** Both names have a share in what there is room for. */
function baseName(pod: string, claim: string): string {
  const whole = `${pod}-${claim}-`;
  if (whole.length <= LONGEST_BASE) return whole;
  const cut = (name: string) => name.slice(0, Math.floor((name.length * LONGEST_BASE) / whole.length));
  return `${cut(pod)}-${cut(claim)}`;
}
