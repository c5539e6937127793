/** The rules of one node of a schema, compiled. */
import { fieldInSchema, JsonPathError, type Schema, type ValidationRule } from "@konverge/core";
import { estimate, type Program, parseAndCheck, planProgram } from "../evaluation/compile.ts";
import { ruleFunctions, TYPE_NAMES } from "../library/functions.ts";
import { trimSpace } from "../library/strings.ts";
import type { Declarations } from "../types/declarations.ts";
import { type DataType, DataTypes } from "../types/schema-types.ts";
import { optionalType, type Type } from "../types/types.ts";

/** What became of a rule. */
export interface CompiledRule {
  /** Undefined when the rule is wrong or empty. */
  readonly program?: Program;
  readonly error?: string;
  /** Whether the rule is about a change: it reads `oldSelf`. */
  readonly usesOldSelf: boolean;
  /** What one evaluation can cost at worst. */
  readonly cost: bigint;
  readonly message?: Program;
  readonly messageError?: string;
  readonly messageCost: bigint;
  /** The path of the field that the rule blames, relative to where it stands. */
  readonly fieldPath?: string;
}

/** What rules may refer to: `self` and `oldSelf`, of the type of the data where the rule stands. */
export function ruleDeclarations(data: DataType, optionalOldSelf: boolean): Declarations {
  const types = new DataTypes();
  const self = types.typeOf(data, "selfType1");
  const oldSelf = optionalOldSelf ? optionalType(self) : self;
  return {
    functions: ruleFunctions(),
    typeNames: TYPE_NAMES,
    variables: new Map<string, Type>([
      ["self", self],
      ["oldSelf", oldSelf],
    ]),
    struct: (name) => types.struct(name),
  };
}

/** Compiles the rules of a node. */
export function compileRules(schema: Schema, rules: readonly ValidationRule[], data: DataType): CompiledRule[] {
  const declarations = new Map<boolean, Declarations>();
  return rules.map((rule) => {
    const isOptional = rule.optionalOldSelf === true;
    if (!declarations.has(isOptional)) declarations.set(isOptional, ruleDeclarations(data, isOptional));
    return compileOne(schema, rule, data, declarations.get(isOptional)!);
  });
}

function compileOne(schema: Schema, rule: ValidationRule, data: DataType, declarations: Declarations): CompiledRule {
  const nothing = { usesOldSelf: false, cost: 0n, messageCost: 0n };
  if (trimSpace(rule.rule) === "") return nothing;
  const result = parseAndCheck(rule.rule, declarations);
  if ("issues" in result) return { ...nothing, error: `compilation failed: ${result.issues}` };
  const { checked } = result;
  if (checked.types.get(checked.expr.id)!.kind !== "bool")
    return { ...nothing, error: "cel expression must evaluate to a bool" };
  const usesOldSelf = [...checked.references.values()].some(({ name }) => name === "oldSelf");
  const { program, problem } = planProgram(checked, declarations);
  if (!program) return { ...nothing, usesOldSelf, error: `program instantiation failed: ${problem.text}` };
  const compiled = { ...nothing, usesOldSelf, program, cost: estimate(program, data).max };
  if (!rule.messageExpression) return { ...compiled, fieldPath: normalizedPath(schema, rule) };
  const message = compileMessage(rule.messageExpression, data, declarations);
  if (message.messageError !== undefined) return { ...compiled, ...message };
  return { ...compiled, ...message, fieldPath: normalizedPath(schema, rule) };
}

type Message = Pick<CompiledRule, "message" | "messageError" | "messageCost">;

function compileMessage(text: string, data: DataType, declarations: Declarations): Message {
  const fail = (messageError: string) => ({ messageError, messageCost: 0n });
  const result = parseAndCheck(text, declarations);
  if ("issues" in result) return fail(`messageExpression compilation failed: ${result.issues}`);
  const { checked } = result;
  if (checked.types.get(checked.expr.id)!.kind !== "string") return fail("messageExpression must evaluate to a string");
  const { program, problem } = planProgram(checked, declarations);
  if (!program) return fail(`messageExpression instantiation failed: ${problem.text}`);
  return { message: program, messageCost: estimate(program, data).max };
}

function normalizedPath(schema: Schema, { fieldPath }: ValidationRule): string | undefined {
  if (!fieldPath) return undefined;
  try {
    return fieldInSchema(fieldPath, schema).path;
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
}
