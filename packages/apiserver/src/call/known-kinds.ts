import { type KubernetesFacts, kubernetesFacts } from "@konverge/kinds";

/** What is known of a kind: the name of the Go package of its internal form (`core`, `apps`). */
export interface KnownKind {
  readonly internal: string;
}

const files = new WeakMap<KubernetesFacts, Map<string, string>>();

/** A built-in kind by its name, whether it is a resource, the body of a subresource or a list; undefined for others. */
export function knownKind(
  gvk: { group: string; version: string; kind: string },
  facts: KubernetesFacts = kubernetesFacts(),
): KnownKind | undefined {
  const file = filesOf(facts).get(`${gvk.group}/${gvk.version}`);
  if (!file || !facts.definition(`${file}.${gvk.kind}`)) return undefined;
  return { internal: file.slice(0, file.indexOf(".")) };
}

/** The name of a built-in kind's definition: `autoscaling.v1.Scale`. */
export function definitionName(gvk: { group: string; version: string; kind: string }): string | undefined {
  if (!knownKind(gvk)) return undefined;
  return `${filesOf(kubernetesFacts()).get(`${gvk.group}/${gvk.version}`)}.${gvk.kind}`;
}

function filesOf(facts: KubernetesFacts): Map<string, string> {
  let found = files.get(facts);
  if (!found) {
    found = new Map(
      facts
        .resources()
        .map(({ group, version, definition: name }) => [`${group}/${version}`, name.slice(0, name.lastIndexOf("."))]),
    );
    files.set(facts, found);
  }
  return found;
}
