import { cel, PermanentError, type ReconcileContext, z } from "konverge";
import type { PodResourceClaim, ResourceRequirements } from "konverge/kinds";
import { ResourceClaimTemplate } from "konverge/kinds";
import { type DeepReadonly, templateHash } from "konverge/objects";
import type { GpuVendor } from "konverge/pods";

/** The resource by which each vendor's device plugin offers GPUs. */
const RESOURCES: Readonly<Record<GpuVendor, string>> = {
  NVIDIA: "nvidia.com/gpu",
  AMD: "amd.com/gpu",
  Intel: "gpu.intel.com/xe",
};

/** The field `accelerator` of a spec. */
export const acceleratorField = z
  .object({
    vendor: z
      .enum(["NVIDIA", "AMD", "Intel"])
      .optional()
      .describe("GPUs of this vendor's device plugin: nvidia.com/gpu, amd.com/gpu or gpu.intel.com/xe."),
    mig: z
      .string()
      .max(32)
      .regex(/^[1-9]g\.[1-9][0-9]*gb(\.me)?$/)
      .optional()
      .describe("A slice of an NVIDIA GPU with this MIG profile, such as 1g.10gb: nvidia.com/mig-1g.10gb."),
    resource: z
      .string()
      .max(253)
      .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/)
      .optional()
      .describe("Another extended resource, such as habana.ai/gaudi or google.com/tpu."),
    claim: z
      .object({
        deviceClass: z
          .string()
          .min(1)
          .max(253)
          .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
          .describe("The DeviceClass, such as gpu.nvidia.com."),
        selectors: z
          .array(z.string().min(1).max(10_000))
          .max(8)
          .optional()
          .describe(
            "CEL expressions that all hold for a device, such as device.capacity['gpu.nvidia.com'].memory.isGreaterThan(quantity('70Gi')).",
          ),
      })
      .optional()
      .describe("Devices by dynamic resource allocation: each replica gets a ResourceClaim. Requires Kubernetes 1.34."),
  })
  .check(
    cel(
      "[has(self.vendor), has(self.mig), has(self.resource), has(self.claim)].filter(given, given).size() == 1",
      "exactly one of vendor, mig, resource and claim must be set",
    ),
  )
  .describe("What gpuCount counts. Default: vendor NVIDIA.");
export type Accelerator = DeepReadonly<z.infer<typeof acceleratorField>>;

/** Rules about the field. */
export const acceleratorRules = [
  cel(
    "!has(self.accelerator) || !has(self.accelerator.mig) || self.gpuCount <= 1",
    "accelerator.mig: a model cannot be split across slices of GPUs, so gpuCount must be 1",
  ),
  cel(
    "!has(self.accelerator) || !has(self.gpuType) || has(self.accelerator.vendor) || has(self.accelerator.mig)",
    "gpuType selects nodes by the label of a vendor: with accelerator.resource use a node selector in template, with accelerator.claim a selector",
  ),
];

interface Spec {
  readonly gpuCount: number;
  readonly accelerator?: Accelerator | undefined;
}

/** Whose label says which GPUs a node has. */
export function vendorOf({ accelerator }: Spec): GpuVendor {
  return accelerator?.vendor ?? "NVIDIA";
}

/** The extended resource that is requested; undefined for claims. */
function resourceName({ accelerator }: Spec): string | undefined {
  if (accelerator?.claim) return undefined;
  if (accelerator?.mig) return `nvidia.com/mig-${accelerator.mig}`;
  return accelerator?.resource ?? RESOURCES[vendorOf({ gpuCount: 0, accelerator })];
}

/** The accelerators as limits of a container. */
export function acceleratorLimits(spec: Spec): Record<string, string> {
  const name = resourceName(spec);
  return name !== undefined && spec.gpuCount > 0 ? { [name]: String(spec.gpuCount) } : {};
}

const CLAIM = "accelerators";

/** The accelerators as a claim of a pod and of its container; undefined if they are no claim. */
export function acceleratorClaim(
  spec: Spec,
  owner: string,
): { pod: PodResourceClaim[]; container: NonNullable<ResourceRequirements["claims"]> } | undefined {
  if (!usesClaims(spec)) return undefined;
  return {
    pod: [{ name: CLAIM, resourceClaimTemplateName: claimTemplateName(spec, owner) }],
    container: [{ name: CLAIM }],
  };
}

/** Whether replicas get their accelerators by dynamic resource allocation. */
export function usesClaims({ accelerator, gpuCount }: Spec): boolean {
  return accelerator?.claim !== undefined && gpuCount > 0;
}

/** What the replicas of an owner claim, as a child. Its contents cannot be changed: other ones have another name. */
export function claimTemplatesFor(
  spec: Spec,
  { name, namespace, labels }: { name: string; namespace?: string | undefined; labels: Record<string, string> },
) {
  if (!usesClaims(spec)) return [];
  return [
    ResourceClaimTemplate.draft({
      metadata: { name: claimTemplateName(spec, name), namespace, labels },
      spec: { spec: { devices: { requests: [{ name: CLAIM, exactly: deviceRequest(spec) }] } } },
    }),
  ];
}

function claimTemplateName(spec: Spec, owner: string): string {
  return `${owner}-${templateHash(deviceRequest(spec))}`;
}

function deviceRequest({ accelerator, gpuCount }: Spec) {
  const { deviceClass, selectors = [] } = accelerator!.claim!;
  return {
    deviceClassName: deviceClass,
    allocationMode: "ExactCount" as const,
    count: gpuCount,
    ...(selectors.length > 0 && { selectors: selectors.map((expression) => ({ cel: { expression } })) }),
  };
}

/** Throws if a spec claims devices and the server has no such claims. */
export function checkClaims(spec: Spec, { isServed }: Pick<ReconcileContext, "isServed">): void {
  if (!usesClaims(spec) || isServed(ResourceClaimTemplate)) return;
  throw new PermanentError(
    "ResourceClaimsUnsupported",
    "accelerator.claim takes resource.k8s.io/v1, which Kubernetes has since 1.34: use vendor, mig or resource instead",
  );
}
