import { quoted, type StatusDetails } from "@konverge/core";

/** What a webhook said of a write. */
export interface WebhookAnswer {
  readonly allowed: boolean;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
  /** A JSON patch, as text. */
  readonly patch?: string;
  readonly status?: { code?: number; message?: string; reason?: string; details?: StatusDetails };
}

/** Reads the review that a webhook answered with; throws when it is none, or not the answer to this request. */
export function readResponse(review: unknown, uid: string): WebhookAnswer {
  const { kind, apiVersion, response } = (review ?? {}) as Record<string, unknown>;
  const got = { version: String(apiVersion ?? ""), kind: String(kind ?? "") };
  if (got.version !== "admission.k8s.io/v1" || got.kind !== "AdmissionReview") {
    const [group, version] = got.version.includes("/") ? got.version.split("/") : ["", got.version];
    throw new Error(
      `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${group}/${version}, Kind=${got.kind}`,
    );
  }
  if (typeof response !== "object" || response === null) throw new Error("webhook response was absent");
  const answer = response as Record<string, unknown>;
  if (answer["uid"] !== uid) {
    throw new Error(`expected response.uid=${quoted(uid)}, got ${quoted(String(answer["uid"] ?? ""))}`);
  }
  const { patch, patchType, status, warnings, auditAnnotations } = answer;
  if (typeof patch === "string" && patch !== "" && patchType !== "JSONPatch") {
    if (patchType === undefined || patchType === null) {
      throw new Error("webhook returned response.patch but not response.patchType");
    }
    throw new Error(`webhook returned invalid response.patchType of ${quoted(String(patchType))}`);
  }
  return {
    allowed: answer["allowed"] === true,
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
    auditAnnotations: (auditAnnotations ?? {}) as Record<string, string>,
    ...(typeof patch === "string" && patch !== "" && { patch: Buffer.from(patch, "base64").toString() }),
    ...(typeof status === "object" && status !== null && { status: status as NonNullable<WebhookAnswer["status"]> }),
  };
}
