import type { Client } from "@konverge/client";
import { type AnyObject, deepEqual, isNotFound, type KindRef, type KubeObject, type Timer } from "@konverge/core";
import {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "@konverge/kinds";
import { type Log, silentLog } from "../log.ts";
import type { Webhooks, WebhookTarget } from "./webhooks.ts";

export interface WebhookRegistrationOptions {
  client: Client;
  /** The name of both configurations. */
  name: string;
  webhooks: Webhooks;
  /** Annotations of the configurations and of converted CRDs. */
  annotations?: Readonly<Record<string, string>>;
  /**
   * Create configurations that are missing. Default: false, as the operator's manifests install them: a client that may
   * create webhook configurations can intercept every write of the cluster.
   */
  creates?: boolean;
  log?: Log;
}

/**
 * Milliseconds between checks. Reading by name takes no permission to watch. Two versions of an operator, during an update,
 * have different desired states: they must not overwrite each other more often.
 */
const CHECK_PERIOD = 10_000;

/** A configuration, or a webhook in it, is not installed, and this process does not create it. */
export class MissingWebhookConfigurationError extends Error {
  override readonly name = "MissingWebhookConfigurationError";

  constructor(missing: string) {
    super(
      `the webhooks cannot be registered: ${missing}; apply the operator's manifests, which install it (konverge deploy, or konverge manifests and kubectl apply -k), before the operator starts`,
    );
  }
}

/**
 * Registers the webhooks with their address and authority, and keeps them registered: changes by other clients to these in
 * the configurations, or to the conversion of a CRD, are reverted within seconds. Which writes a webhook receives is up to the
 * installed configuration. It does not install CRDs.
 */
export class WebhookRegistration {
  readonly #options: WebhookRegistrationOptions;
  #target: WebhookTarget | undefined;
  #work: Promise<void> = Promise.resolve();
  #stopped = false;
  #planned: Timer | undefined;
  #problem: string | undefined;

  constructor(options: WebhookRegistrationOptions) {
    this.#options = options;
  }

  /** Sets the address of the webhooks. Resolves when they are registered. */
  async set(target: WebhookTarget): Promise<void> {
    this.#target = target;
    await this.#enqueue();
    this.#plan();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#planned?.cancel();
    await this.#work.catch(() => {});
  }

  /** Removes the configurations, when an operator is removed. */
  async remove(): Promise<void> {
    await this.stop();
    const { client, name } = this.#options;
    for (const kind of [MutatingWebhookConfiguration, ValidatingWebhookConfiguration] as KindRef<KubeObject>[]) {
      await client.delete(kind, name).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    }
  }

  #plan(): void {
    if (this.#stopped || this.#planned) return;
    const { client, name } = this.#options;
    const check = () => {
      this.#planned = undefined;
      this.#check().finally(() => this.#plan());
    };
    this.#planned = client.clock.after(CHECK_PERIOD, check, { background: true, label: `registration of ${name}` });
  }

  /** A failure is logged when it is new, not at each attempt. */
  async #check(): Promise<void> {
    try {
      await this.#enqueue();
      this.#problem = undefined;
    } catch (error) {
      const problem = (error as Error).message;
      if (this.#stopped || problem === this.#problem) return;
      this.#problem = problem;
      const { log = silentLog } = this.#options;
      log.warn({ err: error }, "the webhook configurations could not be updated");
    }
  }

  /** One after another. */
  #enqueue(): Promise<void> {
    this.#work = this.#work.catch(() => {}).then(() => this.#apply());
    return this.#work;
  }

  async #apply(): Promise<void> {
    const target = this.#target;
    if (!target || this.#stopped) return;
    const { webhooks } = this.#options;
    await this.#configure(MutatingWebhookConfiguration, webhooks.mutating(target));
    await this.#configure(ValidatingWebhookConfiguration, webhooks.validating(target));
    for (const { plural, group } of webhooks.conversions) await this.#convert(`${plural}.${group}`, target);
  }

  async #configure(kind: KindRef<KubeObject>, entries: readonly object[]): Promise<void> {
    if (entries.length === 0) return;
    const { client, name, annotations } = this.#options;
    const live = await this.#read(kind, name);
    const noted = annotations ? { annotations: { ...annotations } } : {};
    if (live) {
      const { webhooks: installed = [] } = live as { webhooks?: Entry[] };
      const webhooks = this.#options.creates
        ? withoutUndefined(entries)
        : withAddresses(installed, withoutUndefined(entries) as Entry[], `${kind.kind} ${name}`);
      if (this.#isAnnotated(live) && deepEqual(installed, webhooks)) return;
      // The list is replaced as a whole: nothing of an address that another client set may stay beside ours.
      await client.patch(kind, name, { merge: { metadata: noted, webhooks } as never });
      return;
    }
    if (!this.#options.creates) throw new MissingWebhookConfigurationError(`the ${kind.kind} ${name} is not installed`);
    const metadata = { name, ...noted };
    await client.apply(kind as KindRef<AnyObject>, { metadata, webhooks: entries } as never, { force: true });
  }

  async #convert(name: string, target: WebhookTarget): Promise<void> {
    const { client, webhooks, annotations } = this.#options;
    const live = await this.#read(CustomResourceDefinition as KindRef<KubeObject>, name);
    if (!live) return;
    const conversion = {
      strategy: "Webhook" as const,
      webhook: { clientConfig: webhooks.converting(target), conversionReviewVersions: ["v1"] },
    };
    const { spec } = live as unknown as CustomResourceDefinition;
    if (this.#isAnnotated(live) && deepEqual(spec.conversion, withoutUndefined(conversion))) return;
    // An address is a URL or a Service: whichever it is not must go.
    const { url = null, service = null, caBundle = null } = conversion.webhook.clientConfig;
    const webhook = { ...conversion.webhook, clientConfig: { url, service, caBundle } };
    await client.patch(CustomResourceDefinition, name, {
      merge: {
        ...(annotations && { metadata: { annotations } }),
        spec: { conversion: { ...conversion, webhook } },
      } as never,
    });
  }

  #isAnnotated({ metadata }: KubeObject): boolean {
    return Object.entries(this.#options.annotations ?? {}).every(
      ([key, value]) => metadata.annotations?.[key] === value,
    );
  }

  async #read(kind: KindRef<KubeObject>, name: string): Promise<KubeObject | undefined> {
    return this.#options.client.get(kind, name).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
  }
}

interface Entry {
  readonly name: string;
  readonly clientConfig: object;
}

/** Installed webhooks with the addresses of a process; those of another version of the operator stay as they are. */
function withAddresses(installed: readonly Entry[], own: readonly Entry[], configuration: string): Entry[] {
  for (const { name } of own) {
    if (!installed.some((one) => one.name === name))
      throw new MissingWebhookConfigurationError(`the installed ${configuration} has no webhook ${name}`);
  }
  return installed.map((one) => {
    const { clientConfig } = own.find(({ name }) => name === one.name) ?? one;
    return { ...one, clientConfig };
  });
}

/** As the server answers it: fields without a value are not there; an absent port of a service is 443. */
function withoutUndefined<T>(value: T): T {
  const copy = JSON.parse(JSON.stringify(value)) as T;
  addPorts(copy);
  return copy;
}

function addPorts(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const { service } = value as { service?: { port?: number } };
  if (service && service.port === undefined) service.port = 443;
  for (const inner of Object.values(value)) addPorts(inner);
}
