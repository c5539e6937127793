import type { Client } from "@konverge/client";
import type { Timer } from "@konverge/core";
import { type Log, silentLog } from "../log.ts";
import { type HttpServer, serveHttp } from "../observability/serve.ts";
import type { Permission } from "../rbac/access.ts";
import { builtInCertificates, type CertificateSource, type WebhookCertificates } from "./certificates/source.ts";
import { WebhookRegistration } from "./registration.ts";
import type { Webhooks } from "./webhooks.ts";

/**
 * How the API server learns the address and the authority of webhooks.
 *
 * - `update`: the process sets them in the configurations that its manifests installed. It may read and patch these alone.
 * - `create`: it also creates configurations that are missing. This takes a permission with which it could intercept every
 *   write of the cluster, so it is for processes that run as their developer.
 * - `none`: the manifests have the address, and another tool sets the `caBundle`: cert-manager's injector, or OLM. It takes
 *   no permissions.
 */
export type WebhookRegistrationMode = "update" | "create" | "none";

export interface ServeWebhooksOptions {
  client: Client;
  /** The name of the configurations, and of the Secret with built-in certificates (`<name>-certificates`). */
  name: string;
  /** The Service through which the API server reaches this process. */
  service?: { name: string; namespace: string; port?: number };
  /** Instead of a Service, the URL of the process: `https://10.0.0.5:9443`. Port 0 is replaced by the actual port. */
  url?: string;
  /** Default: 9443. */
  port?: number;
  /** Default: all interfaces. */
  host?: string;
  /** Default: those of a built-in authority, stored in a Secret. */
  certificates?: CertificateSource;
  /** The namespace of that Secret. Default: the service's, or the client's. */
  namespace?: string;
  annotations?: Readonly<Record<string, string>>;
  /** Default: `update` with a `service`, `create` with a `url`. */
  registration?: WebhookRegistrationMode;
  /** Milliseconds between checks of the certificates. Default: ten minutes. */
  every?: number;
  log?: Log;
}

/** A server of webhooks. */
export interface WebhookServer extends AsyncDisposable {
  readonly port: number;
  /** Checks the certificates now: renews or reloads them, and updates the registration. */
  refresh(): Promise<void>;
  /** Stops listening. The configurations stay, for the other replicas. */
  close(): Promise<void>;
  /** Stops listening, and removes the configurations. */
  remove(): Promise<void>;
}

const DEFAULT_PORT = 9443;
const DEFAULT_EVERY = 600_000;
/** An object and what it was before, of at most 3 MiB each; or a list of objects to convert. */
const LARGEST_REVIEW = 8 * 1024 * 1024;

/**
 * Serves webhooks over TLS and registers them with the API server:
 *
 * ```ts
 * await using hooks = await serveWebhooks(webhooks, { client, name: "models", service: { name: "models", namespace: "ai" } });
 * ```
 *
 * When certificates change, the API server first trusts the new authority as well; then the new certificate is served.
 */
export async function serveWebhooks(webhooks: Webhooks, options: ServeWebhooksOptions): Promise<WebhookServer> {
  const { client, name, service, log = silentLog, every = DEFAULT_EVERY } = options;
  const { clock } = client;
  if (!service === !options.url)
    throw new TypeError("set `service` or `url`, where the API server reaches the webhooks");
  const mode = options.registration ?? (service ? "update" : "create");
  if (mode === "none" && !options.certificates)
    throw new TypeError(
      '`registration: "none"` needs `certificates`: nothing registers the authority of built-in certificates; for example certificateFiles({ cert, key })',
    );
  const hosts = service ? serviceHosts(service) : [new URL(options.url!).hostname.replace(/^\[|\]$/g, "")];
  const secret = {
    name: `${name}-certificates`,
    namespace: options.namespace ?? service?.namespace ?? client.namespace,
  };
  const source = options.certificates ?? builtInCertificates(client, { hosts, secret });
  let current = await source();
  const tls = ({ serving }: WebhookCertificates) => ({
    cert: serving.cert,
    key: serving.key,
    minVersion: "TLSv1.2" as const,
  });
  const { port = DEFAULT_PORT, host } = options;
  const serving: HttpServer = await serveHttp(webhooks.transport, {
    port,
    ...(host && { host }),
    tls: tls(current),
    largestBody: LARGEST_REVIEW,
  });
  const registration = new WebhookRegistration({
    client,
    name,
    webhooks,
    log,
    creates: mode === "create",
    ...(options.annotations && { annotations: options.annotations }),
  });
  const register = async ({ bundle }: WebhookCertificates) => {
    if (mode === "none") return;
    await registration.set({
      ...(service ? { service } : { url: options.url!.replace(/:0(?=\/|$)/, `:${serving.port}`) }),
      ...(bundle !== undefined && { caBundle: Buffer.from(bundle).toString("base64") }),
    });
  };
  const refresh = async () => {
    const next = await source();
    if (next.bundle !== current.bundle) await register(next);
    if (next.serving.cert !== current.serving.cert) serving.setTls(tls(next));
    current = next;
  };
  let timer: Timer | undefined;
  const arm = () => {
    timer = clock.after(
      every,
      () => {
        refresh()
          .catch((error: unknown) => log.warn({ err: error }, "the webhooks' certificates could not be refreshed"))
          .finally(() => timer && arm());
      },
      { background: true, label: `certificates of ${name}` },
    );
  };
  const close = async () => {
    timer?.cancel();
    timer = undefined;
    await registration.stop();
    await serving.close();
  };
  try {
    await register(current);
  } catch (error) {
    await close();
    throw error;
  }
  arm();
  return {
    port: serving.port,
    refresh,
    close,
    async remove() {
      await registration.remove();
      await close();
    },
    [Symbol.asyncDispose]: close,
  };
}

function serviceHosts({ name, namespace }: { name: string; namespace: string }): string[] {
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`, `${name}.${namespace}`];
}

/** Where webhooks are served, and how they are registered. */
export interface WebhookPermissionOptions {
  readonly name: string;
  /** The namespace of the Secret with built-in certificates. */
  readonly namespace: string;
  /** Default: `update`. */
  readonly registration?: WebhookRegistrationMode;
}

/** The permissions that {@link serveWebhooks} needs with built-in certificates, or with those of the tool that registers it. */
export function webhookPermissions(webhooks: Webhooks, options: WebhookPermissionOptions): Permission[] {
  const { name, namespace, registration = "update" } = options;
  if (registration === "none") return [];
  const secret = `${name}-certificates`;
  const secrets = { group: "", resource: "secrets", namespace };
  const accesses: Permission[] = [
    { verb: "create", ...secrets },
    { verb: "get", ...secrets, name: secret },
    // When certificates are renewed.
    { verb: "update", ...secrets, name: secret, rare: true },
  ];
  const registered = (group: string, resource: string, named: string) => {
    for (const verb of ["get", "patch"]) accesses.push({ verb, group, resource, name: named });
  };
  const configured = (part: "mutate" | "validate", resource: string) => {
    if (!webhooks.admissions.some(({ options: one }) => one[part])) return;
    const group = "admissionregistration.k8s.io";
    registered(group, resource, name);
    if (registration === "create") accesses.push({ verb: "create", group, resource });
  };
  configured("mutate", "mutatingwebhookconfigurations");
  configured("validate", "validatingwebhookconfigurations");
  for (const { plural, group } of webhooks.conversions) {
    registered("apiextensions.k8s.io", "customresourcedefinitions", `${plural}.${group}`);
  }
  return accesses;
}
