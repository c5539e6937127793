import type { Client } from "@konverge/client";
import { type AnyObject, deepEqual, isNotFound, type KindRef, type KubeObject, type Timer } from "@konverge/core";
import {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "@konverge/kinds";
import { Cache } from "../cache/cache.ts";
import { type Log, silentLog } from "../log.ts";
import type { Webhooks, WebhookTarget } from "./webhooks.ts";

export interface WebhookRegistrationOptions {
  client: Client;
  /** The name of both configurations. */
  name: string;
  webhooks: Webhooks;
  /** Annotations of the configurations and of converted CRDs, for example for cert-manager's injector. */
  annotations?: Readonly<Record<string, string>>;
  log?: Log;
}

/**
 * Two versions of an operator, during an update, have different desired states: they must not overwrite each other in a
 * loop.
 */
const REPAIR_PERIOD = 5_000;

/**
 * Registers the webhooks with their address and authority, and keeps them registered: changes by other clients to the
 * configurations, or to the conversion of a CRD, are reverted. It does not install CRDs.
 */
export class WebhookRegistration {
  readonly #options: WebhookRegistrationOptions;
  readonly #cache: Cache;
  #target: WebhookTarget | undefined;
  #work: Promise<void> = Promise.resolve();
  #stopped = false;
  #repairedAt = Number.NEGATIVE_INFINITY;
  #planned: Timer | undefined;

  constructor(options: WebhookRegistrationOptions) {
    this.#options = options;
    this.#cache = new Cache(options.client);
    for (const [kind, name] of this.#registered()) {
      const view = this.#cache.use(kind, { fieldSelector: `metadata.name=${name}` });
      view.subscribe(() => this.#repair());
    }
  }

  /** Sets the address of the webhooks. Resolves when they are registered. */
  async set(target: WebhookTarget): Promise<void> {
    this.#target = target;
    await this.#enqueue();
    this.#cache.start();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#planned?.cancel();
    this.#cache.stop();
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

  #repair(): void {
    if (this.#stopped || this.#planned) return;
    const { clock } = this.#options.client;
    const wait = this.#repairedAt + REPAIR_PERIOD - clock.monotonic();
    if (wait > 0) {
      this.#planned = clock.after(
        wait,
        () => {
          this.#planned = undefined;
          this.#repair();
        },
        { background: true, label: `registration of ${this.#options.name}` },
      );
      return;
    }
    this.#repairedAt = clock.monotonic();
    this.#enqueue().catch((error: unknown) => {
      (this.#options.log ?? silentLog).warn({ err: error }, "the webhook configurations could not be updated");
    });
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
    const kept = (live as { webhooks?: object[] } | undefined)?.webhooks;
    if (live && this.#isAnnotated(live) && deepEqual(kept, withoutUndefined(entries))) return;
    const noted = annotations ? { annotations: { ...annotations } } : {};
    if (live) {
      // The list is replaced as a whole: nothing of an address that another client set may stay beside ours.
      await client.patch(kind, name, { merge: { metadata: noted, webhooks: entries } as never });
      return;
    }
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

  *#registered(): IterableIterator<[KindRef<KubeObject>, string]> {
    const { webhooks, name } = this.#options;
    const some = (part: "mutate" | "validate") => webhooks.admissions.some(({ options }) => options[part]);
    if (some("mutate")) yield [MutatingWebhookConfiguration as KindRef<KubeObject>, name];
    if (some("validate")) yield [ValidatingWebhookConfiguration as KindRef<KubeObject>, name];
    for (const { plural, group } of webhooks.conversions) {
      yield [CustomResourceDefinition as KindRef<KubeObject>, `${plural}.${group}`];
    }
  }
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
