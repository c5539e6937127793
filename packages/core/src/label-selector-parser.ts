import {
  type LabelOperator,
  type LabelRequirement,
  labelRequirement,
  SelectorError,
  sortLabelRequirements,
} from "./label-selector.ts";
import { qualifiedNameErrors } from "./naming-rules.ts";
import { own } from "./own.ts";
import { quoted } from "./quoted.ts";

/** Parses `a=b,c!=d,e in (x,y),!f,g,h>5`, sorted by key; throws a {@link SelectorError} in Kubernetes' words. */
export function parseLabelSelector(text: string): LabelRequirement[] {
  return sortLabelRequirements(new Parser(text).parse());
}

const BINARY_OPERATORS: Record<string, LabelOperator> = {
  in: "in",
  notin: "notin",
  "=": "=",
  "==": "==",
  "!=": "!=",
  ">": "gt",
  "<": "lt",
};

/** The empty string stands for the end of the text; `in` and `notin` are operators only where one is expected. */
class Parser {
  readonly #tokens: string[];
  #position = 0;

  constructor(text: string) {
    // To Go's parser, a zero character ends an identifier, and anywhere else the text.
    const given = text.replace(/([^=!(),>< \t\r\n\0])\0/g, "$1 ").replace(/\0.*/s, "");
    this.#tokens = given.match(/!=|==|[=!(),><]|[^=!(),>< \t\r\n]+/g) ?? [];
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    let next = this.#peek();
    if (next !== "" && !startsRequirement(next)) {
      throw new SelectorError(`found '${next}', expected: !, identifier, or 'end of string'`);
    }
    while (next !== "") {
      requirements.push(this.#requirement());
      const separator = this.#take();
      if (separator === "") break;
      if (separator !== ",") throw new SelectorError(`found '${separator}', expected: ',' or 'end of string'`);
      next = this.#peek();
      if (!startsRequirement(next)) throw new SelectorError(`found '${next}', expected: identifier after ','`);
    }
    return requirements;
  }

  #requirement(): LabelRequirement {
    try {
      const isNegated = this.#peek() === "!";
      if (isNegated) this.#take();
      const key = this.#key();
      if (isNegated) return labelRequirement(key, "!");
      if (isEnd(this.#peek())) return labelRequirement(key, "exists");
      const operator = this.#operator();
      return labelRequirement(key, operator, operator === "in" || operator === "notin" ? this.#set() : [this.#value()]);
    } catch (error) {
      throw new SelectorError(`unable to parse requirement: ${(error as Error).message}`);
    }
  }

  #key(): string {
    const key = this.#take();
    if (!isIdentifier(key)) throw new SelectorError(`found '${key}', expected: identifier`);
    const errors = qualifiedNameErrors(key);
    if (errors.length > 0) throw new SelectorError(`<nil>: Invalid value: ${quoted(key)}: ${errors.join("; ")}`);
    return key;
  }

  #operator(): LabelOperator {
    const token = this.#take();
    const operator = own(BINARY_OPERATORS, token);
    if (!operator) throw new SelectorError(`found '${token}', expected: in, notin, =, ==, !=, gt, lt`);
    return operator;
  }

  /** Nothing at all is the empty value. */
  #value(): string {
    if (isEnd(this.#peek())) return "";
    const value = this.#take();
    if (!isIdentifier(value)) throw new SelectorError(`found '${value}', expected: identifier`);
    return value;
  }

  /** Values between parentheses; between commas, nothing is the empty value. */
  #set(): string[] {
    const open = this.#take();
    if (open !== "(") throw new SelectorError(`found '${open}' expected: '('`);
    const first = this.#peek();
    if (first !== ")" && first !== "," && !isIdentifier(first)) {
      throw new SelectorError(`found '${first}', expected: ',', ')' or identifier`);
    }
    const values = new Set<string>();
    if (first === ")" || first === ",") values.add("");
    for (let token = this.#take(); token !== ")"; token = this.#take()) {
      const next = this.#peek();
      if (isIdentifier(token)) {
        values.add(token);
        if (next !== "," && next !== ")") throw new SelectorError(`found '${next}', expected: ',' or ')'`);
      } else if (token === ",") {
        if (next === ")" || next === ",") values.add("");
      } else {
        throw new SelectorError(`found '${token}', expected: ',', or identifier`);
      }
    }
    return [...values].sort();
  }

  #peek(): string {
    return this.#tokens[this.#position] ?? "";
  }

  #take(): string {
    return this.#tokens[this.#position++] ?? "";
  }
}

function isIdentifier(token: string): boolean {
  return token !== "" && !/^[=!(),><]/.test(token);
}

function startsRequirement(token: string): boolean {
  return token === "!" || isIdentifier(token);
}

function isEnd(token: string): boolean {
  return token === "" || token === ",";
}
