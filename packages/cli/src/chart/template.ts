import { printYaml } from "@konverge/schema";

/** What Helm fills in at a place of an object. */
type Hole =
  /** Text. */
  | { readonly expression: string }
  /** A map or list that is left out when it is empty. */
  | { readonly block: string }
  /** Entries of a map, or items of a list, beside those that it has. */
  | { readonly entries: string }
  /** Text in a line, or an item of a list, that is left out unless a condition holds. */
  | { readonly expression: string; readonly unless: string };

const HOLE = /KONVERGE(\d+)HOLE/;
const HOLES = new RegExp(HOLE, "g");

/**
 * Objects as templates of Helm. A place that Helm fills in is a word in the object, which is replaced after the object has been
 * printed. Everything else is literal: braces in a description or in a CEL rule do not become an expression.
 */
export class HelmTemplate {
  readonly #holes: Hole[] = [];

  /** A word that stands for an expression such as `.Release.Namespace`. */
  value(expression: string): string {
    return this.#word({ expression });
  }

  /** A word that stands for a whole map or list; its field is left out when that is empty. */
  block(expression: string): string {
    return this.#word({ block: expression });
  }

  /** A key that stands for all entries of another map. */
  entries(expression: string): Record<string, string> {
    return { [this.#word({ entries: expression })]: "" };
  }

  /** An item that stands for all items of another list. */
  items(expression: string): string {
    return this.#word({ entries: expression });
  }

  /** A word that stands for an expression; the line, list item or variable with it is left out unless the condition holds. */
  valueIf(condition: string, expression: string): string {
    return this.#word({ expression, unless: condition });
  }

  print(...objects: readonly object[]): string {
    const lines = printYaml(...objects)
      .replaceAll("{{", '{{ "{{" }}')
      .split("\n");
    const printed: string[] = [];
    for (let i = 0; i < lines.length; i++) {
      const line = lines[i]!;
      const next = lines[i + 1] ?? "";
      const isVariable = /^\s*- name: /.test(line) && /^\s*value: /.test(next);
      const hole = this.#holeIn(line) ?? (isVariable ? this.#holeIn(next) : undefined);
      if (hole && "entries" in hole) printed.push(...entries(line, hole.entries));
      else if (hole && "block" in hole) printed.push(...block(line, hole.block));
      else if (hole && "unless" in hole) {
        const whole = isVariable ? [line, lines[++i]!] : [line];
        printed.push(`{{- if ${hole.unless} }}`, ...whole.map((one) => this.#filled(one)), "{{- end }}");
      } else printed.push(this.#filled(line));
    }
    return printed.join("\n");
  }

  #word(hole: Hole): string {
    return `KONVERGE${this.#holes.push(hole) - 1}HOLE`;
  }

  #holeIn(line: string): Hole | undefined {
    const [, index] = HOLE.exec(line) ?? [];
    return index === undefined ? undefined : this.#holes[Number(index)];
  }

  #filled(line: string): string {
    return line.replace(HOLES, (_, index) => {
      const hole = this.#holes[Number(index)]!;
      return "expression" in hole ? `{{ ${hole.expression} }}` : "";
    });
  }
}

function entries(line: string, expression: string): string[] {
  const indent = line.search(/\S/);
  return [`{{- with ${expression} }}`, `{{- toYaml . | nindent ${indent} }}`, "{{- end }}"];
}

function block(line: string, expression: string): string[] {
  const [, indent = "", key = ""] = /^(\s*)([^:]+): /.exec(line) ?? [];
  return [
    `{{- with ${expression} }}`,
    `${indent}${key}:`,
    `${indent}  {{- toYaml . | nindent ${indent.length + 2} }}`,
    "{{- end }}",
  ];
}
