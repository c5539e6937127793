import type { Evaluation, Program } from "../evaluation/compile.ts";
import { unescapeName } from "../types/escape.ts";
import { CelError, CelMap, noSuchOverload, type Value } from "../values/values.ts";

/** An expression of a policy: compiled, or with what is wrong with it. */
export interface PolicyExpression {
  readonly expression: string;
  readonly program?: Program;
  readonly error?: string;
}

/** The value of `variables`: each is computed when it is first read, and then kept. */
export class PolicyVariables extends CelMap {
  readonly #expressions: ReadonlyMap<string, PolicyExpression>;
  readonly #evaluate: (program: Program) => Evaluation;
  readonly #known = new Map<string, Value>();

  constructor(expressions: ReadonlyMap<string, PolicyExpression>, evaluate: (program: Program) => Evaluation) {
    super();
    this.#expressions = expressions;
    this.#evaluate = evaluate;
  }

  override get typeName(): string {
    return "kubernetes.variables";
  }

  get size(): number {
    return this.#expressions.size;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== "string") return noSuchOverload(key);
    const name = unescapeName(key);
    const expression = name === undefined ? undefined : this.#expressions.get(name);
    if (name === undefined || !expression) return undefined;
    let value = this.#known.get(name);
    if (value === undefined) {
      value = this.#compute(name, expression);
      this.#known.set(name, value);
    }
    return value;
  }

  #compute(name: string, { program, error: problem }: PolicyExpression): Value {
    const fails = (what: string, why: string) => new CelError(`composited variable "${name}" fails to ${what}: ${why}`);
    if (!program) return fails("compile", problem!);
    const { value, error } = this.#evaluate(program);
    return error === undefined ? value! : fails("evaluate", error);
  }

  keys(): Iterable<Value> {
    return this.#expressions.keys();
  }

  equal(other: Value): Value {
    return other instanceof PolicyVariables ? other === this : noSuchOverload(other);
  }
}
