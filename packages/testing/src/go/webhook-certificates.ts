import { type Authority, createAuthority } from "@konverge/certificates";
import type { AnyObject, Clock, KubeObject } from "@konverge/core";

/** Where controller-runtime looks for the certificate of its webhook server. */
export const CERTIFICATE_FOLDER = "/tmp/k8s-webhook-server/serving-certs";

interface ClientConfig {
  service?: { name?: string; namespace?: string };
  caBundle?: string;
}

/** Objects in which webhooks trust an authority, and the certificate that it has issued for their Services. */
export interface CertifiedWebhooks {
  readonly objects: readonly KubeObject[];
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Issues what cert-manager would: webhooks behind a Service, and conversions of CRDs, get the bundle of an authority if they have
 * none, and the program the files of a certificate. An operator that manages its certificates itself replaces both.
 */
export function certifiedWebhooks(objects: readonly KubeObject[], clock: Clock): CertifiedWebhooks {
  const copies = structuredClone(objects) as AnyObject[];
  const configs = copies.flatMap(clientConfigs).filter(({ service, caBundle }) => service && !caBundle);
  if (configs.length === 0) return { objects, files: {} };
  const authority = createAuthority(clock, { name: "konverge-webhooks" });
  const bundle = Buffer.from(authority.cert).toString("base64");
  for (const config of configs) config.caBundle = bundle;
  return { objects: copies as unknown as KubeObject[], files: certificateFiles(authority, configs) };
}

function certificateFiles(authority: Authority, configs: readonly ClientConfig[]): Record<string, string> {
  const hosts = configs.map(({ service }) => `${service?.name}.${service?.namespace}.svc`);
  const { cert, key } = authority.server("webhooks", [...new Set(hosts)].sort());
  return {
    [`${CERTIFICATE_FOLDER}/tls.crt`]: cert,
    [`${CERTIFICATE_FOLDER}/tls.key`]: key,
    [`${CERTIFICATE_FOLDER}/ca.crt`]: authority.cert,
  };
}

function clientConfigs(object: AnyObject): ClientConfig[] {
  if (/^(Mutating|Validating)WebhookConfiguration$/.test(object.kind)) {
    const { webhooks = [] } = object as { webhooks?: readonly { clientConfig?: ClientConfig }[] };
    return webhooks.flatMap(({ clientConfig }) => clientConfig ?? []);
  }
  if (object.kind !== "CustomResourceDefinition") return [];
  const { spec } = object as { spec?: { conversion?: { webhook?: { clientConfig?: ClientConfig } } } };
  const config = spec?.conversion?.webhook?.clientConfig;
  return config ? [config] : [];
}
