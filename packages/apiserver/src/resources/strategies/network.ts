import { dns1123LabelErrors, dns1123SubdomainErrors, type FieldError, type LabelSelector } from "@konverge/core";
import { forbidden, invalidValue, notSupported, required } from "@konverge/schema";
import type { Strategy } from "../strategy.ts";
import type { HTTPIngressPath, Ingress, IngressClass, NetworkPolicy, Stored } from "./objects.ts";
import { immutable, named } from "./pod-spec/checks.ts";
import { labelSelectorErrors } from "./selectors.ts";

const CLASS_ANNOTATION = "kubernetes.io/ingress.class";
const PATH_TYPES = ["Exact", "ImplementationSpecific", "Prefix"];
type Backend = NonNullable<NonNullable<Ingress["spec"]>["defaultBackend"]>;

export const ingress: Strategy = {
  validate({ spec }: Stored<Ingress>) {
    const { rules = [], defaultBackend, ingressClassName } = spec ?? {};
    const errors: FieldError[] = [];
    if (rules.length === 0 && !defaultBackend) {
      errors.push(invalidValue("spec", null, "either `defaultBackend` or `rules` must be specified"));
    }
    if (defaultBackend) errors.push(...backendErrors(defaultBackend, "spec.defaultBackend"));
    rules.forEach(({ host, http }, rule) => {
      const at = `spec.rules[${rule}]`;
      if (host && !host.startsWith("*")) errors.push(...named(`${at}.host`, host, dns1123SubdomainErrors(host)));
      if (http && http.paths.length === 0) errors.push(required(`${at}.http.paths`));
      errors.push(...(http?.paths ?? []).flatMap((path, index) => pathErrors(path, `${at}.http.paths[${index}]`)));
    });
    if (ingressClassName)
      errors.push(...named("spec.ingressClassName", ingressClassName, dns1123SubdomainErrors(ingressClassName)));
    return errors;
  },
  validateStatusUpdate: () => [],
  warnings: ({ metadata, spec }: Stored<Ingress>, _context, old) =>
    !old && metadata.annotations?.[CLASS_ANNOTATION] !== undefined && spec?.ingressClassName === undefined
      ? [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`]
      : [],
};

function pathErrors({ path = "", pathType, backend }: HTTPIngressPath, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!pathType) return [required(`${field}.pathType`, "pathType must be specified")];
  if (!PATH_TYPES.includes(pathType)) errors.push(notSupported(`${field}.pathType`, pathType, PATH_TYPES));
  else if (!path.startsWith("/") && (pathType !== "ImplementationSpecific" || path !== "")) {
    errors.push(invalidValue(`${field}.path`, path, "must be an absolute path"));
  }
  return [...errors, ...backendErrors(backend, `${field}.backend`)];
}

function backendErrors({ service, resource }: Backend, field: string): FieldError[] {
  if (resource && service) return [invalidValue(field, "", "cannot set both resource and service backends")];
  if (resource) return [];
  if (!service) return [required(field, "name is required")];
  const errors: FieldError[] = service.name
    ? named(`${field}.service.name`, service.name, dns1123LabelErrors(service.name))
    : [required(`${field}.service.name`)];
  const { name = "", number = 0 } = service.port ?? {};
  if (name !== "" && number !== 0) errors.push(invalidValue(field, "", "cannot set both port name & port number"));
  else if (name === "" && number === 0) errors.push(required(field, "port name or number is required"));
  return errors;
}

export const ingressClass: Strategy = {
  validate: ({ spec }: Stored<IngressClass>) => (spec?.controller ? [] : [required("spec.controller")]),
  validateUpdate: ({ spec }: Stored<IngressClass>, old: Stored<IngressClass>) =>
    immutable("spec.controller", spec?.controller, old.spec?.controller),
};

export const networkPolicy: Strategy = {
  defaults({ spec }: Stored<NetworkPolicy>) {
    if (!spec || spec.policyTypes?.length) return;
    spec.policyTypes = spec.egress?.length ? ["Ingress", "Egress"] : ["Ingress"];
  },
  validate({ spec }: Stored<NetworkPolicy>) {
    if (!spec) return [];
    const errors = labelSelectorErrors((spec.podSelector ?? {}) as LabelSelector, "spec.podSelector");
    const directions = [
      ["ingress", "from", spec.ingress ?? []],
      ["egress", "to", spec.egress ?? []],
    ] as const;
    for (const [direction, peers, rules] of directions) {
      rules.forEach((rule, index) => {
        const list =
          (rule as Record<string, { ipBlock?: object; podSelector?: object; namespaceSelector?: object }[]>)[peers] ??
          [];
        list.forEach((peer, place) => {
          const at = `spec.${direction}[${index}].${peers}[${place}]`;
          if (Object.keys(peer).length === 0) errors.push(required(at, "must specify a peer"));
          if (peer.ipBlock && (peer.podSelector || peer.namespaceSelector)) {
            errors.push(forbidden(at, "may not specify both ipBlock and another peer"));
          }
        });
      });
    }
    const types = spec.policyTypes ?? [];
    if (types.length > 2)
      errors.push(invalidValue("spec.policyTypes", types, "may not specify more than two policyTypes"));
    types.forEach((type, index) => {
      if (type === "Ingress" || type === "Egress") return;
      errors.push(notSupported(`spec.policyTypes[${index}]`, type, ["Ingress", "Egress"]));
    });
    return errors;
  },
};
