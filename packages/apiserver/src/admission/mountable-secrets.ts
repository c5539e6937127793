import type { Container, Pod, ServiceAccount } from "../codec/objects.ts";

const ENFORCED = "kubernetes.io/enforce-mountable-secrets";
const TRUE = new Set(["1", "t", "T", "TRUE", "true", "True"]);

/** Why a pod may not have a secret that it names, where its account says which it may have. */
export function mountableSecretsProblem(
  account: ServiceAccount,
  { spec }: Pod,
  of: "pod" | "ephemeral",
): string | undefined {
  const { annotations, name } = account.metadata;
  if (!TRUE.has(annotations?.[ENFORCED] ?? "")) return undefined;
  const allowed = new Set((account.secrets ?? []).map((secret) => secret.name));
  const why = `is not allowed because service account ${name} does not reference that`;
  const ofContainers = (what: string, containers: readonly Container[] | undefined) =>
    (containers ?? []).flatMap((container) =>
      namedBy(container)
        .filter(({ secret }) => !allowed.has(secret))
        .map(
          ({ by, secret }) =>
            `${what} ${container.name} with ${by} referencing secret.secretName="${secret}" ${why} secret`,
        ),
    );
  if (of === "ephemeral") return ofContainers("ephemeral container", spec.ephemeralContainers as Container[])[0];
  const pullable = new Set((account.imagePullSecrets ?? []).map((secret) => secret.name));
  return [
    ...(spec.volumes ?? [])
      .filter(({ secret }) => secret && !allowed.has(secret.secretName))
      .map(({ secret }) => `volume with secret.secretName="${secret!.secretName}" ${why} secret`),
    ...ofContainers("init container", spec.initContainers),
    ...ofContainers("container", spec.containers),
    ...(spec.imagePullSecrets ?? []).flatMap((secret, index) =>
      pullable.has(secret.name) ? [] : [`imagePullSecrets[${index}].name="${secret.name}" ${why} imagePullSecret`],
    ),
  ][0];
}

function namedBy({ env = [], envFrom = [] }: Container): { by: string; secret: string }[] {
  return [
    ...env.flatMap(({ name, valueFrom }) =>
      valueFrom?.secretKeyRef ? [{ by: `envVar ${name}`, secret: valueFrom.secretKeyRef.name ?? "" }] : [],
    ),
    ...envFrom.flatMap(({ secretRef }) => (secretRef ? [{ by: "envFrom", secret: secretRef.name ?? "" }] : [])),
  ];
}
