import type { KubeObject } from "@konverge/core";
import type { CustomResourceDefinition } from "@konverge/kinds";

interface ClientConfig {
  readonly url?: string | null;
  readonly service?: object;
  readonly caBundle?: string | null;
}

interface Hooked {
  readonly name?: string;
  readonly clientConfig?: ClientConfig;
}

/**
 * An object with webhooks as it is applied over the stored one. An address is a URL or a Service, never both, and what another field
 * manager set stays beside what is applied: so a URL that a development run registered is cleared where a Service is applied,
 * together with the certificate that belongs to it.
 */
export function clearingUrls<T extends KubeObject>(object: T, stored: KubeObject | undefined): T {
  const applied = object as { webhooks?: Hooked[]; spec?: { conversion?: { webhook?: Hooked } } };
  const known = stored as typeof applied | undefined;
  if (applied.webhooks) {
    const webhooks = applied.webhooks.map((one) =>
      cleared(
        one,
        known?.webhooks?.find(({ name }) => name === one.name),
      ),
    );
    return { ...object, webhooks };
  }
  const { conversion } = applied.spec ?? {};
  if (!conversion?.webhook) return object;
  const webhook = cleared(conversion.webhook, known?.spec?.conversion?.webhook);
  return { ...object, spec: { ...applied.spec, conversion: { ...conversion, webhook } } };
}

function cleared(applied: Hooked, stored: Hooked | undefined): Hooked {
  if (!applied.clientConfig?.service || !stored?.clientConfig?.url) return applied;
  return { ...applied, clientConfig: { ...applied.clientConfig, url: null, caBundle: null } };
}

/** A definition that keeps the address at which a running operator has registered its conversion. */
export function keepingAddress(
  crd: CustomResourceDefinition,
  stored: CustomResourceDefinition | undefined,
): CustomResourceDefinition {
  const registered = stored?.spec.conversion;
  if (!crd.spec.conversion || !registered?.webhook?.clientConfig?.url) return crd;
  return { ...crd, spec: { ...crd.spec, conversion: registered } };
}
