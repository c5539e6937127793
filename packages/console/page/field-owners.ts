/** An entry of managedFields. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsV1?: Fields;
}

interface Fields {
  readonly [key: string]: Fields;
}

/** Returns the managers of a field by its path: of the field itself, or of its parent. */
export function fieldOwners(
  object: unknown,
  entries: readonly ManagedFields[],
): (path: readonly (string | number)[]) => string[] {
  const owners = new Map<string, string[]>();
  for (const { manager = "unknown", fieldsV1 = {} } of entries) collect(object, fieldsV1, [], manager, owners);
  return (path) => {
    for (let length = path.length; length > 0; length--) {
      const found = owners.get(JSON.stringify(path.slice(0, length)));
      if (found) return found;
    }
    return [];
  };
}

function collect(
  value: unknown,
  fields: Fields,
  path: (string | number)[],
  manager: string,
  owners: Map<string, string[]>,
) {
  const names = Object.keys(fields);
  if (names.length === 0 || (names.length === 1 && names[0] === ".")) {
    const key = JSON.stringify(path);
    const list = owners.get(key) ?? [];
    if (!list.includes(manager)) owners.set(key, [...list, manager]);
  }
  for (const name of names) {
    const step = stepOf(name, value);
    if (step === undefined) continue;
    const inner = (value as Record<string | number, unknown> | undefined)?.[step];
    collect(inner, fields[name]!, [...path, step], manager, owners);
  }
}

/** The name or index that a key of FieldsV1 stands for. */
function stepOf(key: string, value: unknown): string | number | undefined {
  if (key.startsWith("f:")) return key.slice(2);
  if (!Array.isArray(value)) return undefined;
  if (key.startsWith("i:")) return Number(key.slice(2));
  if (key.startsWith("v:")) return indexWhere(value, (item) => JSON.stringify(item) === key.slice(2));
  if (!key.startsWith("k:")) return undefined;
  const wanted = Object.entries(JSON.parse(key.slice(2)) as Record<string, unknown>);
  return indexWhere(value, (item) =>
    wanted.every(([name, expected]) => (item as Record<string, unknown> | null)?.[name] === expected),
  );
}

function indexWhere(list: readonly unknown[], test: (item: unknown) => boolean): number | undefined {
  const at = list.findIndex(test);
  return at < 0 ? undefined : at;
}
