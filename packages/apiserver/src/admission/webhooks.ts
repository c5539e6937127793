import {
  ApiError,
  badRequest,
  deepCopy,
  deepEqual,
  forbidden,
  type LabelSelector,
  parseJson,
  quoted,
} from "@konverge/core";
import type { WebhookClientConfig } from "@konverge/kinds";
import { applyJsonPatch, decodeJsonPatch } from "@konverge/schema/patch";
import { type Call, requestVersion } from "../call/call.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import { convertTo } from "../resources/stored-object.ts";
import { type CallWebhook, WebhookClientError } from "../webhook-call.ts";
import { admissionReview } from "./admission-review.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "./attributes.ts";
import { configurationsIn } from "./configurations.ts";
import { Expressions, type MatchCondition } from "./expressions.ts";
import { inVersion, type Matched, matchResource, type Rule } from "./resource-match.ts";
import { readResponse, type WebhookAnswer } from "./webhook-response.ts";

/** A webhook as its configuration has it. */
interface Webhook {
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly Rule[];
  readonly failurePolicy?: string;
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number;
  readonly reinvocationPolicy?: string;
  readonly matchConditions?: readonly MatchCondition[];
}

interface Hook {
  /** Distinguishes it from all others. */
  readonly key: string;
  readonly webhook: Webhook;
  readonly expressions: Expressions;
}

const MUTATING = "admissionregistration.k8s.io/mutatingwebhookconfigurations";
const VALIDATING = "admissionregistration.k8s.io/validatingwebhookconfigurations";

function hooksIn(call: Call, resource: string): Hook[] {
  return configurationsIn(call, resource, (object) =>
    ((object["webhooks"] ?? []) as Webhook[]).map((webhook, index) => ({
      key: `${object.metadata.name}/${index}/${webhook.name}`,
      webhook,
      expressions: new Expressions({ authorizer: true }),
    })),
  ).flat();
}

/** Webhooks that change objects, one after the other. */
export function mutatingWebhooks(callWebhook: CallWebhook): AdmissionPlugin {
  const name = "MutatingAdmissionWebhook";
  return {
    name,
    handles: ({ call }) => call.store.collection(MUTATING).size > 0,
    async mutate(attributes) {
      const callouts = attributes.reinvocation.calloutsOf(name);
      callouts.begin(attributes.object);
      for (const hook of hooksIn(attributes.call, MUTATING)) {
        const review = await reviewFor(attributes, hook);
        if (!review || !callouts.takesPart(hook.key)) continue;
        const answer = await ask(attributes, hook, review, callWebhook);
        if (answer?.patch && attributes.object) {
          const before = attributes.object;
          attributes.object = await patched(attributes, review, answer.patch);
          if (!deepEqual(before, attributes.object)) callouts.changed();
        }
        callouts.ran(hook.key, hook.webhook.reinvocationPolicy);
      }
      callouts.end(attributes.object);
    },
  };
}

/** Webhooks that judge objects: all at the same time; what the first of them refuses is said. */
export function validatingWebhooks(callWebhook: CallWebhook): AdmissionPlugin {
  return {
    name: "ValidatingAdmissionWebhook",
    handles: ({ call }) => call.store.collection(VALIDATING).size > 0,
    async validate(attributes) {
      const hooks = hooksIn(attributes.call, VALIDATING);
      const outcomes = await Promise.allSettled(
        hooks.map(async (hook) => {
          const review = await reviewFor(attributes, hook);
          if (review) await ask(attributes, hook, review, callWebhook);
        }),
      );
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    },
  };
}

/** What a webhook is shown of a write: its objects in the version that it matches. */
interface Review {
  readonly matched: Matched;
  readonly objects: Awaited<ReturnType<typeof inVersion>>;
}

/** The review that a webhook is called with; undefined when the write is not its concern. */
async function reviewFor(attributes: AdmissionAttributes, hook: Hook): Promise<Review | undefined> {
  const { webhook, expressions } = hook;
  if (isWebhookConfiguration(attributes)) return undefined;
  const matched = matchResource(attributes, webhook);
  if (!matched) return undefined;
  const objects = await inVersion(attributes, matched);
  if (webhook.matchConditions?.length) {
    const activation = expressions.activate(attributes, matched, objects);
    const { matches, error } = expressions.conditions(webhook.matchConditions, activation);
    if (!matches || (error !== undefined && webhook.failurePolicy === "Ignore")) return undefined;
    if (error !== undefined) {
      throw forbidden({ group: attributes.group, plural: attributes.resource }, attributes.name, error);
    }
  }
  return { matched, objects };
}

/** Calls a webhook; undefined when it failed and its failurePolicy ignores that. */
async function ask(
  attributes: AdmissionAttributes,
  { webhook }: Hook,
  { matched, objects }: Review,
  callWebhook: CallWebhook,
): Promise<WebhookAnswer | undefined> {
  const { call } = attributes;
  if (call.dryRun && webhook.sideEffects !== "None" && webhook.sideEffects !== "NoneOnDryRun") {
    throw badRequest(`admission webhook ${quoted(webhook.name)} does not support dry run`);
  }
  const uid = call.clock.random.uuid();
  let answer: WebhookAnswer;
  let problem = "failed to call webhook";
  try {
    const review = admissionReview(attributes, matched, uid, objects);
    const timeoutMs = (webhook.timeoutSeconds ?? 10) * 1000;
    const said = await callWebhook(webhook.clientConfig, review, { timeoutMs });
    problem = "received invalid webhook response";
    answer = readResponse(said, uid);
  } catch (error) {
    if (webhook.failurePolicy === "Ignore") return undefined;
    throw failedCall(webhook, error instanceof WebhookClientError ? "could not get REST client" : problem, error);
  }
  for (const warning of answer.warnings) call.warn(warning);
  for (const [key, value] of Object.entries(answer.auditAnnotations)) call.annotate?.(`${webhook.name}/${key}`, value);
  if (!answer.allowed) throw denial(webhook, answer);
  return answer;
}

function failedCall({ name }: Webhook, problem: string, cause: unknown): ApiError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return internalError(`failed calling webhook ${quoted(name)}: ${problem}: ${why}`, cause);
}

function internalError(message: string, cause: unknown): ApiError {
  return new ApiError(
    {
      code: 500,
      reason: "InternalError",
      message: `Internal error occurred: ${message}`,
      details: { causes: [{ message }] },
    },
    { cause },
  );
}

function denial({ name }: Webhook, { status = {} }: WebhookAnswer): ApiError {
  const denied = `admission webhook ${quoted(name)} denied the request`;
  const why = status.message || status.reason;
  const { reason, details } = status;
  return new ApiError({
    code: status.code && status.code >= 400 ? status.code : 400,
    message: why ? `${denied}: ${why}` : `${denied} without explanation`,
    ...(reason !== undefined && { reason }),
    ...(details !== undefined && { details }),
  });
}

/** The object with a webhook's patch applied to it, read as a body would be. */
async function patched({ call }: AdmissionAttributes, review: Review, patch: string): Promise<WorkingObject> {
  const version = call.definition.versions.get(review.matched.version) ?? call.version;
  try {
    const { operations } = decodeJsonPatch(parseJson(patch));
    const changed = applyJsonPatch(deepCopy(review.objects.object!) as never, operations);
    const { object } = version.codec.decode(changed);
    version.codec.applyDefaults(object);
    call.definition.strategy.defaults?.(object);
    return await convertTo(call.definition, object, requestVersion(call));
  } catch (error) {
    // The cause of a failed patch has the details: the author of a webhook needs them, a client does not get them.
    const why = error instanceof ApiError && error.cause instanceof Error ? error.cause : error;
    throw internalError(why instanceof Error ? why.message : String(why), error);
  }
}

/** Policies apply to them, webhooks do not: a broken webhook could otherwise never be repaired. */
function isWebhookConfiguration({ group, resource }: AdmissionAttributes): boolean {
  return group === "admissionregistration.k8s.io" && /^(?:mutating|validating)webhookconfigurations$/.test(resource);
}
