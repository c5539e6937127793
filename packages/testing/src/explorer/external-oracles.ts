import type { ExternalResourceState } from "../external/external-system.ts";
import { withoutIdentities } from "./external-plane.ts";
import type { ExploredRun, Oracle } from "./oracle.ts";

/**
 * The oracles of external systems. Resources that are different in two runs without faults, `clean` and `other`, are not compared.
 */
export function externalOracles(clean: ExploredRun, other: ExploredRun): readonly Oracle[] {
  const unstable = new Set(differences(grouped(clean), grouped(other)).map(({ id }) => id));
  return [
    {
      name: "external state",
      meaning: "The resources of an external system at the end are not those of a run without faults.",
      check: (run, reference) => {
        if (run === reference || !run.endState || !reference.endState) return [];
        return differences(grouped(reference), grouped(run)).flatMap(({ id, problem }) =>
          unstable.has(id) ? [] : [`${id} ${problem}`],
        );
      },
    },
    {
      name: "external leak",
      meaning: "A resource of an external system outlives the object for which it was made.",
      check: (run, reference) => {
        if (!run.endState) return [];
        const usual = run === reference ? [] : (reference.external?.leaked ?? []);
        return (run.external?.leaked ?? []).filter((one) => !usual.includes(one));
      },
    },
    {
      name: "external call after deletion",
      meaning: "The operator changed something in an external system for an object that was gone.",
      check: (run, reference) => {
        const usual = run === reference ? [] : (reference.external?.late ?? []);
        return (run.external?.late ?? []).filter((one) => !usual.includes(one));
      },
    },
  ];
}

/** The states of resources by what identifies them in every run: one that was made twice is there twice. */
function grouped({ external }: ExploredRun): Map<string, readonly ExternalResourceState[]> {
  const resources = external?.resources ?? [];
  return Map.groupBy(resources, ({ system, id }) => `${system}: ${withoutIdentities(id)}`);
}

function differences(
  expected: ReadonlyMap<string, readonly ExternalResourceState[]>,
  found: ReadonlyMap<string, readonly ExternalResourceState[]>,
): { id: string; problem: string }[] {
  return [...new Set([...expected.keys(), ...found.keys()])].flatMap((id) => {
    const [should, is] = [expected.get(id) ?? [], found.get(id) ?? []];
    if (is.length === 0) return [{ id, problem: "is missing" }];
    if (should.length === 0) return [{ id, problem: "should not be there" }];
    if (is.length !== should.length) return [{ id, problem: `is there ${is.length} times, not ${should.length}` }];
    const fields = fieldsThatDiffer(texts(should), texts(is));
    return fields === undefined ? [] : [{ id, problem: `differs${fields}` }];
  });
}

const texts = (states: readonly ExternalResourceState[]) =>
  states.map(({ text }) => withoutIdentities(text ?? "")).sort();

/** The fields, never their values: these may be secret. Undefined if all are equal. */
function fieldsThatDiffer(expected: readonly string[], found: readonly string[]): string | undefined {
  const at = expected.findIndex((text, i) => text !== found[i]);
  if (at < 0) return undefined;
  const [a, b] = [expected[at], found[at]].map((text) => parsed(text ?? ""));
  if (!isRecord(a) || !isRecord(b)) return "";
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return ` in ${names.filter((name) => JSON.stringify(a[name]) !== JSON.stringify(b[name])).join(", ")}`;
}

function parsed(text: string): unknown {
  return text === "" ? undefined : (JSON.parse(text) as unknown);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
