import { deepCopy, deepFreeze, type KindRef, type KubeObject, type Schema } from "@konverge/core";
import { applyDefaults, lacksDefaults } from "@konverge/schema";

/**
 * An object with the defaults that its definition gives it. A server fills them in by the CustomResourceDefinition that
 * is installed, which can be older or another operator's: what reads an object can rely on its own definition all the
 * same. The very object, if it lacks none; what is only an object's metadata stays that.
 */
export function defaulted<T extends KubeObject>(kind: KindRef<KubeObject>, object: T): T {
  const { schema } = kind as { schema?: Schema };
  if (!schema || object.kind !== kind.kind || !lacksDefaults(schema, object)) return object;
  return deepFreeze(applyDefaults(schema, deepCopy(object) as T));
}
