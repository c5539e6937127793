import { type JsonObject, stringifyJson } from "@konverge/core";

/** Converts an object to another version, asynchronously. */
export type AsyncConvert = (object: JsonObject, apiVersion: string) => Promise<JsonObject>;

class ConversionNeeded {
  readonly object: JsonObject;
  readonly apiVersion: string;

  constructor(object: JsonObject, apiVersion: string) {
    this.object = object;
    this.apiVersion = apiVersion;
  }
}

/**
 * Runs `work`, which converts objects at once, on top of conversions that take their time (a webhook's). Where it needs
 * one that is not there yet, it is abandoned, the conversion is fetched, and it starts again: so it must have no effect
 * but its result. Ownership is recorded in a version other than the one written in few objects, so this is rare.
 */
export async function withAsyncConversion<T>(
  convert: AsyncConvert,
  work: (convert: (object: JsonObject, apiVersion: string) => JsonObject) => T,
): Promise<T> {
  const known = new Map<string, JsonObject>();
  const keyOf = (object: JsonObject, apiVersion: string) => `${apiVersion} ${stringifyJson(object)}`;
  for (;;) {
    try {
      return work((object, apiVersion) => {
        const converted = known.get(keyOf(object, apiVersion));
        if (!converted) throw new ConversionNeeded(object, apiVersion);
        return converted;
      });
    } catch (needed) {
      if (!(needed instanceof ConversionNeeded)) throw needed;
      const { object, apiVersion } = needed;
      known.set(keyOf(object, apiVersion), await convert(object, apiVersion));
    }
  }
}
