/**
 * A property that the object itself has. Where clients choose the key, what every object inherits (`constructor`, `toString`)
 * must never be found.
 */
export function own<T>(object: Readonly<Record<string, T>>, key: string): T | undefined {
  const value = object[key];
  return value === undefined || Object.hasOwn(object, key) ? value : undefined;
}
