import { isObject } from "@konverge/core";
import { DefinitionError } from "./definition-error.ts";

/** Throws unless this is a schema of a Zod that can be read: a program may have another one than Konverge. */
export function checkSchemaOfZod(type: unknown, path: string): void {
  if (isObject(type) && "_zod" in type) return;
  const hint =
    isObject(type) && "_def" in type
      ? 'is a schema of Zod 3: create it with Zod 4 (import { z } from "konverge")'
      : "is not a Zod schema";
  throw new DefinitionError(path, hint);
}
