import { formatLabelSelector, humanDuration, type LabelSelector } from "@konverge/core";
import type {
  APIService,
  CertificateSigningRequest,
  ClusterRoleBinding,
  CSIDriver,
  CSINode,
  FlowSchema,
  Lease,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  PriorityClass,
  PriorityLevelConfiguration,
  ResourceClaim,
  ResourceSlice,
  RoleBinding,
  RuntimeClass,
  StorageClass,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
  VolumeAttachment,
  VolumeAttributesClass,
} from "@konverge/kinds";
import { ageOf, type Cell, type CellsOf, NONE, UNSET } from "./cells.ts";

export const apiServiceCells: CellsOf<APIService> = (service, now) => {
  const backend = service.spec?.service;
  const available = service.status?.conditions?.find(({ type }) => type === "Available");
  const state = !available
    ? "Unknown"
    : available.status === "True"
      ? "True"
      : `${available.status} (${available.reason})`;
  return [
    service.metadata.name,
    backend ? `${backend.namespace}/${backend.name}` : "Local",
    state,
    ageOf(service, now),
  ];
};

export const bindingCells: CellsOf<RoleBinding | ClusterRoleBinding> = (binding, now) => {
  const subjects = (kind: string) => (binding.subjects ?? []).filter((subject) => subject.kind === kind);
  const names = (kind: string) => subjects(kind).map(({ name }) => name);
  return [
    binding.metadata.name,
    `${binding.roleRef.kind}/${binding.roleRef.name}`,
    ageOf(binding, now),
    names("User").join(", "),
    names("Group").join(", "),
    subjects("ServiceAccount")
      .map(({ namespace = "", name }) => `${namespace}/${name}`)
      .join(", "),
  ];
};

export const certificateSigningRequestCells: CellsOf<CertificateSigningRequest> = (request, now) => {
  const { spec, status } = request;
  const has = (type: string) => status?.conditions?.some((condition) => condition.type === type) ?? false;
  const state = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  const seconds = spec?.expirationSeconds;
  return [
    request.metadata.name,
    ageOf(request, now),
    spec?.signerName || NONE,
    spec?.username ?? "",
    seconds === undefined ? NONE : humanDuration(seconds * 1000),
    state + (has("Failed") ? ",Failed" : "") + (status?.certificate ? ",Issued" : ""),
  ];
};

export const csiDriverCells: CellsOf<CSIDriver> = (driver, now) => {
  const { spec } = driver;
  return [
    driver.metadata.name,
    spec?.attachRequired ?? true,
    spec?.podInfoOnMount ?? false,
    spec?.storageCapacity ?? false,
    spec?.tokenRequests ? spec.tokenRequests.map(({ audience }) => audience).join(",") : UNSET,
    spec?.requiresRepublish ?? false,
    spec?.volumeLifecycleModes?.join(",") || NONE,
    ageOf(driver, now),
  ];
};

export const csiNodeCells: CellsOf<CSINode> = (node, now) => [
  node.metadata.name,
  node.spec?.drivers?.length ?? 0,
  ageOf(node, now),
];

export const storageClassCells: CellsOf<StorageClass> = (storageClass, now) => {
  const { metadata } = storageClass;
  const isDefault = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
  ].some((annotation) => metadata.annotations?.[annotation] === "true");
  return [
    isDefault ? `${metadata.name} (default)` : metadata.name,
    storageClass.provisioner,
    storageClass.reclaimPolicy ?? "Delete",
    storageClass.volumeBindingMode ?? "Immediate",
    storageClass.allowVolumeExpansion ?? false,
    ageOf(storageClass, now),
  ];
};

export const volumeAttachmentCells: CellsOf<VolumeAttachment> = (attachment, now) => [
  attachment.metadata.name,
  attachment.spec?.attacher ?? "",
  attachment.spec?.source.persistentVolumeName ?? "",
  attachment.spec?.nodeName ?? "",
  attachment.status?.attached ?? false,
  ageOf(attachment, now),
];

export const volumeAttributesClassCells: CellsOf<VolumeAttributesClass> = (volumeClass, now) => [
  volumeClass.metadata.name,
  volumeClass.driverName,
  ageOf(volumeClass, now),
];

export const webhooksCells: CellsOf<MutatingWebhookConfiguration | ValidatingWebhookConfiguration> = (
  configuration,
  now,
) => [configuration.metadata.name, configuration.webhooks?.length ?? 0, ageOf(configuration, now)];

export const validatingPolicyCells: CellsOf<ValidatingAdmissionPolicy> = (policy, now) => [
  policy.metadata.name,
  policy.spec?.validations?.length ?? 0,
  paramKindText(policy.spec?.paramKind),
  ageOf(policy, now),
];

export const mutatingPolicyCells: CellsOf<MutatingAdmissionPolicy> = (policy, now) => [
  policy.metadata.name,
  policy.spec?.mutations?.length ?? 0,
  paramKindText(policy.spec?.paramKind),
  ageOf(policy, now),
];

function paramKindText(paramKind: { apiVersion?: string; kind?: string } | undefined): string {
  return paramKind ? `${paramKind.apiVersion ?? ""}/${paramKind.kind ?? ""}` : UNSET;
}

export const policyBindingCells: CellsOf<MutatingAdmissionPolicyBinding | ValidatingAdmissionPolicyBinding> = (
  binding,
  now,
) => [binding.metadata.name, binding.spec?.policyName ?? "", paramText(binding.spec?.paramRef), ageOf(binding, now)];

function paramText(ref: { name?: string; namespace?: string; selector?: LabelSelector } | undefined): string {
  if (ref?.name) return `${ref.namespace || "*"}/${ref.name}`;
  return ref?.selector ? formatLabelSelector(ref.selector) : UNSET;
}

export const priorityClassCells: CellsOf<PriorityClass> = (priorityClass, now) => [
  priorityClass.metadata.name,
  priorityClass.value ?? 0,
  priorityClass.globalDefault ?? false,
  ageOf(priorityClass, now),
  priorityClass.preemptionPolicy ?? "",
];

export const runtimeClassCells: CellsOf<RuntimeClass> = (runtimeClass, now) => [
  runtimeClass.metadata.name,
  runtimeClass.handler,
  ageOf(runtimeClass, now),
];

export const leaseCells: CellsOf<Lease> = (lease, now) => [
  lease.metadata.name,
  lease.spec?.holderIdentity ?? "",
  ageOf(lease, now),
];

export const resourceClaimCells: CellsOf<ResourceClaim> = (claim, now) => {
  const { metadata, status } = claim;
  const states: string[] = [];
  if (metadata.deletionTimestamp) states.push("deleted");
  if (status?.allocation) states.push("allocated", ...(status.reservedFor?.length ? ["reserved"] : []));
  else if (!metadata.deletionTimestamp) states.push("pending");
  return [metadata.name, states.join(","), ageOf(claim, now)];
};

export const resourceSliceCells: CellsOf<ResourceSlice> = (slice, now) => [
  slice.metadata.name,
  slice.spec?.nodeName ?? "",
  slice.spec?.driver ?? "",
  slice.spec?.pool.name ?? "",
  ageOf(slice, now),
];

export const flowSchemaCells: CellsOf<FlowSchema> = (schema, now) => [
  schema.metadata.name,
  schema.spec?.priorityLevelConfiguration.name ?? "",
  schema.spec?.matchingPrecedence ?? 0,
  schema.spec?.distinguisherMethod?.type ?? NONE,
  ageOf(schema, now),
  schema.status?.conditions?.find(({ type }) => type === "Dangling")?.status ?? "?",
];

export const priorityLevelCells: CellsOf<PriorityLevelConfiguration> = (level, now) => {
  const { type = "", limited } = level.spec ?? {};
  const queuing = limited?.limitResponse?.queuing;
  const shown = (value: number | undefined): Cell => value ?? NONE;
  return [
    level.metadata.name,
    type,
    limited ? shown(limited.nominalConcurrencyShares) : NONE,
    shown(queuing?.queues),
    shown(queuing?.handSize),
    shown(queuing?.queueLengthLimit),
    ageOf(level, now),
  ];
};

/** Kinds that show only their age. */
export const nameAndAge: CellsOf = (object, now) => [object.metadata.name, ageOf(object, now)];

/** What a kind without columns shows: when it was created, which clients turn into an age. */
export const nameAndCreation: CellsOf = ({ metadata }) => [metadata.name, metadata.creationTimestamp ?? null];
