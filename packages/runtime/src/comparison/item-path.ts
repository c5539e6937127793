/** Many more than the lists of a kind have items; keys that are generated for each object must not accumulate. */
const KEPT = 1024;

const values = new Map<string, unknown>();

/**
 * What a path of a field set says of a list's item: its keys for `k:{"name":"x"}`, the item itself for `v:"x"`. The
 * same few paths are asked for in every reconcile, so what they say is kept. It is shared and must not be changed.
 */
export function itemIn(path: string): unknown {
  let value = values.get(path);
  if (value === undefined) {
    value = JSON.parse(path.slice(2));
    if (values.size >= KEPT) values.clear();
    values.set(path, value);
  }
  return value;
}
