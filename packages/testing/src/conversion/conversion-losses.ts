import { type AnyObject, type FieldError, type Schema, seededRandom } from "@konverge/core";
import { lostInConversion } from "@konverge/schema";
import { generatedValue } from "./generated-value.ts";

/** A kind of several versions, made by `defineKind`. */
export interface VersionedKind {
  readonly kind: string;
  readonly version: string;
  readonly definition: { readonly versions: object };
  readonly atVersion: (name: never) => {
    readonly group: string;
    readonly schema: Schema;
    readonly validate: (object: unknown) => FieldError[];
  };
  readonly convert: (object: never, to: never) => object;
}

export interface ConversionLossesOptions {
  /** How many objects of each version are converted. Default: 200. */
  readonly runs?: number;
  /** Gives other objects. Default: 1. */
  readonly seed?: number;
}

/** How many invalid objects in a row mean that no valid one can be generated. */
const PATIENCE = 200;

/**
 * Converts generated objects of each version to the stored version and back, those of the stored version to each other one
 * and back, and returns the fields that are not the same afterwards, each with an object that shows it. None, if the conversion
 * loses nothing:
 *
 * ```ts
 * assert.deepEqual(conversionLosses(TrainingJob), []);
 * ```
 *
 * Objects are valid: they follow the schema and its rules. A version for which no valid object can be generated (its patterns
 * or rules ask for too much) throws; test it with objects of your own and `lostInConversion`.
 */
export function conversionLosses(
  kind: VersionedKind,
  { runs = 200, seed = 1 }: ConversionLossesOptions = {},
): string[] {
  const others = Object.keys(kind.definition.versions).filter((name) => name !== kind.version);
  const ways = others.flatMap((name) => [
    { from: name, through: kind.version },
    { from: kind.version, through: name },
  ]);
  return ways.flatMap(({ from, through }) => {
    const found = new Map<string, string>();
    for (const object of generatedObjects(kind, from, runs, seed)) {
      for (const path of lostInConversion(kind, object, through)) {
        const { spec, status } = object as AnyObject & { spec?: unknown; status?: unknown };
        found.set(path, `${from} → ${through} → ${from} changes ${path}: ${JSON.stringify({ spec, status })}`);
      }
    }
    return [...found.values()];
  });
}

function* generatedObjects(kind: VersionedKind, version: string, runs: number, seed: number): Generator<AnyObject> {
  const { schema, validate, group } = kind.atVersion(version as never);
  const random = seededRandom(seed);
  const { spec, status } = schema.properties ?? {};
  for (let made = 0, refused = 0; made < runs; ) {
    const object: AnyObject = {
      apiVersion: `${group}/${version}`,
      kind: kind.kind,
      metadata: { name: "generated" },
      ...(spec && { spec: generatedValue(spec, random) }),
      ...(status && random.below(2) === 0 && { status: generatedValue(status, random) }),
    };
    const [error] = validate(object);
    if (!error) {
      made++;
      refused = 0;
      yield object;
    } else if (++refused > PATIENCE) {
      throw new Error(
        `no valid ${kind.kind} of ${version} can be generated: ${error.field}: ${error.message}. Test the conversion with objects of your own: lostInConversion`,
      );
    }
  }
}
