import type { WorkingObject } from "../codec/working-object.ts";
import type { AdmissionAttributes } from "./attributes.ts";
import type { Matched } from "./resource-match.ts";

/** The AdmissionRequest of a write, without its objects. */
export function admissionRequest(attributes: AdmissionAttributes, matched: Matched, uid: string): object {
  const { call, operation, subresource, namespace, name, object } = attributes;
  const { info, user, version } = call;
  const resource = { group: matched.group, version: matched.version, resource: matched.resource };
  const requested = { group: info.group, version: info.version, resource: info.resource };
  const inGroup = call.definition.group;
  const kind = {
    group: version === undefined ? inGroup : groupOf(attributes),
    version: matched.version,
    // The options of a connection are a separate kind.
    kind: operation === "CONNECT" ? (object?.kind ?? matched.kind) : matched.kind,
  };
  return {
    uid,
    kind: { ...kind, ...(subresource === "scale" && { version: "v1" }) },
    resource,
    ...(subresource !== "" && { subResource: subresource }),
    requestKind: { ...kind, version: subresource === "scale" ? "v1" : info.version },
    requestResource: requested,
    ...(subresource !== "" && { requestSubResource: subresource }),
    ...((name || object?.metadata?.name) && { name: name || object?.metadata?.name }),
    ...(namespace !== "" && { namespace }),
    operation,
    userInfo: {
      username: user.name,
      ...(user.uid && { uid: user.uid }),
      ...(user.groups.length > 0 && { groups: user.groups }),
      ...(user.extra && { extra: user.extra }),
    },
    dryRun: call.dryRun,
    options: optionsOf(attributes),
  };
}

/** The review that is sent to a webhook. */
export function admissionReview(
  attributes: AdmissionAttributes,
  matched: Matched,
  uid: string,
  objects: { object: WorkingObject | undefined; old: WorkingObject | undefined },
): object {
  const { options, dryRun, ...request } = admissionRequest(attributes, matched, uid) as Record<string, unknown>;
  return {
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: { ...request, object: objects.object ?? null, oldObject: objects.old ?? null, dryRun, options },
  };
}

/** The group of the kind of what is sent: of a Scale not that of its resource. */
function groupOf({ call, subresource }: AdmissionAttributes): string {
  return subresource === "scale" ? "autoscaling" : call.definition.group;
}

const OPTIONS: Record<string, string> = { CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions" };

function optionsOf({ call, operation }: AdmissionAttributes): object {
  const { verb, query } = call.info;
  const kind = verb === "patch" ? "PatchOptions" : OPTIONS[operation];
  const given: Record<string, unknown> = {};
  for (const name of ["fieldManager", "fieldValidation", "propagationPolicy"]) {
    const value = query.get(name);
    if (value) given[name] = value;
  }
  if (call.dryRun) given["dryRun"] = ["All"];
  return { kind, apiVersion: "meta.k8s.io/v1", ...given };
}
