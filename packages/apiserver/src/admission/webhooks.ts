import { ApiError, badRequest, deepCopy, forbidden, type LabelSelector, parseJson, quoted } from "@konverge/core";
import type { WebhookClientConfig } from "@konverge/kinds";
import { applyJsonPatch, decodeJsonPatch } from "@konverge/schema/patch";
import type { WorkingObject } from "../codec/working-object.ts";
import { type Call, convertTo, requestVersion } from "../verbs/call.ts";
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
  readonly webhook: Webhook;
  readonly expressions: Expressions;
}

const MUTATING = "admissionregistration.k8s.io/mutatingwebhookconfigurations";
const VALIDATING = "admissionregistration.k8s.io/validatingwebhookconfigurations";

function hooksIn(call: Call, resource: string): Hook[] {
  return configurationsIn(call, resource, (object) =>
    ((object["webhooks"] ?? []) as Webhook[]).map((webhook) => ({
      webhook,
      expressions: new Expressions({ authorizer: true }),
    })),
  ).flat();
}

/** Webhooks that change objects: one after the other, and once more where a later one changed what an earlier one saw. */
export function mutatingWebhooks(callWebhook: CallWebhook): AdmissionPlugin {
  return {
    name: "MutatingAdmissionWebhook",
    handles: ({ call }) => call.store.collection(MUTATING).size > 0,
    async mutate(attributes) {
      const hooks = hooksIn(attributes.call, MUTATING);
      const seen = new Map<Hook, string>();
      for (const round of ["first", "again"]) {
        for (const hook of hooks) {
          if (round === "again") {
            const before = seen.get(hook);
            const wanted = hook.webhook.reinvocationPolicy === "IfNeeded";
            if (!wanted || before === undefined || before === JSON.stringify(attributes.object)) continue;
          }
          const answer = await ask(attributes, hook, callWebhook);
          if (!answer) continue;
          if (answer.patch && attributes.object) attributes.object = await patched(attributes, answer);
          seen.set(hook, JSON.stringify(attributes.object));
        }
      }
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
      const outcomes = await Promise.allSettled(hooks.map((hook) => ask(attributes, hook, callWebhook)));
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    },
  };
}

interface Answer extends WebhookAnswer {
  readonly matched: Matched;
  /** What the webhook was shown, which its patch is made for. */
  readonly shown: WorkingObject | undefined;
}

/** Asks a webhook about a write; undefined when it is not its concern, or it failed and may. */
async function ask(attributes: AdmissionAttributes, hook: Hook, callWebhook: CallWebhook): Promise<Answer | undefined> {
  const { webhook, expressions } = hook;
  const matched = matchResource(attributes, webhook);
  if (!matched) return undefined;
  const { call } = attributes;
  const objects = await inVersion(attributes, matched);
  const mayFail = webhook.failurePolicy === "Ignore";
  if (webhook.matchConditions?.length) {
    const activation = expressions.activate(attributes, matched, objects);
    const { matches, error } = expressions.conditions(webhook.matchConditions, activation);
    if (!matches || (error !== undefined && mayFail)) return undefined;
    if (error !== undefined) {
      throw forbidden({ group: attributes.group, plural: attributes.resource }, attributes.name, error);
    }
  }
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
    if (mayFail) return undefined;
    throw failedCall(webhook, error instanceof WebhookClientError ? "could not get REST client" : problem, error);
  }
  for (const warning of answer.warnings) call.warn(warning);
  for (const [key, value] of Object.entries(answer.auditAnnotations)) call.annotate?.(`${webhook.name}/${key}`, value);
  if (!answer.allowed) throw denial(webhook, answer);
  return { ...answer, matched, shown: objects.object };
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
async function patched({ call }: AdmissionAttributes, answer: Answer): Promise<WorkingObject> {
  const version = call.definition.versions.get(answer.matched.version) ?? call.version;
  try {
    const { operations } = decodeJsonPatch(parseJson(answer.patch!));
    const changed = applyJsonPatch(deepCopy(answer.shown!) as never, operations);
    const { object } = version.codec.decode(changed);
    version.codec.applyDefaults(object);
    call.definition.strategy.defaults?.(object);
    return await convertTo(call.definition, object, requestVersion(call));
  } catch (error) {
    // A patch that fails says why in its cause: a client that sent it is told less than the writer of a webhook.
    const why = error instanceof ApiError && error.cause instanceof Error ? error.cause : error;
    throw internalError(why instanceof Error ? why.message : String(why), error);
  }
}
