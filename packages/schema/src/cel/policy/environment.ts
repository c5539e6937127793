/** The expressions of admission policies and of the match conditions of webhooks. */
import {
  type Compilation,
  type Evaluation,
  evaluate,
  type Program,
  parseAndCheck,
  planProgram,
} from "../evaluation/compile.ts";
import type { Inputs } from "../evaluation/frame.ts";
import {
  type Authorizer,
  type AuthorizerUser,
  AuthorizerValue,
  type RequestResource,
  ResourceCheck,
} from "../library/authorizer.ts";
import { mutationRuleFunctions, ruleFunctions, TYPE_NAMES } from "../library/functions.ts";
import type { Declarations } from "../types/declarations.ts";
import {
  BOOL,
  DYN,
  describeType,
  listType,
  mapType,
  NULL,
  STRING,
  sameType,
  structType,
  type Type,
} from "../types/types.ts";
import { fromJson } from "../values/json-value.ts";
import type { Value } from "../values/values.ts";
import { dynamicStruct, JSON_PATCH, OBJECT } from "./dynamic-objects.ts";
import { NAMESPACE, policyStruct, REQUEST } from "./policy-types.ts";
import { type PolicyExpression, PolicyVariables } from "./policy-variables.ts";

/** What all expressions of a policy may cost together. */
export const POLICY_BUDGET = 10_000_000;
/** What all match conditions of a webhook or policy may cost together. */
export const MATCH_CONDITIONS_BUDGET = 2_500_000;

/** Which variables and types there are besides object, oldObject, request and namespaceObject. */
export interface CelEnvironmentOptions {
  params?: boolean;
  /** Names of further variables, of any type. */
  dynamic?: readonly string[];
  authorizer?: boolean;
  /** `Object{…}` and `JSONPatch{…}`, for mutations. */
  patchTypes?: boolean;
  /** Expressions with names, which those after them may use as `variables.name`. */
  variables?: readonly { readonly name: string; readonly expression: string }[];
}

/** What an expression is for, which says what it has to give. */
export type ExpressionPurpose = "condition" | "message" | "auditAnnotation" | "applyConfiguration" | "jsonPatch";

const RESULTS: Record<ExpressionPurpose, readonly Type[]> = {
  condition: [BOOL],
  message: [STRING],
  auditAnnotation: [STRING, NULL],
  applyConfiguration: [OBJECT],
  jsonPatch: [listType(JSON_PATCH)],
};

/** What expressions are evaluated with, as JSON; absent objects are null to them. */
export interface PolicyInputs {
  object?: unknown;
  oldObject?: unknown;
  /** The AdmissionRequest without its objects. */
  request?: unknown;
  namespaceObject?: unknown;
  params?: unknown;
  /** The values of the environment's dynamic variables, by name. */
  dynamic?: Readonly<Record<string, unknown>>;
  /** Who decides for `authorizer`, and about what the request itself is. */
  authorization?: { user: AuthorizerUser; decide: Authorizer; resource: RequestResource };
}

/** Result of an expression in an activation. */
export interface PolicyEvaluation {
  readonly value?: Value;
  readonly error?: string;
  /** What is left of the budget; -1 when it was not enough: the error is then about all expressions that follow, too. */
  readonly budget: number;
}

const VARIABLES = structType("kubernetes.variables");
const OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run";

/** What the expressions of one policy may refer to. */
export class CelEnvironment {
  readonly #declarations: Declarations;
  readonly #variables = new Map<string, PolicyExpression>();
  readonly #variableTypes = new Map<string, Type>();

  constructor(options: CelEnvironmentOptions = {}) {
    const variables = new Map<string, Type>([
      ["object", DYN],
      ["oldObject", DYN],
      ["namespaceObject", NAMESPACE],
      ["request", REQUEST],
    ]);
    for (const name of options.dynamic ?? []) variables.set(name, DYN);
    if (options.params) variables.set("params", DYN);
    if (options.authorizer) {
      variables.set("authorizer", structType("kubernetes.authorization.Authorizer"));
      variables.set("authorizer.requestResource", structType("kubernetes.authorization.ResourceCheck"));
    }
    if (options.variables) variables.set("variables", VARIABLES);
    this.#declarations = {
      functions: options.patchTypes ? mutationRuleFunctions() : ruleFunctions(),
      typeNames: TYPE_NAMES,
      variables,
      struct: (name) => {
        if (name === VARIABLES.name) return { type: VARIABLES, field: (of) => this.#variableTypes.get(of) };
        return policyStruct(name) ?? (options.patchTypes ? dynamicStruct(name) : undefined);
      },
    };
    for (const { name, expression } of options.variables ?? []) {
      const compiled = this.#compile(expression, undefined);
      this.#variables.set(name, compiled);
      this.#variableTypes.set(name, compiled.program ? declaredType(compiled.program.type) : DYN);
    }
  }

  /** The policy's variables, with what is wrong with them. */
  get variables(): ReadonlyMap<string, PolicyExpression> {
    return this.#variables;
  }

  /** Compiles an expression; what is wrong with it is said as an API server would. */
  compile(expression: string, purpose: ExpressionPurpose): PolicyExpression {
    return this.#compile(expression, RESULTS[purpose]);
  }

  #compile(expression: string, results: readonly Type[] | undefined): PolicyExpression {
    const checked = parseAndCheck(expression, this.#declarations);
    if ("issues" in checked) return { expression, error: `compilation failed: ${checked.issues}` };
    const type = checked.checked.types.get(checked.checked.expr.id)!;
    if (results && !results.some((result) => sameType(result, type))) {
      const names = results.map(describeType).join(" ");
      const expected = results.length === 1 ? names : `one of [${names}]`;
      return { expression, error: `must evaluate to ${expected} but got ${describeType(type)}` };
    }
    const { program, problem }: Compilation = planProgram(checked.checked, this.#declarations);
    return program ? { expression, program } : { expression, error: `program instantiation failed: ${problem.text}` };
  }

  /** What expressions see of one request; variables are computed once for all of them. */
  activate(inputs: PolicyInputs): PolicyActivation {
    return new PolicyActivation(inputs, this.#variables);
  }
}

/** A variable has the type of its expression as far as that is of scalars, lists and maps; others are not known. */
function declaredType(type: Type): Type {
  switch (type.kind) {
    case "list":
      return listType(declaredType(type.params[0]!));
    case "map":
      return mapType(declaredType(type.params[0]!), declaredType(type.params[1]!));
    case "opaque":
    case "param":
    case "struct":
    case "type":
      return DYN;
    default:
      return type;
  }
}

/** One request, as the expressions of a policy see it. */
export class PolicyActivation {
  readonly #inputs: Inputs;
  /** What variables have cost since the last expression. */
  #variablesCost = 0;

  constructor(inputs: PolicyInputs, variables: ReadonlyMap<string, PolicyExpression>) {
    const { authorization } = inputs;
    const asks = authorization && new AuthorizerValue(authorization.user, authorization.decide);
    const dynamic = Object.entries(inputs.dynamic ?? {}).map(([name, value]) => [name, fromJson(value)]);
    this.#inputs = {
      ...Object.fromEntries(dynamic),
      object: fromJson(inputs.object),
      oldObject: fromJson(inputs.oldObject),
      request: fromJson(inputs.request),
      namespaceObject: fromJson(inputs.namespaceObject),
      params: fromJson(inputs.params),
      authorizer: asks,
      "authorizer.requestResource": asks && new ResourceCheck(asks, authorization.resource),
      variables: new PolicyVariables(variables, (program) => this.#evaluateVariable(program)),
    };
  }

  #evaluateVariable(program: Program): Evaluation {
    const evaluation = evaluate(program, this.#inputs);
    this.#variablesCost += evaluation.cost;
    return evaluation;
  }

  /** Evaluates an expression, within what is left of the budget. */
  evaluate({ expression, program, error: problem }: PolicyExpression, budget: number): PolicyEvaluation {
    if (!program) return { error: `compilation error: ${problem}`, budget };
    const { value, error, cost } = evaluate(program, this.#inputs);
    const left = budget - this.#variablesCost - cost;
    this.#variablesCost = 0;
    if (left < 0) return { error: OUT_OF_BUDGET, budget: -1 };
    if (error !== undefined) return { error: `expression '${expression}' resulted in error: ${error}`, budget: left };
    return { value, budget: left };
  }
}
