import type { KubeObject } from "@konverge/core";
import type { Volume, VolumeMount } from "@konverge/kinds";
import type { WebhookRegistrationMode } from "@konverge/runtime";
import { UsageError } from "../usage-error.ts";

/**
 * Who issues the certificates of webhooks and sets their CA in the registrations.
 *
 * - `operator`: the operator, which may get and patch its own registrations.
 * - `cert-manager`: its injector; the operator has no permission on registrations.
 * - `olm`: the Operator Lifecycle Manager, which also creates the registrations.
 * - `none`: nobody. There are no webhooks: the operator checks objects when it reconciles them, and CRDs serve only the version
 *   that is stored.
 */
export type WebhookAuthority = "operator" | "cert-manager" | "olm" | "none";

/** Those that a user can choose; OLM is what a bundle is for. */
export const WEBHOOK_AUTHORITIES = ["operator", "cert-manager", "none"] as const satisfies readonly WebhookAuthority[];

interface Installation {
  readonly name: string;
  readonly namespace: string;
}

/**
 * Who it is, unless the user chooses: with Roles in namespaces, an operator cannot change registrations, which belong to the
 * whole cluster.
 */
export function webhookAuthority({ webhookCa, namespaced }: Chosen): WebhookAuthority {
  if (namespaced && webhookCa === "operator")
    throw new UsageError(
      "--webhook-ca operator needs permissions on webhook configurations, which --namespaced does not give: use --webhook-ca cert-manager, or none",
    );
  return webhookCa ?? (namespaced ? "none" : "operator");
}

interface Chosen {
  readonly webhookCa?: WebhookAuthority;
  readonly namespaced?: readonly string[];
}

export function registrationBy(authority: WebhookAuthority): WebhookRegistrationMode {
  return authority === "operator" ? "update" : "none";
}

/** What cert-manager's injector finds registrations by. */
export function injectionAnnotations(
  authority: WebhookAuthority,
  { name, namespace }: Installation,
): Record<string, string> {
  return authority === "cert-manager" ? { "cert-manager.io/inject-ca-from": `${namespace}/${name}-certificates` } : {};
}

/** The certificate, and an issuer that signs it with itself: only this operator's registrations trust it. */
export function certificateObjects({ name, namespace }: Installation, labels: Record<string, string>): KubeObject[] {
  const metadata = { name: `${name}-certificates`, namespace, labels };
  const apiVersion = "cert-manager.io/v1";
  const service = `${name}.${namespace}.svc`;
  return [
    { apiVersion, kind: "Issuer", metadata, spec: { selfSigned: {} } },
    {
      apiVersion,
      kind: "Certificate",
      metadata,
      spec: {
        secretName: metadata.name,
        dnsNames: [service, `${service}.cluster.local`],
        issuerRef: { kind: "Issuer", name: metadata.name },
        privateKey: { algorithm: "ECDSA", size: 256, rotationPolicy: "Always" },
        usages: ["digital signature", "server auth"],
      },
    },
  ] as unknown as KubeObject[];
}

/** How the pod gets its certificates: the folder, and the volume where OLM does not add one. */
export interface MountedCertificates {
  readonly folder: string;
  readonly volumes: readonly Volume[];
  readonly mounts: readonly VolumeMount[];
}

/** Undefined: the operator issues them itself. */
export function mountedCertificates(authority: WebhookAuthority, name: string): MountedCertificates | undefined {
  if (authority === "operator" || authority === "none") return undefined;
  if (authority === "olm") return { folder: OLM_FOLDER, volumes: [], mounts: [] };
  const volume = "webhook-certificates";
  return {
    folder: FOLDER,
    volumes: [{ name: volume, secret: { secretName: `${name}-certificates` } }],
    mounts: [{ name: volume, mountPath: FOLDER, readOnly: true }],
  };
}

const FOLDER = "/webhook-certificates";
/** Where OLM mounts the certificate of a Deployment with webhooks. */
const OLM_FOLDER = "/tmp/k8s-webhook-server/serving-certs";
