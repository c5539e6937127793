/**
 * The questions of the corpus, answered by this implementation or by a real API server. Both give answers of the same
 * form, so that they can be compared, and kept.
 */
import type { Schema, ValidationRule } from "@konverge/core";
import { compileRule } from "../../../src/cel/rules/compile-rule.ts";
import { LANGUAGE } from "./language.ts";
import { LIBRARIES } from "./libraries.ts";
import { LIMITS } from "./limits.ts";
import { LISTS } from "./lists.ts";
import { LOOPS } from "./loops.ts";
import { OPTIONALS } from "./optionals.ts";
import { OVERLOADS } from "./overloads.ts";
import { BOUNDED, CREATED, UNBOUNDED, UPDATED } from "./sample.ts";
import { SCHEMAS, type SchemaCase } from "./schemas.ts";
import { STRINGS } from "./strings.ts";
import { TIMES } from "./times.ts";
import { TYPES } from "./types.ts";

/** All expressions of the corpus. */
export const EXPRESSIONS: readonly string[] = [
  ...LANGUAGE,
  ...TYPES,
  ...LISTS,
  ...LOOPS,
  ...STRINGS,
  ...TIMES,
  ...OPTIONALS,
  ...LIBRARIES,
  ...OVERLOADS,
];

/** Says what is wrong, one line for each thing, sorted. */
export interface Judge {
  /** What is wrong with the schema of a CRD. */
  refusals(schema: Schema): Promise<string[]>;
  /** What is wrong with objects of a kind with that schema. */
  objects(schema: Schema, contents: Contents): Promise<Required<Pick<Outcome, "created" | "updated">>>;
}

/** Objects without their kind and name. */
export interface Contents {
  created: readonly object[];
  updated: readonly (readonly [old: object, content: object])[];
}

/** What came of a schema: it was refused, or what came of its objects. */
export interface Outcome {
  refused?: string[];
  created?: string[][];
  updated?: string[][];
}

/** Everything that was answered. */
export interface Answers {
  /** Of expressions: why they were refused. */
  refused: Record<string, string[]>;
  /** Of the others, in groups: what they said about the objects of the sample. */
  evaluated: Outcome[];
  /** Of all: what they would cost on objects without limits. */
  costs: string[][];
  schemas: Record<string, Outcome>;
}

const GROUP = 80;
const AT_SPEC = /^spec\.validation\.openAPIV3Schema\.properties\[spec\]\.x-kubernetes-validations\[(\d+)\]\./;

/** Puts all questions. */
export async function questionAll(judge: Judge): Promise<Answers> {
  const refused: Record<string, string[]> = {};
  const costs: string[][] = [];
  for (const group of inGroups(EXPRESSIONS)) {
    for (const line of await judge.refusals(withRules(BOUNDED, group))) {
      const index = AT_SPEC.exec(line)?.[1];
      const expression = index === undefined ? "all" : group[Number(index)]!;
      refused[expression] = [...(refused[expression] ?? []), line.replace(AT_SPEC, "")];
    }
    const unbounded = await judge.refusals(withRules(UNBOUNDED, group));
    costs.push(unbounded.filter((line) => line.includes("cost")));
  }
  const evaluated: Outcome[] = [];
  const contents = {
    created: CREATED.map(asSpec),
    updated: UPDATED.map(([old, spec]) => [asSpec(old), asSpec(spec)] as const),
  };
  for (const group of inGroups(EXPRESSIONS.filter((expression) => !refused[expression])))
    evaluated.push(await judge.objects(withRules(BOUNDED, group), contents));
  return { refused, evaluated, costs, schemas: await questionSchemas(judge) };
}

const asSpec = (spec: unknown) => ({ spec });

async function questionSchemas(judge: Judge): Promise<Record<string, Outcome>> {
  const outcomes: Record<string, Outcome> = {};
  const parts: SchemaCase[] = [];
  for (const one of [...SCHEMAS, ...LIMITS]) {
    const { name, schema, isRoot, created = [], updated = [] } = one;
    const refused = await judge.refusals(isRoot ? schema : { type: "object", properties: { spec: schema } });
    outcomes[name] = refused.length > 0 ? { refused } : {};
    if (refused.length > 0 || created.length + updated.length === 0) continue;
    if (isRoot) outcomes[name] = await judge.objects(schema, { created, updated } as Contents);
    else parts.push(one);
  }
  return { ...outcomes, ...(await questionParts(judge, parts)) };
}

/** Schemas of fields need not have a kind each: they are made the fields of one. */
async function questionParts(judge: Judge, parts: readonly SchemaCase[]): Promise<Record<string, Outcome>> {
  const properties = Object.fromEntries(parts.map(({ schema }, i) => [`case${i}`, schema]));
  const schema: Schema = { type: "object", properties: { spec: { type: "object", properties } } };
  const collect = (pick: (part: SchemaCase) => unknown) =>
    asSpec(
      Object.fromEntries(
        parts.flatMap((part, i) => (pick(part) === undefined ? [] : [[`case${i}`, pick(part)] as const])),
      ),
    );
  const most = (list: "created" | "updated") => Math.max(...parts.map((part) => part[list]?.length ?? 0));
  const answers = await judge.objects(schema, {
    created: Array.from({ length: most("created") }, (_, n) => collect(({ created }) => created?.[n])),
    updated: Array.from({ length: most("updated") }, (_, n) => [
      collect(({ updated }) => updated?.[n]?.[0]),
      collect(({ updated }) => updated?.[n]?.[1]),
    ]),
  });
  const linesOf = (lines: string[], i: number) => {
    const prefix = new RegExp(`^spec\\.case${i}(?=[.\\[:])`);
    return lines.filter((line) => prefix.test(line)).map((line) => line.replace(prefix, "spec"));
  };
  const outcome = ({ created = [], updated = [] }: SchemaCase, i: number): Outcome => ({
    created: created.map((_, n) => linesOf(answers.created[n]!, i)),
    updated: updated.map((_, n) => linesOf(answers.updated[n]!, i)),
  });
  return Object.fromEntries(parts.map((part, i) => [part.name, outcome(part, i)]));
}

function* inGroups(expressions: readonly string[]): Generator<readonly string[]> {
  for (let i = 0; i < expressions.length; i += GROUP) yield expressions.slice(i, i + GROUP);
}

function withRules(spec: Schema, expressions: readonly string[]): Schema {
  const rules = expressions.map(ruleOf);
  return { type: "object", properties: { spec: { ...spec, "x-kubernetes-validations": rules } } };
}

/** An expression as a rule. One that is no bool becomes a rule that never holds, and its value the message. */
function ruleOf(expression: string, index: number): ValidationRule {
  if (!isNoBool(expression)) return { rule: expression };
  return {
    rule: `[dyn(${expression})].all(x, false)`,
    messageExpression: `"${index}: %s".format([${expression}])`,
  };
}

const noBools = new Map<string, boolean>();

function isNoBool(expression: string): boolean {
  let answer = noBools.get(expression);
  if (answer === undefined) {
    answer = compileRule(expression, BOUNDED).problem?.text.startsWith("must evaluate to bool") === true;
    noBools.set(expression, answer);
  }
  return answer;
}

/** Names of types that are numbered as they come. */
export const masked = (line: string): string => line.replace(/selfType\d+/g, "selfType");
