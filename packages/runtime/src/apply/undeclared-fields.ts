import { ApiError, type Clock, deepCopy, isObject, type Schema } from "@konverge/core";

/** How long this is cached, in milliseconds: the CustomResourceDefinition can have been updated since. */
const BELIEVED = 5 * 60_000;
/** `[0]`, `[type="Ready"]`: some item of a list. All of them have the same schema. */
const ITEM = "[]";

/**
 * Fields of a status that the CustomResourceDefinition in the cluster does not declare, because it is an older one or
 * another operator's. Server-side apply rejects the whole status because of one such field; without them the rest can
 * be written.
 */
export class UndeclaredFields {
  readonly #clock: Clock;
  #paths = new Map<string, readonly string[]>();
  #since = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Learns from a refusal which fields to leave out; those that are new. None: it was refused for another reason. */
  learn(error: unknown): string[] {
    if (!(error instanceof ApiError)) return [];
    const found: string[] = [];
    for (const [, path = ""] of error.message.matchAll(REFUSED)) {
      const segments = segmentsOf(path);
      const name = segments.join(".").replaceAll(`.${ITEM}`, ITEM);
      if (this.#paths.has(name)) continue;
      if (this.#paths.size === 0) this.#since = this.#clock.monotonic();
      this.#paths.set(name, segments);
      found.push(name);
    }
    return found;
  }

  /** The status without them: the very same, if there are none. */
  leaveOut<T extends object>(status: T): T {
    if (this.#paths.size > 0 && this.#clock.monotonic() - this.#since > BELIEVED) this.#paths = new Map();
    if (this.#paths.size === 0) return status;
    const rest = { status: deepCopy(status) as T };
    for (const segments of this.#paths.values()) remove(rest, segments);
    return rest.status;
  }
}

/** Whether the schema of a status has a field with a path like `status.conditions[].reason`, as far as it is known. */
export function declares(status: Schema, path: string): boolean {
  let schema: Schema | undefined = status;
  for (const name of path.split(".").slice(1)) {
    const items = name.split(ITEM).length - 1;
    if (!schema.properties || schema["x-kubernetes-preserve-unknown-fields"]) return true;
    schema = schema.properties[name.replaceAll(ITEM, "")];
    for (let i = 0; i < items; i++) schema = schema?.items;
    if (!schema) return false;
  }
  return true;
}

const REFUSED = /\s(\.status(?:\.[^\s.[\]]+|\[[^\]]*\])+): field not declared in schema/g;

function segmentsOf(path: string): string[] {
  return [...path.matchAll(/\.([^.[\]]+)|\[[^\]]*\]/g)].map(([, name]) => name ?? ITEM);
}

function remove(value: unknown, [first, ...rest]: readonly string[]): void {
  if (first === ITEM) {
    if (Array.isArray(value)) for (const item of value) remove(item, rest);
  } else if (isObject(value) && first !== undefined) {
    if (rest.length === 0) delete value[first];
    else remove(value[first], rest);
  }
}
