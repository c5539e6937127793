import { hostname } from "node:os";
import type { Client } from "@konverge/client";
import { ApiError, isConflict, isNotFound, type KindRef, type KubeObject } from "@konverge/core";
import {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  Service,
  ValidatingWebhookConfiguration,
} from "@konverge/kinds";
import { type ApplyOptions, maybe } from "../deploy/apply-objects.ts";
import { serveStoredOnly } from "../deploy/stored-only.ts";
import { RUN_ANNOTATION, type RunMark, runMark } from "../operators/run-mark.ts";

const REGISTERED = [
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  CustomResourceDefinition,
] as KindRef<KubeObject>[];

/** The registration of a webhook by the URL of a process outside the cluster. */
export interface RunRegistration {
  readonly kind: KindRef<KubeObject>;
  readonly object: KubeObject;
  readonly url: string;
  readonly mark: RunMark;
}

/** All registrations that processes outside the cluster have made. */
export async function registeredByRuns(client: Client): Promise<RunRegistration[]> {
  const found: RunRegistration[] = [];
  for (const kind of REGISTERED) {
    const { items } = await client.list(kind).catch((error: unknown) => {
      // A user without permission to list them has none to register or remove them either.
      if (error instanceof ApiError && error.code === 403) return { items: [] };
      throw error;
    });
    for (const object of items) {
      const mark = runMark(object);
      const url = urlOf(object);
      if (mark && url) found.push({ kind, object, url, mark });
    }
  }
  return found;
}

/** Whether this process has made a registration. */
export const isOwn = ({ mark }: RunRegistration) => mark.host === hostname() && mark.pid === process.pid;

/** Whether a process of this machine has made a registration, and has ended. */
export const isAbandoned = ({ mark }: RunRegistration) => mark.host === hostname() && !isRunning(mark.pid);

/**
 * Removes registrations, so that the API server no longer asks their processes. Where the operator is deployed, it is asked
 * at its Service again; otherwise nothing validates, and only the stored version of kinds is served.
 */
export async function removeRegistrations(
  registrations: readonly RunRegistration[],
  client: Client,
  options: ApplyOptions,
): Promise<void> {
  for (const { kind, object, mark } of registrations) {
    const { name, uid, resourceVersion } = object.metadata;
    const isDeployed = Boolean(await maybe(client, Service, `${mark.namespace}/${mark.name}`));
    if (kind.kind === "CustomResourceDefinition") {
      await endConversion(client, name, mark, isDeployed, options);
      continue;
    }
    if (isDeployed) {
      await askDeployed(client, kind, object, mark, options);
      continue;
    }
    const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
    try {
      await client.delete(kind, name, { preconditions });
      options.tell(`${kind.kind.toLowerCase()}.${kind.group}/${name} deleted`);
    } catch (error) {
      // Another process has registered itself in the meantime.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
}

/** A deployed operator sets its CA in its configurations, and cannot create them: they stay, with the address of its Service. */
async function askDeployed(
  client: Client,
  kind: KindRef<KubeObject>,
  object: KubeObject,
  { name, namespace }: RunMark,
  options: ApplyOptions,
): Promise<void> {
  type Hook = { clientConfig: { url?: string; service?: object; caBundle?: string } };
  const webhooks = (object as { webhooks?: Hook[] }).webhooks?.map((hook) => {
    const { url, caBundle: _, ...rest } = hook.clientConfig;
    if (!url) return hook;
    return { ...hook, clientConfig: { ...rest, service: { name, namespace, path: new URL(url).pathname, port: 443 } } };
  });
  const { resourceVersion } = object.metadata;
  const metadata = { annotations: { [RUN_ANNOTATION]: null }, ...(resourceVersion && { resourceVersion }) };
  try {
    await client.patch(kind, object.metadata.name, { merge: { metadata, webhooks } as never });
    options.tell(`${kind.kind.toLowerCase()}.${kind.group}/${object.metadata.name} asks its Service again`);
  } catch (error) {
    // Another process has registered itself in the meantime.
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

async function endConversion(
  client: Client,
  name: string,
  mark: RunMark,
  isDeployed: boolean,
  options: ApplyOptions,
): Promise<void> {
  const service = { name: mark.name, namespace: mark.namespace };
  const metadata = { annotations: { [RUN_ANNOTATION]: null } };
  if (isDeployed) {
    const clientConfig = { url: null, caBundle: null, service: { ...service, path: "/convert", port: 443 } };
    await client.patch(CustomResourceDefinition, name, {
      merge: { metadata, spec: { conversion: { webhook: { clientConfig } } } } as never,
    });
    options.tell(`customresourcedefinition.apiextensions.k8s.io/${name} converts at its Service again`);
    return;
  }
  await serveStoredOnly(client, name, options);
  await client.patch(CustomResourceDefinition, name, { merge: { metadata } as never }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

/**
 * Names the registrations of processes that have ended, and how to remove them. Those of `replaced` operators are about to be
 * registered again.
 */
export async function reportAbandoned(
  client: Client,
  tell: (text: string) => void,
  replaced: readonly string[] = [],
): Promise<void> {
  const abandoned = (await registeredByRuns(client)).filter(
    (one) => isAbandoned(one) && !replaced.includes(one.mark.name),
  );
  if (abandoned.length === 0) return;
  tell(
    `a \`konverge run\` has ended without removing its webhooks, so writes fail: ${described(abandoned)}; remove them with: npx konverge cleanup`,
  );
}

export function described(registrations: readonly RunRegistration[]): string {
  return registrations.map(({ kind, object, url }) => `${kind.kind} ${object.metadata.name} (${url})`).join(", ");
}

function urlOf(object: KubeObject): string | undefined {
  type Hook = { clientConfig?: { url?: string } };
  const { webhooks = [], spec } = object as { webhooks?: Hook[]; spec?: { conversion?: { webhook?: Hook } } };
  return [...webhooks, spec?.conversion?.webhook].map((hook) => hook?.clientConfig?.url).find((url) => url);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
