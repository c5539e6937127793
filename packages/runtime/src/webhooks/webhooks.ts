/**
 * Webhooks: what an operator has a say in before an object is stored, and how it is converted.
 *
 * `admission` describes validation and defaulting as functions of an object; the conversion of a kind comes with its definition.
 * `Webhooks` puts them behind one function, which `serveWebhooks` serves over TLS and registers with the API
 * server, and which the embedded API server calls directly.
 */

import { type ApiResponse, type Clock, headerOf, readText, realClock, type Transport } from "@konverge/core";
import type { MutatingWebhook, ValidatingWebhook } from "@konverge/kinds";
import { type Log, silentLog } from "../log.ts";
import { combineObservers, type Observer } from "../observe/observer.ts";
import type { AdmissionWebhook } from "./admission.ts";
import { type AdmissionReview, reviewAdmission } from "./review-admission.ts";
import { type ConversionReview, type ConvertibleKind, reviewConversion } from "./review-conversion.ts";

export interface WebhooksOptions {
  admissions?: readonly AdmissionWebhook[];
  /** Kinds whose objects are converted by their definition's functions. */
  conversions?: readonly ConvertibleKind[];
  log?: Log;
  observers?: readonly Observer[];
  /** Default: the machine's. */
  clock?: Clock;
}

/** The address at which the API server reaches a webhook. */
export interface WebhookTarget {
  readonly url?: string;
  readonly service?: {
    readonly name: string;
    readonly namespace: string;
    readonly path?: string;
    readonly port?: number;
  };
  readonly caBundle?: string;
}

const CONVERSION_PATH = "/convert";

/**
 * The webhooks of an operator, as functions: {@link transport} handles HTTP requests, {@link call} handles reviews in
 * the same process, without a port or a certificate.
 */
export class Webhooks {
  readonly admissions: readonly AdmissionWebhook[];
  readonly conversions: readonly ConvertibleKind[];
  readonly #log: Log;
  readonly #observer: Observer;
  readonly #clock: Clock;
  readonly #handlers = new Map<string, (review: unknown) => Promise<object>>();

  constructor(options: WebhooksOptions) {
    const { admissions = [], conversions = [], log = silentLog, clock = realClock() } = options;
    this.admissions = admissions;
    this.conversions = conversions;
    this.#log = log;
    this.#clock = clock;
    this.#observer = combineObservers(options.observers ?? []);
    for (const one of admissions) {
      for (const part of ["mutate", "validate"] as const) {
        if (!one.options[part]) continue;
        const path = pathOf(one, part);
        if (this.#handlers.has(path)) throw new TypeError(`two admissions are called ${one.name}: give one a \`name\``);
        this.#handlers.set(path, (review) => reviewAdmission(one, part, review as AdmissionReview));
      }
    }
    if (conversions.length > 0) {
      this.#handlers.set(CONVERSION_PATH, async (review) => reviewConversion(conversions, review as ConversionReview));
    }
  }

  /** Handles the API server's HTTP requests. */
  readonly transport: Transport = async ({ method, path, headers, body }) => {
    const [pathname = ""] = path.split("?");
    if (!this.#handlers.has(pathname)) return plain(404, `there is no webhook at ${pathname}`);
    if (method !== "POST") return plain(405, "reviews are posted");
    if (!headerOf(headers, "content-type")?.startsWith("application/json")) return plain(415, "reviews are JSON");
    let review: unknown;
    try {
      review = JSON.parse(await readText(body ?? ""));
    } catch {
      return plain(400, "the review is not JSON");
    }
    // Anyone who reaches the port may have sent it: that is no failure of the webhook, and nothing to log.
    if (!isReview(review)) return plain(400, "the body is no review with a request: an API server sends one");
    try {
      const answer = await this.#review(pathname, review);
      return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(answer) };
    } catch (error) {
      return plain(500, error instanceof Error ? error.message : String(error));
    }
  };

  /**
   * Handles a review in the same process, for the embedded API server:
   *
   * ```ts
   * new ApiServer({ callWebhook: webhooks.call })
   * ```
   */
  readonly call = async (target: WebhookTarget, review: object): Promise<unknown> => {
    const path = target.url ? new URL(target.url).pathname : (target.service?.path ?? "/");
    if (!this.#handlers.has(path)) throw new Error(`there is no webhook at ${path}`);
    // As it would be after a journey: nothing is shared with the server.
    return JSON.parse(JSON.stringify(await this.#review(path, JSON.parse(JSON.stringify(review))))) as unknown;
  };

  /** The entries of a MutatingWebhookConfiguration. */
  mutating(target: WebhookTarget): MutatingWebhook[] {
    return this.admissions
      .filter(({ options }) => options.mutate)
      .map((one) => ({
        ...entry(one, "mutate", target),
        reinvocationPolicy: one.options.reinvocationPolicy ?? "IfNeeded",
      }));
  }

  /** The entries of a ValidatingWebhookConfiguration. */
  validating(target: WebhookTarget): ValidatingWebhook[] {
    return this.admissions.filter(({ options }) => options.validate).map((one) => entry(one, "validate", target));
  }

  /** The client configuration for the conversion of a CRD: `Model.crd({ conversionWebhook: … })`. */
  converting(target: WebhookTarget): ReturnType<typeof at> {
    return at(target, CONVERSION_PATH);
  }

  async #review(path: string, review: unknown): Promise<object> {
    const started = this.#clock.monotonic();
    const ended = this.#observer.reviewing?.({ webhook: path });
    const tell = (code: number) => ended?.({ code, duration: this.#clock.monotonic() - started });
    try {
      const answer = await this.#handlers.get(path)!(review);
      tell(200);
      return answer;
    } catch (error) {
      this.#log.error({ err: error, webhook: path }, "a webhook failed");
      tell(500);
      throw error;
    }
  }
}

function isReview(value: unknown): boolean {
  const { request } = asObject(value);
  const { uid, object, oldObject, objects } = asObject(request);
  const areObjects = [object, oldObject].every((one) => one === undefined || one === null || isObject(one));
  return typeof uid === "string" && areObjects && (objects === undefined || Array.isArray(objects));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const asObject = (value: unknown) => (isObject(value) ? value : {});

function pathOf({ name }: AdmissionWebhook, part: "mutate" | "validate"): string {
  return `/${part}/${name}`;
}

/** The target with a path below whatever it names. */
function at({ url, service, caBundle }: WebhookTarget, path: string) {
  return {
    ...(url !== undefined && { url: `${url.replace(/\/$/, "")}${path}` }),
    ...(service && { service: { ...service, path } }),
    ...(caBundle !== undefined && { caBundle }),
  };
}

function entry(one: AdmissionWebhook, part: "mutate" | "validate", target: WebhookTarget): ValidatingWebhook {
  const { kind, options, name } = one;
  const operations = (options.operations ?? ["CREATE", "UPDATE"]).filter((o) => part === "validate" || o !== "DELETE");
  const resources = [kind.plural, ...(options.subresources ?? []).map((sub) => `${kind.plural}/${sub}`)];
  const { failurePolicy = "Fail", timeoutSeconds = 10, namespaceSelector, objectSelector, matchConditions } = options;
  return {
    name: `${part}.${name}`,
    clientConfig: at(target, pathOf(one, part)),
    rules: [{ apiGroups: [kind.group], apiVersions: [kind.version], resources, operations, scope: "*" }],
    failurePolicy,
    matchPolicy: "Equivalent",
    sideEffects: "None",
    timeoutSeconds,
    admissionReviewVersions: ["v1"],
    namespaceSelector: namespaceSelector ?? {},
    objectSelector: objectSelector ?? {},
    ...(matchConditions && { matchConditions: [...matchConditions] }),
  };
}

function plain(status: number, text: string): ApiResponse {
  return { status, headers: { "content-type": "text/plain; charset=utf-8" }, body: `${text}\n` };
}
