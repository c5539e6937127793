/** What a server asks an admission webhook. */
export interface AdmissionReview {
  apiVersion: string;
  kind: string;
  request: { uid: string; operation: string; object?: { metadata?: { labels?: Record<string, string> } } };
}

/**
 * Admission by path: `allow`, `deny` (with a message), `refuse` (with a custom status), `warn`, `annotate` (audit),
 * `label` (a JSON patch that adds the label `by: webhook`), `spoil` (one that makes nonsense of managedFields), `shift` (a
 * patch that cannot be applied), `forget` (another uid), `sidecar` (a container), `count` (the label `calls`, one longer with
 * each call), `same` (a patch that changes nothing).
 */
export function admit(behavior: string, { apiVersion, kind, request }: AdmissionReview): object {
  const { uid, object } = request;
  const answer = (response: object) => ({ apiVersion, kind, response: { uid, allowed: true, ...response } });
  const patched = (patch: object[]) =>
    answer({ patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") });
  switch (behavior) {
    case "allow":
      return answer({});
    case "warn":
      return answer({ warnings: ["be careful", "very careful"] });
    case "annotate":
      return answer({ auditAnnotations: { checked: "yes" } });
    case "label":
      return patched([
        ...(object?.metadata?.labels ? [] : [{ op: "add", path: "/metadata/labels", value: {} }]),
        { op: "add", path: "/metadata/labels/by", value: "webhook" },
      ]);
    case "spoil":
      return patched([{ op: "replace", path: "/metadata/managedFields", value: [{ operation: "Nonsense" }] }]);
    case "shift":
      return patched([{ op: "remove", path: "/metadata/nowhere" }]);
    case "sidecar":
      return patched([{ op: "add", path: "/spec/containers/-", value: { name: "sidecar", image: "proxy" } }]);
    case "count":
      return patched([
        { op: "add", path: "/metadata/labels/calls", value: `${object?.metadata?.labels?.["calls"] ?? ""}x` },
      ]);
    case "same":
      return patched([{ op: "replace", path: "/metadata/labels/hook", value: object?.metadata?.labels?.["hook"] }]);
    case "forget":
      return answer({ uid: "another" });
    case "refuse":
      return answer({ allowed: false, status: { code: 418, reason: "Teapot", message: "short and stout" } });
    default:
      return answer({ allowed: false, status: { message: "not like this" } });
  }
}
