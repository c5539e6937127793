import { isIP } from "node:net";
import {
  append,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  type FieldError,
  pathSegmentErrors,
  portNameErrors,
  portNumberErrors,
  wildcardDns1123SubdomainErrors,
} from "@konverge/core";
import { forbidden, invalidValue, notSupported, required, tooLong } from "@konverge/schema";
import type { HTTPIngressPath, Ingress, IngressClass, Stored } from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";
import { ipErrors } from "./ip-addresses.ts";
import { immutable, named } from "./pod-spec/checks.ts";

const CLASS_ANNOTATION = "kubernetes.io/ingress.class";
const PATH_TYPES = ["Exact", "ImplementationSpecific", "Prefix"];
const BAD_SEQUENCES = ["//", "/./", "/../", "%2f", "%2F"];
const BAD_ENDS = ["/..", "/."];
const SCOPES = ["Cluster", "Namespace"];
const LONGEST_CONTROLLER = 250;
const NOT_AN_ADDRESS = "must be a DNS name, not an IP address";
type Spec = NonNullable<Ingress["spec"]>;
type Backend = NonNullable<Spec["defaultBackend"]>;

export const ingress: Strategy = {
  validate({ metadata, spec }: Stored<Ingress>) {
    const errors = specErrors(spec ?? {});
    const annotation = metadata.annotations?.[CLASS_ANNOTATION];
    const name = spec?.ingressClassName;
    if (annotation !== undefined && name !== undefined && annotation !== name) {
      const detail = "must match `ingressClassName` when both are specified";
      errors.push(invalidValue(`annotations.${CLASS_ANNOTATION}`, annotation, detail));
    }
    return errors;
  },
  validateChange: ({ spec }: Stored<Ingress>) => specErrors(spec ?? {}),
  validateStatusUpdate: ({ status }: Stored<Ingress>) =>
    (status?.loadBalancer?.ingress ?? []).flatMap(({ ip = "", hostname = "" }, index) => {
      const at = `status.loadBalancer.ingress[${index}]`;
      const errors = ip === "" ? [] : ipErrors(ip, `${at}.ip`);
      if (hostname === "") return errors;
      append(errors, named(`${at}.hostname`, hostname, dns1123SubdomainErrors(hostname)));
      return isIP(hostname) ? [...errors, invalidValue(`${at}.hostname`, hostname, NOT_AN_ADDRESS)] : errors;
    }),
  warnings: ({ metadata, spec }: Stored<Ingress>, _context, old) =>
    !old && metadata.annotations?.[CLASS_ANNOTATION] !== undefined && spec?.ingressClassName === undefined
      ? [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`]
      : [],
};

function specErrors({ rules = [], tls = [], defaultBackend, ingressClassName }: Spec): FieldError[] {
  const errors: FieldError[] = [];
  if (rules.length === 0 && !defaultBackend) {
    errors.push(invalidValue("spec", null, "either `defaultBackend` or `rules` must be specified"));
  }
  if (defaultBackend) append(errors, backendErrors(defaultBackend, "spec.defaultBackend"));
  rules.forEach(({ host = "", http }, rule) => {
    const at = `spec.rules[${rule}]`;
    if (host !== "") {
      if (isIP(host)) errors.push(invalidValue(`${at}.host`, host, NOT_AN_ADDRESS));
      append(errors, hostErrors(host, `${at}.host`));
    }
    if (http && !http.paths?.length) errors.push(required(`${at}.http.paths`));
    append(
      errors,
      (http?.paths ?? []).flatMap((path, index) => pathErrors(path, `${at}.http.paths[${index}]`)),
    );
  });
  tls.forEach(({ hosts = [], secretName = "" }, index) => {
    const at = `spec.tls[${index}]`;
    append(
      errors,
      hosts.flatMap((host, place) => hostErrors(host, `${at}.hosts[${place}]`)),
    );
    if (secretName !== "") append(errors, named(`${at}.secretName`, secretName, dns1123SubdomainErrors(secretName)));
  });
  if (ingressClassName !== undefined) {
    append(errors, named("spec.ingressClassName", ingressClassName, dns1123SubdomainErrors(ingressClassName)));
  }
  return errors;
}

function hostErrors(host: string, field: string): FieldError[] {
  const rule = host.includes("*") ? wildcardDns1123SubdomainErrors : dns1123SubdomainErrors;
  return named(field, host, rule(host));
}

function pathErrors({ path = "", pathType, backend }: HTTPIngressPath, field: string): FieldError[] {
  if (!pathType) return [required(`${field}.pathType`, "pathType must be specified")];
  const errors: FieldError[] = [];
  const wrong = (detail: string) => errors.push(invalidValue(`${field}.path`, path, detail));
  if (!PATH_TYPES.includes(pathType)) errors.push(notSupported(`${field}.pathType`, pathType, PATH_TYPES));
  else {
    const mayBeEmpty = pathType === "ImplementationSpecific";
    if (!path.startsWith("/") && !(mayBeEmpty && path === "")) wrong("must be an absolute path");
    if (!mayBeEmpty) {
      for (const bad of BAD_SEQUENCES) if (path.includes(bad)) wrong(`must not contain '${bad}'`);
      for (const bad of BAD_ENDS) if (path.endsWith(bad)) wrong(`cannot end with '${bad}'`);
    }
  }
  return [...errors, ...backendErrors(backend ?? {}, `${field}.backend`)];
}

function backendErrors({ service, resource }: Backend, field: string): FieldError[] {
  if (resource && service) return [invalidValue(field, "", "cannot set both resource and service backends")];
  if (resource) return referenceErrors(resource, `${field}.resource`);
  if (!service) return [invalidValue(field, "", "resource or service backend is required")];
  const errors: FieldError[] = service.name
    ? named(`${field}.service.name`, service.name, dns1123LabelErrors(service.name))
    : [required(`${field}.service.name`)];
  const { name = "", number = 0 } = service.port ?? {};
  if (name !== "" && number !== 0) errors.push(invalidValue(field, "", "cannot set both port name & port number"));
  else if (name !== "") append(errors, named(`${field}.service.port.name`, name, portNameErrors(name)));
  else if (number === 0) errors.push(required(field, "port name or number is required"));
  else {
    for (const detail of portNumberErrors(number)) {
      errors.push(invalidValue(`${field}.service.port.number`, number, detail));
    }
  }
  return errors;
}

interface Reference {
  apiGroup?: string | null;
  kind: string;
  name: string;
}

function referenceErrors({ apiGroup, kind, name }: Reference, field: string): FieldError[] {
  return [
    ...(typeof apiGroup === "string" ? named(`${field}.apiGroup`, apiGroup, dns1123SubdomainErrors(apiGroup)) : []),
    ...(kind ? named(`${field}.kind`, kind, pathSegmentErrors(kind)) : [required(`${field}.kind`)]),
    ...(name ? named(`${field}.name`, name, pathSegmentErrors(name)) : [required(`${field}.name`)]),
  ];
}

export const ingressClass: Strategy = {
  validate({ spec }: Stored<IngressClass>) {
    const { controller = "", parameters } = spec ?? {};
    return [
      ...(controller.length > LONGEST_CONTROLLER ? [tooLong("spec.controller", LONGEST_CONTROLLER)] : []),
      ...controllerErrors(controller, "spec.controller"),
      ...(parameters ? parameterErrors(parameters, "spec.parameters") : []),
    ];
  },
  validateUpdate: ({ spec }: Stored<IngressClass>, old: Stored<IngressClass>) =>
    immutable("spec.controller", spec?.controller, old.spec?.controller),
};

/** A domain, and a path in it. */
function controllerErrors(text: string, field: string): FieldError[] {
  if (text === "") return [required(field)];
  const slash = text.indexOf("/");
  const [host, path] = [text.slice(0, slash), text.slice(slash + 1)];
  if (slash < 0 || host === "" || path === "") {
    const detail = 'must be a domain-prefixed path (such as "acme.io/foo")';
    return [invalidValue(field, text, detail)];
  }
  const errors = dns1123SubdomainErrors(host).map((detail) => invalidValue(field, host, detail));
  if (!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(path)) {
    const rule = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
    errors.push(invalidValue(field, path, `Invalid path (regex used for validation is '${rule}')`));
  }
  return errors;
}

function parameterErrors(
  parameters: NonNullable<NonNullable<IngressClass["spec"]>["parameters"]>,
  field: string,
): FieldError[] {
  const { scope, namespace } = parameters;
  const errors = referenceErrors(parameters, field);
  if (scope === undefined) return [...errors, required(`${field}.scope`)];
  if (!SCOPES.includes(scope)) return [...errors, notSupported(`${field}.scope`, scope, SCOPES)];
  const at = `${field}.namespace`;
  if (scope === "Cluster") {
    return namespace === undefined ? errors : [...errors, forbidden(at, "`parameters.scope` is set to 'Cluster'")];
  }
  if (namespace === undefined) return [...errors, required(at, "`parameters.scope` is set to 'Namespace'")];
  return [...errors, ...named(at, namespace, dns1123LabelErrors(namespace))];
}
