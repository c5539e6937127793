import { builtinResources, definition } from "@konverge/kinds";

/** What is known of a kind: the name of the Go package of its internal form (`core`, `apps`). */
export interface KnownKind {
  readonly internal: string;
}

let files: Map<string, string> | undefined;

/** A built-in kind by its name, whether it is a resource, the body of a subresource or a list; undefined for others. */
export function knownKind(gvk: { group: string; version: string; kind: string }): KnownKind | undefined {
  files ??= new Map(
    builtinResources().map(({ group, version, definition: name }) => [
      `${group}/${version}`,
      name.slice(0, name.lastIndexOf(".")),
    ]),
  );
  const file = files.get(`${gvk.group}/${gvk.version}`);
  if (!file || !definition(`${file}.${gvk.kind}`)) return undefined;
  return { internal: file.slice(0, file.indexOf(".")) };
}

/** The name of a built-in kind's definition: `autoscaling.v1.Scale`. */
export function definitionName(gvk: { group: string; version: string; kind: string }): string | undefined {
  if (!knownKind(gvk)) return undefined;
  return `${files!.get(`${gvk.group}/${gvk.version}`)}.${gvk.kind}`;
}
