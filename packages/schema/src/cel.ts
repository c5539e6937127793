/**
 * CEL, the expression language of Kubernetes: `self.replicas <= self.maxReplicas` in a CRD, the conditions of policies
 * and webhooks. It is the language, the libraries and the limits of Kubernetes 1.36, with kube-apiserver's messages.
 *
 * A text becomes a tree (`syntax/`), the tree gets types (`types/`) from what it may refer to, and is planned into
 * closures (`evaluation/`) once; after that an evaluation only calls functions. Types come from schemas (`rules/`) or
 * from what policies have (`policy/`); functions from `library/`. What an expression costs is counted while it runs, and
 * estimated before from how large its data can become (`cost/`), because API servers refuse rules that could be slow.
 *
 * Three promises: data is viewed and never copied or changed; an evaluation always ends, within its budget; and where
 * kube-apiserver answers differently, that is a mistake here.
 */
export {
  compileDeviceSelector,
  type DeviceAttribute,
  type DeviceSelector,
  type SelectableDevice,
} from "./cel/devices/device-selector.ts";
export { type Evaluation, PER_CALL_LIMIT, type Problem, type Program } from "./cel/evaluation/compile.ts";
export {
  type Expression,
  ExpressionEnvironment,
  type ExpressionResult,
  type ExpressionVariable,
} from "./cel/expressions/expression-environment.ts";
export type {
  AuthorizationAnswer,
  AuthorizationQuestion,
  Authorizer,
  AuthorizerUser,
  RequestResource,
} from "./cel/library/authorizer.ts";
export {
  CelEnvironment,
  type CelEnvironmentOptions,
  type ExpressionPurpose,
  MATCH_CONDITIONS_BUDGET,
  POLICY_BUDGET,
  type PolicyActivation,
  type PolicyEvaluation,
  type PolicyInputs,
} from "./cel/policy/environment.ts";
export { applyConfigurationOf, jsonPatchOf, type Mutation } from "./cel/policy/mutations.ts";
export type { PolicyExpression } from "./cel/policy/policy-variables.ts";
export { type CheckRulesOptions, checkRules, RULE_COST_LIMIT, SCHEMA_COST_LIMIT } from "./cel/rules/check-rules.ts";
export { type CompileRuleOptions, compileRule, type RuleProgram } from "./cel/rules/compile-rule.ts";
export {
  OBJECT_BUDGET,
  type RuleFindings,
  ruleErrors,
  type ValidateRulesOptions,
  validateRules,
} from "./cel/rules/validate-rules.ts";
export type { Value } from "./cel/values/values.ts";
