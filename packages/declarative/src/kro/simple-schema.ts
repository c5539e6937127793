/**
 * kro's simple schema: `replicas: integer | default=1 minimum=1`, turned into the schema of a CustomResourceDefinition.
 *
 * A field is a type and, behind a bar, markers. Types are string, integer, boolean, float, object, `[]T`, `map[string]T` and the
 * names under `types`; an object of fields describes an object.
 */
import { isObject, type Schema } from "@konverge/core";
import type { GraphMistake } from "./graph-error.ts";
import { applyMarkers, type Building, parseMarkers } from "./simple-markers.ts";

/** The deepest nesting of lists and maps in one type. */
const DEEPEST = 16;

const ATOMS: Readonly<Record<string, Schema>> = {
  string: { type: "string" },
  integer: { type: "integer" },
  boolean: { type: "boolean" },
  float: { type: "number" },
};

/** Turns the fields of a simple schema into a schema; what is wrong with them is added to `mistakes`. */
export function simpleSchema(
  fields: Readonly<Record<string, unknown>>,
  types: Readonly<Record<string, unknown>>,
  path: string,
  mistakes: GraphMistake[],
): Schema {
  return new SimpleSchema(types, mistakes).object(fields, path, []);
}

class SimpleSchema {
  readonly #types: Readonly<Record<string, unknown>>;
  readonly #mistakes: GraphMistake[];

  constructor(types: Readonly<Record<string, unknown>>, mistakes: GraphMistake[]) {
    this.#types = types;
    this.#mistakes = mistakes;
  }

  /** `using`: the named types that are being resolved, to find those that contain themselves. */
  object(fields: Readonly<Record<string, unknown>>, path: string, using: readonly string[]): Schema {
    const schema: Building = { type: "object" };
    const properties: Record<string, Schema> = {};
    for (const [name, field] of Object.entries(fields)) {
      properties[name] = this.#field(name, field, schema, `${path}.${name}`, using);
    }
    schema.properties = properties;
    schema.required?.sort();
    // An absent object gets its fields' defaults, unless it could not be valid without others.
    const hasDefaults = Object.values(properties).some((property) => property.default !== undefined);
    if (!schema.required && hasDefaults) schema.default = {};
    return schema;
  }

  #field(name: string, field: unknown, parent: Building, path: string, using: readonly string[]): Schema {
    if (isObject(field)) return this.object(field, path, using);
    if (typeof field !== "string")
      return this.#mistake(path, "must be a type, such as `string`, or an object of fields");
    const bar = field.indexOf("|");
    const typeText = (bar < 0 ? field : field.slice(0, bar)).trim();
    if (typeText === "")
      return this.#mistake(path, "has no type: write one before the bar, such as `string | default=a`");
    const schema = { ...this.#type(typeText, path, using, 0) } as Building;
    if (this.#isRequired(typeText)) parent.required = [...(parent.required ?? []), name];
    if (bar < 0) return schema;
    try {
      applyMarkers(parseMarkers(field.slice(bar + 1)), schema, name, parent);
    } catch (error) {
      this.#mistake(path, (error as Error).message);
    }
    return schema;
  }

  #type(text: string, path: string, using: readonly string[], depth: number): Schema {
    if (depth > DEEPEST) return this.#mistake(path, `nests more than ${DEEPEST} lists and maps`);
    if (Object.hasOwn(ATOMS, text)) return { ...ATOMS[text] };
    if (text === "object") return { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    if (text.startsWith("[]")) {
      return { type: "array", items: this.#type(text.slice(2).trim(), path, using, depth + 1) };
    }
    if (text.startsWith("map[")) {
      const [, value] = /^map\[string\]\s*(.+)$/.exec(text) ?? [];
      if (!value) return this.#mistake(path, `${text} is not a map: write map[string] and the type of its values`);
      return { type: "object", additionalProperties: this.#type(value.trim(), path, using, depth + 1) };
    }
    return this.#named(text, path, using);
  }

  #named(name: string, path: string, using: readonly string[]): Schema {
    if (!Object.hasOwn(this.#types, name)) {
      const known = [...Object.keys(ATOMS), "object", ...Object.keys(this.#types)].join(", ");
      return this.#mistake(path, `there is no type ${name}: the types are ${known}, []TYPE and map[string]TYPE`);
    }
    if (using.includes(name))
      return this.#mistake(path, `the type ${name} contains itself: ${[...using, name].join(" → ")}`);
    const definition = this.#types[name];
    const place = `spec.schema.types.${name}`;
    if (isObject(definition)) return this.object(definition, place, [...using, name]);
    return this.#field(name, definition, { type: "object" }, place, [...using, name]);
  }

  /** Whether a named type makes the fields of it required. */
  #isRequired(name: string): boolean {
    const definition = this.#types[name];
    return typeof definition === "string" && /\|.*\brequired=true\b/.test(definition);
  }

  #mistake(path: string, message: string): Schema {
    this.#mistakes.push({ path, message });
    return { "x-kubernetes-preserve-unknown-fields": true };
  }
}
