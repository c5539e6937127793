import {
  append,
  deepEqual,
  dns1035LabelErrors,
  dns1123SubdomainErrors,
  type FieldError,
  type LabelSelector,
  pathSegmentErrors,
  qualifiedNameErrors,
} from "@konverge/core";
import { duplicate, forbidden, invalidValue, notSupported, required } from "@konverge/schema";
import { CelEnvironment, type ExpressionPurpose } from "@konverge/schema/cel";
import type { WorkingObject } from "../../codec/working-object.ts";
import type { Strategy } from "../definition.ts";
import {
  conditionErrors,
  FAILURE_POLICIES,
  type MatchCondition,
  type MatchResources,
  matchResourcesErrors,
  mutatedOperationErrors,
  REINVOCATION_POLICIES,
} from "./admission-rules.ts";
import { named, oneOf } from "./pod-spec/checks.ts";
import { labelSelectorErrors } from "./selectors.ts";

interface PolicySpec {
  failurePolicy?: string;
  paramKind?: { apiVersion?: string; kind?: string };
  matchConstraints?: MatchResources;
  matchConditions?: MatchCondition[];
  variables?: { name?: string; expression?: string }[];
  validations?: { expression?: string; message?: string; messageExpression?: string; reason?: string }[];
  auditAnnotations?: { key?: string; valueExpression?: string }[];
  mutations?: {
    patchType?: string;
    jsonPatch?: { expression?: string };
    applyConfiguration?: { expression?: string };
  }[];
  reinvocationPolicy?: string;
}

interface BindingSpec {
  policyName?: string;
  paramRef?: { name?: string; selector?: LabelSelector; parameterNotFoundAction?: string };
  matchResources?: MatchResources;
  validationActions?: string[];
}

const REASONS = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const ACTIONS = ["Audit", "Deny", "Warn"];
const LONGEST_ANNOTATION_EXPRESSION = 5 * 1024;
const MOST_ANNOTATIONS = 20;

const specOf = <T>(object: WorkingObject) => (object["spec"] ?? {}) as T;

/** Policies that judge writes. */
export const validatingAdmissionPolicy: Strategy = {
  validate: (object) => validatingErrors(object, undefined),
  validateChange: (object, old) => validatingErrors(object, old),
  validateStatusUpdate: () => [],
};

/** Policies that change what is written. */
export const mutatingAdmissionPolicy: Strategy = {
  validate: (object) => mutatingErrors(object, undefined),
  validateChange: (object, old) => mutatingErrors(object, old),
};

/** What binds a policy that judges to the writes it is for. */
export const validatingAdmissionPolicyBinding: Strategy = {
  validate(object) {
    const spec = specOf<BindingSpec>(object);
    return [...bindingErrors(spec), ...actionErrors(spec.validationActions ?? [], "spec.validationActions")];
  },
};

/** What binds a policy that changes. */
export const mutatingAdmissionPolicyBinding: Strategy = {
  validate(object) {
    const spec = specOf<BindingSpec>(object);
    return [...bindingErrors(spec), ...mutatedOperationErrors(spec.matchResources, "spec.matchResources")];
  },
};

function validatingErrors(object: WorkingObject, old: WorkingObject | undefined): FieldError[] {
  const spec = specOf<PolicySpec>(object);
  const { validations = [], auditAnnotations = [], variables = [] } = spec;
  const errors = [...sharedErrors(spec), ...conditionsOf(spec, old)];
  const compile = compiler(spec, {});
  append(errors, variableErrors(spec, compile));
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = "validations or auditAnnotations must contain at least one item";
    return [...errors, required("spec.validations", detail), required("spec.auditAnnotations", detail)];
  }
  // What a message says cannot depend on who may do what.
  const forMessages = compiler(spec, { authorizer: false, params: false, variables: variables.length > 0 });
  validations.forEach((validation, index) => {
    append(errors, validationErrors(validation, `spec.validations[${index}]`, compile, forMessages));
  });
  if (auditAnnotations.length > MOST_ANNOTATIONS) {
    const detail = `must not have more than ${MOST_ANNOTATIONS} auditAnnotations`;
    errors.push(invalidValue("spec.auditAnnotations", auditAnnotations, detail));
  }
  const { name } = object.metadata;
  auditAnnotations.forEach(({ key = "", valueExpression = "" }, index) => {
    const at = `spec.auditAnnotations[${index}]`;
    if (name) append(errors, named(`${at}.key`, `${name}/${key}`, qualifiedNameErrors(`${name}/${key}`)));
    else errors.push(invalidValue(`${at}.key`, key, "requires metadata.name be non-empty"));
    const trimmed = valueExpression.trim();
    if (trimmed === "") errors.push(required(`${at}.valueExpression`, "valueExpression is not specified"));
    else if (trimmed.length > LONGEST_ANNOTATION_EXPRESSION) {
      const detail = `must not exceed ${LONGEST_ANNOTATION_EXPRESSION} bytes in length`;
      errors.push(required(`${at}.valueExpression`, detail));
    } else append(errors, compile(trimmed, "auditAnnotation", `${at}.valueExpression`, valueExpression));
    if (auditAnnotations.findIndex((one) => (one.key ?? "") === key) < index) errors.push(duplicate(`${at}.key`, key));
  });
  return errors;
}

function mutatingErrors(object: WorkingObject, old: WorkingObject | undefined): FieldError[] {
  const spec = specOf<PolicySpec>(object);
  const { mutations = [], reinvocationPolicy = "" } = spec;
  const errors = [...sharedErrors(spec), ...mutatedOperationErrors(spec.matchConstraints, "spec.matchConstraints")];
  append(errors, conditionsOf(spec, old));
  const compile = compiler(spec, { patchTypes: true, variables: true });
  append(errors, variableErrors(spec, compile));
  if (mutations.length === 0) errors.push(required("spec.mutations", "mutations must contain at least one item"));
  mutations.forEach((mutation, index) => {
    append(errors, mutationErrors(mutation, `spec.mutations[${index}]`, compile));
  });
  append(errors, oneOf("spec.reinvocationPolicy", reinvocationPolicy, REINVOCATION_POLICIES));
  return errors;
}

function sharedErrors(spec: PolicySpec): FieldError[] {
  const { failurePolicy, paramKind, matchConstraints } = spec;
  const errors = oneOf("spec.failurePolicy", failurePolicy, FAILURE_POLICIES);
  if (paramKind) append(errors, paramKindErrors(paramKind, "spec.paramKind"));
  if (!matchConstraints) return [...errors, required("spec.matchConstraints")];
  append(errors, matchResourcesErrors(matchConstraints, "spec.matchConstraints"));
  if (!matchConstraints.resourceRules?.length) errors.push(required("spec.matchConstraints.resourceRules"));
  return errors;
}

/** Conditions are judged when they change, or what they may refer to does. */
function conditionsOf({ matchConditions = [], paramKind }: PolicySpec, old: WorkingObject | undefined): FieldError[] {
  const before = old && specOf<PolicySpec>(old);
  if (before && deepEqual(before.matchConditions ?? [], matchConditions) && deepEqual(before.paramKind, paramKind)) {
    return [];
  }
  return conditionErrors(matchConditions, "spec.matchConditions", { params: paramKind !== undefined });
}

type Compile = (text: string, purpose: ExpressionPurpose, field: string, shown?: string) => FieldError[];

interface Composition {
  environment: CelEnvironment;
}

function compiler(
  { paramKind, variables = [] }: PolicySpec,
  more: { authorizer?: boolean; params?: boolean; patchTypes?: boolean; variables?: boolean },
): Compile & Composition {
  const known = variables.filter(({ name, expression }) => name && expression?.trim());
  const environment = new CelEnvironment({
    authorizer: more.authorizer ?? true,
    params: more.params ?? paramKind !== undefined,
    ...(more.patchTypes && { patchTypes: true }),
    ...((variables.length > 0 || more.variables) && { variables: known as { name: string; expression: string }[] }),
  });
  const compile: Compile = (text, purpose, field, shown = text) => {
    const { error } = environment.compile(text, purpose);
    return error === undefined ? [] : [invalidValue(field, shown, error)];
  };
  return Object.assign(compile, { environment });
}

function variableErrors({ variables = [] }: PolicySpec, { environment }: Composition): FieldError[] {
  return variables.flatMap(({ name = "", expression = "" }, index) => {
    const at = `spec.variables[${index}]`;
    const errors: FieldError[] = [];
    if (name.trim() === "") errors.push(required(`${at}.name`, "name is not specified"));
    else if (!isIdentifier(name)) errors.push(invalidValue(`${at}.name`, name, "must be a valid CEL identifier"));
    if (expression.trim() === "") errors.push(required(`${at}.expression`, "expression is not specified"));
    else {
      const error = environment.variables.get(name)?.error;
      if (error !== undefined) errors.push(invalidValue(`${at}.expression`, expression, error));
    }
    return errors;
  });
}

const RESERVED = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

function isIdentifier(name: string): boolean {
  return /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !RESERVED.has(name);
}

function validationErrors(
  { expression = "", message = "", messageExpression = "", reason }: NonNullable<PolicySpec["validations"]>[number],
  field: string,
  compile: Compile,
  forMessages: Compile,
): FieldError[] {
  const errors: FieldError[] = [];
  if (expression.trim() === "") errors.push(required(`${field}.expression`, "expression is not specified"));
  else append(errors, compile(expression, "condition", `${field}.expression`));
  if (messageExpression !== "" && messageExpression.trim() === "") {
    errors.push(invalidValue(`${field}.messageExpression`, messageExpression, "must be non-empty if specified"));
  } else if (messageExpression !== "") {
    append(errors, forMessages(messageExpression, "message", `${field}.messageExpression`));
  }
  if (message !== "" && message.trim() === "") {
    errors.push(invalidValue(`${field}.message`, message, "must be non-empty if specified"));
  } else if (/[\n\r]/.test(message.trim())) {
    errors.push(invalidValue(`${field}.message`, message, "must not contain line breaks"));
  }
  if (reason !== undefined && !REASONS.includes(reason)) errors.push(notSupported(`${field}.reason`, reason, REASONS));
  return errors;
}

function mutationErrors(
  { patchType = "", jsonPatch, applyConfiguration }: NonNullable<PolicySpec["mutations"]>[number],
  field: string,
  compile: Compile,
): FieldError[] {
  if (patchType === "") return [required(`${field}.patchType`)];
  const forms = { JSONPatch: ["jsonPatch", jsonPatch], ApplyConfiguration: ["applyConfiguration", applyConfiguration] };
  if (patchType !== "JSONPatch" && patchType !== "ApplyConfiguration") {
    return [notSupported(`${field}.patchType`, patchType, ["ApplyConfiguration", "JSONPatch"])];
  }
  const [name, given] = forms[patchType] as ["jsonPatch" | "applyConfiguration", { expression?: string } | undefined];
  const [other, superfluous] = forms[patchType === "JSONPatch" ? "ApplyConfiguration" : "JSONPatch"];
  const errors: FieldError[] = [];
  if (!given) errors.push(required(`${field}.${name}`, `must be specified when patchType is ${patchType}`));
  else {
    const trimmed = (given.expression ?? "").trim();
    if (trimmed === "") errors.push(required(`${field}.${name}.expression`));
    else append(errors, compile(trimmed, name, `${field}.${name}.expression`));
  }
  if (superfluous) {
    const detail = `must not be specified when patchType is ${patchType}`;
    errors.push(invalidValue(`${field}.${other}`, `{${other}}`, detail));
  }
  return errors;
}

function paramKindErrors({ apiVersion = "", kind = "" }: { apiVersion?: string; kind?: string }, field: string) {
  const errors: FieldError[] = [];
  const at = `${field}.apiVersion`;
  const parts = apiVersion.split("/");
  if (apiVersion === "") errors.push(required(at));
  else if (parts.length > 2) errors.push(invalidValue(at, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  else {
    const [group, version] = parts.length === 1 ? ["", parts[0]!] : (parts as [string, string]);
    const wrong = group === "" ? [] : dns1123SubdomainErrors(group);
    if (wrong.length > 0) errors.push(invalidValue(at, group, wrong.join(",")));
    if (version === "") errors.push(invalidValue(at, apiVersion, "version must be specified"));
    else {
      const problems = dns1035LabelErrors(version);
      if (problems.length > 0) errors.push(invalidValue(at, version, problems.join(",")));
    }
  }
  const problems = kind === "" ? [] : dns1035LabelErrors(kind.toLowerCase());
  if (kind === "") errors.push(required(`${field}.kind`));
  else if (problems.length > 0) {
    const detail = `may have mixed case, but should otherwise match: ${problems.join(",")}`;
    errors.push(invalidValue(`${field}.kind`, kind, detail));
  }
  return errors;
}

function bindingErrors({ policyName = "", paramRef, matchResources }: BindingSpec): FieldError[] {
  return [
    ...(policyName === ""
      ? [required("spec.policyName")]
      : named("spec.policyName", policyName, dns1123SubdomainErrors(policyName))),
    ...paramRefErrors(paramRef, "spec.paramRef"),
    ...matchResourcesErrors(matchResources, "spec.matchResources"),
  ];
}

function paramRefErrors(ref: BindingSpec["paramRef"], field: string): FieldError[] {
  if (!ref) return [];
  const { name = "", selector, parameterNotFoundAction } = ref;
  const errors = name === "" ? [] : named(`${field}.name`, name, pathSegmentErrors(name));
  const both = "name and selector are mutually exclusive";
  if (name !== "" && selector) errors.push(forbidden(`${field}.name`, both));
  if (selector) {
    append(errors, labelSelectorErrors(selector, `${field}.selector`));
    if (name !== "") errors.push(forbidden(`${field}.selector`, both));
  } else if (name === "") errors.push(required(field, "one of name or selector must be specified"));
  return [...errors, ...oneOf(`${field}.parameterNotFoundAction`, parameterNotFoundAction, ["Deny", "Allow"])];
}

function actionErrors(actions: readonly string[], field: string): FieldError[] {
  const errors: FieldError[] = actions.flatMap((action, index) => [
    ...(ACTIONS.includes(action) ? [] : [notSupported(`${field}[${index}]`, action, ACTIONS)]),
    ...(actions.indexOf(action) < index ? [duplicate(`${field}[${index}]`, action)] : []),
  ]);
  if (actions.includes("Deny") && actions.includes("Warn")) {
    const detail =
      "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
    errors.push(invalidValue(field, actions, detail));
  }
  if (actions.length === 0) errors.push(required(field, "at least one validation action is required"));
  return errors;
}
