import { quoted } from "@konverge/core";
import type { CustomResourceDefinition } from "./custom-resource-definition.ts";

/** The annotation by which a CRD in one of Kubernetes' own groups says that it may be there. */
export const APPROVED = "api-approved.kubernetes.io";

/** Whether it may, and how a condition says so. */
export interface Approval {
  readonly state: "missing" | "bypassed" | "approved" | "invalid";
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

/** The approval of a CRD; undefined for groups that need none. */
export function approvalOf({ metadata, spec }: CustomResourceDefinition): Approval | undefined {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(spec.group ?? "")) return undefined;
  const annotation = metadata.annotations?.[APPROVED] ?? "";
  const see = "see https://github.com/kubernetes/enhancements/pull/1111";
  const must = `protected groups must have approval annotation ${quoted(APPROVED)}`;
  if (annotation === "") {
    return { state: "missing", status: "False", reason: "MissingAnnotation", message: `${must}, ${see}` };
  }
  if (annotation.startsWith("unapproved")) {
    const message = `not approved: ${quoted(annotation)}`;
    return { state: "bypassed", status: "False", reason: "UnapprovedAnnotation", message };
  }
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/]+/.test(annotation)) {
    return { state: "approved", status: "True", reason: "ApprovedAnnotation", message: `approved in ${annotation}` };
  }
  const message = `${must} with either a URL or a reason starting with "unapproved", ${see}`;
  return { state: "invalid", status: "False", reason: "InvalidAnnotation", message };
}
