import type { KubeObject } from "@konverge/core";
import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from "@konverge/kinds";
import type { Operator, OperatorParts } from "./operator.ts";

/**
 * A condition on what an operator's service account writes. RBAC says which resources an account may write; a guard says what
 * may be in them.
 */
export interface OperatorGuard {
  /** The resources that it is about: `secrets`, `pods/exec`; `*` for all. */
  readonly resources: readonly string[];
  /**
   * CEL that is true if the write is allowed. It has the variables of a ValidatingAdmissionPolicy: `object`, `oldObject` and
   * `request`. Deletions have no `object`.
   */
  readonly expression: string;
  /** What the operator is limited to: `runs only status.sh`. */
  readonly limit: string;
}

/** A rule of a Role. */
export interface GrantedRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * Guards of an operator that makes Roles for what it creates: they have no more than these rules, and are bound only to service
 * accounts of their namespace.
 */
export function grantsOnly(rules: readonly GrantedRule[], limit: string): OperatorGuard[] {
  const isGranted = ({ apiGroups, resources, verbs }: GrantedRule) =>
    `(rule.apiGroups == ${JSON.stringify(apiGroups)} && rule.resources == ${JSON.stringify(resources)} && rule.verbs.all(verb, verb in ${JSON.stringify(verbs)}))`;
  return [
    {
      resources: ["roles"],
      expression: `request.operation == "DELETE" || object.rules.all(rule, ${rules.map(isGranted).join(" || ")})`,
      limit: `grants only ${limit}`,
    },
    {
      resources: ["rolebindings"],
      expression: `request.operation == "DELETE" || (object.roleRef.kind == "Role" && object.roleRef.name == object.metadata.name && object.subjects.all(subject, subject.kind == "ServiceAccount" && subject.namespace == object.metadata.namespace))`,
      limit: "binds only such roles, to service accounts of their namespace",
    },
  ];
}

/** Where an operator is installed. */
export interface GuardOptions {
  readonly namespace: string;
  /** The Service at which its webhooks must be registered. Default: anywhere. */
  readonly service?: { readonly name: string; readonly namespace: string };
  /** Its Roles are in single namespaces, so that there may be several installations. Default: false. */
  readonly namespaced?: boolean;
}

/** Namespaces whose service accounts and ConfigMaps are the control plane's. */
const SYSTEM = ["kube-system", "kube-public", "kube-node-lease"];

/** All conditions on an operator's writes: those of every operator, then its own. */
export function guardsOf(operator: Operator, parts: OperatorParts, options: GuardOptions): OperatorGuard[] {
  const { admissions = [], conversions = [] } = parts;
  const guards: OperatorGuard[] = [
    {
      resources: ["*"],
      expression: `!has(request.namespace) || !(request.namespace in ${listText(SYSTEM.filter((one) => one !== options.namespace))})`,
      limit: "writes nothing in the namespaces of the control plane",
    },
    {
      resources: ["secrets"],
      expression: `request.operation == "DELETE" || !has(object.type) || object.type != "kubernetes.io/service-account-token"`,
      limit: "requests no tokens of service accounts",
    },
  ];
  if (admissions.length > 0) {
    guards.push({
      resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
      expression: `request.operation == "UPDATE" && (!has(object.webhooks) || object.webhooks.all(hook, oldObject.webhooks.exists(old, old.name == hook.name && old.rules == hook.rules)${ownService("hook.clientConfig", options)}))`,
      limit: "changes only the CA of its webhooks: which writes they receive is up to the manifests",
    });
  }
  if (conversions.length > 0) {
    guards.push({
      resources: ["customresourcedefinitions"],
      expression: `request.operation == "UPDATE" && object.spec.versions == oldObject.spec.versions && has(object.spec.conversion.webhook)${ownService("object.spec.conversion.webhook.clientConfig", options)}`,
      limit: "changes only where its kinds are converted",
    });
  }
  return [...guards, ...(operator.guards ?? [])];
}

const ownService = (config: string, { service }: GuardOptions) =>
  service
    ? ` && has(${config}.service) && ${config}.service.name == ${JSON.stringify(service.name)} && ${config}.service.namespace == ${JSON.stringify(service.namespace)}`
    : "";

const listText = (texts: readonly string[]) => JSON.stringify(texts);

/**
 * A ValidatingAdmissionPolicy, with its binding, that limits what an operator's service account writes. It is asked about no
 * other account's writes.
 */
export function guardPolicy(operator: Operator, parts: OperatorParts, options: GuardOptions): KubeObject[] {
  const { name } = operator;
  const { namespace } = options;
  const apiVersion = "admissionregistration.k8s.io/v1";
  const metadata = { name: options.namespaced ? `${name}-${namespace}-guard` : `${name}-guard` };
  const account = `system:serviceaccount:${namespace}:${name}`;
  const rule = { apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"] };
  return [
    {
      apiVersion,
      kind: ValidatingAdmissionPolicy.kind,
      metadata,
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [{ ...rule, operations: ["CREATE", "UPDATE", "DELETE", "CONNECT"], scope: "*" }],
        },
        matchConditions: [
          { name: "by-the-operator", expression: `request.userInfo.username == ${JSON.stringify(account)}` },
        ],
        variables: [
          {
            name: "resource",
            expression: `request.resource.resource + (has(request.subResource) && request.subResource != "" ? "/" + request.subResource : "")`,
          },
        ],
        validations: guardsOf(operator, parts, options).map(({ resources, expression, limit }) => ({
          expression: resources.includes("*")
            ? expression
            : `!(variables.resource in ${listText(resources)}) || (${expression})`,
          message: `${name} ${limit}`,
          reason: "Forbidden",
        })),
      },
    },
    {
      apiVersion,
      kind: ValidatingAdmissionPolicyBinding.kind,
      metadata,
      spec: { policyName: metadata.name, validationActions: ["Deny"] },
    },
  ] as unknown as KubeObject[];
}
