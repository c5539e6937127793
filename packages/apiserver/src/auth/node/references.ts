import type { Container, PersistentVolume, Pod, Volume } from "../../codec/objects.ts";

/** The namespace and name of a secret. */
export interface SecretReference {
  readonly namespace: string;
  readonly name: string;
}

const containersOf = ({ spec }: Pod): readonly Container[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
  ...((spec?.ephemeralContainers ?? []) as Container[]),
];

const named = (names: readonly (string | undefined)[]): string[] => [
  ...new Set(names.filter((name): name is string => name !== undefined && name !== "")),
];

/** The secrets that a pod names, wherever it does. */
export function secretsOf(pod: Pod): string[] {
  return named([
    ...(pod.spec?.imagePullSecrets ?? []).map(({ name }) => name),
    ...containersOf(pod).flatMap(({ env = [], envFrom = [] }) => [
      ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
      ...envFrom.map(({ secretRef }) => secretRef?.name),
    ]),
    ...(pod.spec?.volumes ?? []).flatMap(secretsOfVolume),
  ]);
}

function secretsOfVolume(volume: Volume): (string | undefined)[] {
  const { azureFile, cephfs, flexVolume, rbd, scaleIO, iscsi, storageos } = volume;
  return [
    volume.secret?.secretName,
    ...(volume.projected?.sources ?? []).map(({ secret }) => secret?.name),
    azureFile?.secretName,
    volume.csi?.nodePublishSecretRef?.name,
    ...[cephfs, flexVolume, rbd, scaleIO, iscsi, storageos].map((source) => source?.secretRef?.name),
  ];
}

/** The ConfigMaps that a pod names, wherever it does. */
export function configMapsOf(pod: Pod): string[] {
  return named([
    ...containersOf(pod).flatMap(({ env = [], envFrom = [] }) => [
      ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
      ...envFrom.map(({ configMapRef }) => configMapRef?.name),
    ]),
    ...(pod.spec?.volumes ?? []).flatMap(({ configMap, projected }) => [
      configMap?.name,
      ...(projected?.sources ?? []).map((source) => source.configMap?.name),
    ]),
  ]);
}

/** The PersistentVolumeClaims of a pod's volumes, those that are made for it included. */
export function volumeClaimsOf({ metadata, spec }: Pod): string[] {
  return named(
    (spec?.volumes ?? []).map(({ name, persistentVolumeClaim, ephemeral }) =>
      persistentVolumeClaim ? persistentVolumeClaim.claimName : ephemeral && `${metadata.name}-${name}`,
    ),
  );
}

/** The ResourceClaims that a pod uses: those it names, and those that were created for it. */
export function resourceClaimsOf({ spec, status }: Pod): string[] {
  const created = new Map((status?.resourceClaimStatuses ?? []).map((one) => [one.name, one.resourceClaimName]));
  return named([
    ...(spec?.resourceClaims ?? []).map((claim) => claim.resourceClaimName ?? created.get(claim.name)),
    status?.extendedResourceClaimStatus?.resourceClaimName,
  ]);
}

/** The secrets by which the kubelet mounts a volume; those that only a storage controller reads are not among them. */
export function secretsOfPersistentVolume({ spec }: PersistentVolume): SecretReference[] {
  const home = spec?.claimRef?.namespace ?? "";
  const { azureFile, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos, csi } = spec ?? {};
  const references: { namespace?: string; name?: string }[] = [
    { namespace: azureFile?.secretNamespace || home, name: azureFile?.secretName ?? "" },
    ...[cephfs, flexVolume, rbd, scaleIO, iscsi].map((source) => ({
      namespace: source?.secretRef?.namespace || home,
      name: source?.secretRef?.name ?? "",
    })),
    ...[cinder?.secretRef, storageos?.secretRef].map((reference) => reference ?? {}),
    ...[csi?.nodePublishSecretRef, csi?.nodeStageSecretRef, csi?.nodeExpandSecretRef].map((ref) => ref ?? {}),
  ];
  return references.flatMap(({ namespace = "", name = "" }) => (name === "" ? [] : [{ namespace, name }]));
}
