import { deepEqual, dns1123SubdomainErrors, type FieldError, pathSegmentErrors } from "@konverge/core";
import { invalidValue, notSupported, required } from "@konverge/schema";
import type { ClusterRole, Role, RoleBinding, Stored } from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";

const GROUP = "rbac.authorization.k8s.io";

const ENFORCED = "kubernetes.io/enforce-mountable-secrets";

/** What pods act as. */
export const serviceAccount: Strategy = {
  // Its name and the rest of its metadata is all that is checked; what its lists refer to need not exist.
  validate: () => [],
  warnings({ metadata }, _context, old) {
    if (metadata.annotations?.[ENFORCED] === undefined || old?.metadata.annotations?.[ENFORCED] !== undefined)
      return [];
    const instead = "prefer separate namespaces to isolate access to mounted secrets";
    return [`metadata.annotations[${ENFORCED}]: deprecated in v1.32+; ${instead}`];
  },
};

/** Roles of one namespace, and of all. */
export function roleStrategy(namespaced: boolean): Strategy {
  return {
    nameErrors: (name) => pathSegmentErrors(name),
    validate: ({ rules }: Stored<Role | ClusterRole>) =>
      (rules ?? []).flatMap(({ verbs = [], apiGroups = [], resources = [], nonResourceURLs = [] }, index) => {
        const at = `rules[${index}]`;
        const errors: FieldError[] = [];
        if (!verbs?.length) errors.push(required(`${at}.verbs`, "verbs must contain at least one value"));
        if (nonResourceURLs.length > 0) {
          if (namespaced) {
            const detail = "namespaced rules cannot apply to non-resource URLs";
            errors.push(invalidValue(`${at}.nonResourceURLs`, nonResourceURLs, detail));
          }
          if (apiGroups.length > 0 || resources.length > 0) {
            const detail = "rules cannot apply to both regular resources and non-resource URLs";
            errors.push(invalidValue(`${at}.nonResourceURLs`, nonResourceURLs, detail));
          }
          return errors;
        }
        if (apiGroups.length === 0) {
          errors.push(required(`${at}.apiGroups`, "resource rules must supply at least one api group"));
        }
        if (resources.length === 0) {
          errors.push(required(`${at}.resources`, "resource rules must supply at least one resource"));
        }
        return errors;
      }),
  };
}

/** Bindings in one namespace, and everywhere. */
export function bindingStrategy(namespaced: boolean): Strategy {
  return {
    nameErrors: (name) => pathSegmentErrors(name),
    defaults({ roleRef, subjects }: Stored<RoleBinding>) {
      roleRef.apiGroup ||= GROUP;
      for (const subject of subjects ?? []) {
        if (subject.kind === "User" || subject.kind === "Group") subject.apiGroup ||= GROUP;
      }
    },
    validate({ roleRef, subjects = [] }: Stored<RoleBinding>) {
      const errors: FieldError[] = [];
      if (roleRef.apiGroup !== GROUP) errors.push(notSupported("roleRef.apiGroup", roleRef.apiGroup ?? "", [GROUP]));
      const kinds = namespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
      if (!kinds.includes(roleRef.kind)) errors.push(notSupported("roleRef.kind", roleRef.kind, kinds));
      if (!roleRef.name) errors.push(required("roleRef.name"));
      else {
        for (const detail of pathSegmentErrors(roleRef.name))
          errors.push(invalidValue("roleRef.name", roleRef.name, detail));
      }
      (subjects ?? []).forEach((subject, index) => {
        const at = `subjects[${index}]`;
        if (!subject.name) errors.push(required(`${at}.name`));
        if (subject.kind === "ServiceAccount") {
          if (subject.name) {
            for (const detail of dns1123SubdomainErrors(subject.name)) {
              errors.push(invalidValue(`${at}.name`, subject.name, detail));
            }
          }
          if (subject.apiGroup) errors.push(notSupported(`${at}.apiGroup`, subject.apiGroup, [""]));
          if (!subject.namespace && !namespaced) errors.push(required(`${at}.namespace`));
        } else if (subject.kind === "User" || subject.kind === "Group") {
          if (subject.apiGroup !== GROUP) errors.push(notSupported(`${at}.apiGroup`, subject.apiGroup ?? "", [GROUP]));
        } else errors.push(notSupported(`${at}.kind`, subject.kind, ["ServiceAccount", "User", "Group"]));
      });
      return errors;
    },
    validateUpdate: ({ roleRef }: Stored<RoleBinding>, old: Stored<RoleBinding>) =>
      deepEqual(roleRef, old.roleRef) ? [] : [cannotChange(roleRef)],
  };
}

/** Go shows the reference with the names that its fields have there. */
function cannotChange({ apiGroup, kind, name }: RoleBinding["roleRef"]): FieldError {
  const shown = JSON.stringify({ APIGroup: apiGroup, Kind: kind, Name: name });
  return { reason: "FieldValueInvalid", field: "roleRef", message: `Invalid value: ${shown}: cannot change roleRef` };
}
