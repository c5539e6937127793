import { ApiError, deepCopy, type FieldError, invalid, type KubeObject } from "@konverge/core";
import type { UserInfo } from "@konverge/kinds";
import { defaulted } from "../cache/defaulted.ts";
import { jsonDiff } from "../json-diff.ts";
import {
  AdmissionDeniedError,
  type AdmissionOperation,
  type AdmissionRequest,
  type AdmissionWebhook,
} from "./admission.ts";

/** What an API server sends to an admission webhook. */
export interface AdmissionReview {
  apiVersion: string;
  kind: string;
  request?: {
    uid: string;
    operation: string;
    subResource?: string;
    object?: KubeObject | null;
    oldObject?: KubeObject | null;
    userInfo?: UserInfo;
    dryRun?: boolean;
  };
}

/** What it gets back. */
export interface AdmissionAnswer {
  apiVersion: string;
  kind: string;
  response: {
    uid: string;
    allowed: boolean;
    status?: { code: number; reason?: string; message: string; details?: object };
    patchType?: "JSONPatch";
    patch?: string;
    warnings?: string[];
  };
}

/** Answers a review by the functions of an admission. */
export async function reviewAdmission(
  { kind, options }: AdmissionWebhook,
  part: "mutate" | "validate",
  { apiVersion, kind: reviewKind, request }: AdmissionReview,
): Promise<AdmissionAnswer> {
  if (!request) throw new TypeError("the review has no request");
  const warnings: string[] = [];
  const about: AdmissionRequest<KubeObject> = {
    operation: request.operation as AdmissionOperation,
    old: request.oldObject ? defaulted(kind, request.oldObject) : undefined,
    user: request.userInfo ?? {},
    dryRun: request.dryRun ?? false,
    subresource: request.subResource || undefined,
    warn: (message) => void warnings.push(message),
  };
  const answer = (verdict: Omit<AdmissionAnswer["response"], "uid">): AdmissionAnswer => ({
    apiVersion,
    kind: reviewKind,
    response: { uid: request.uid, ...verdict, ...(warnings.length > 0 && { warnings }) },
  });
  const given = request.object ?? request.oldObject;
  if (!given) return answer({ allowed: true });
  try {
    if (part === "validate") {
      const errors = (await options.validate?.(defaulted(kind, given), about)) ?? [];
      return answer(
        errors.length === 0 ? { allowed: true } : { allowed: false, status: statusOf(kind, given, errors) },
      );
    }
    if (!request.object) return answer({ allowed: true });
    const draft = deepCopy(defaulted(kind, given));
    await options.mutate?.(draft, about);
    const operations = jsonDiff(given, draft);
    if (operations.length === 0) return answer({ allowed: true });
    const patch = Buffer.from(JSON.stringify(operations)).toString("base64");
    return answer({ allowed: true, patchType: "JSONPatch", patch });
  } catch (error) {
    // Any other error is a mistake of the webhook's: the server decides by its failure policy.
    if (error instanceof AdmissionDeniedError) {
      return answer({ allowed: false, status: { code: error.code, reason: "Forbidden", message: error.message } });
    }
    if (error instanceof ApiError) {
      const { code, reason, message, details } = error;
      return answer({ allowed: false, status: { code, reason, message, ...(details && { details }) } });
    }
    throw error;
  }
}

function statusOf(kind: AdmissionWebhook["kind"], object: KubeObject, errors: readonly FieldError[]) {
  const { code, reason, message, details } = invalid(kind, object.metadata.name ?? "", errors);
  return { code, reason, message, ...(details && { details }) };
}
