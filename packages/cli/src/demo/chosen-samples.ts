import { type AnyObject, type KindRef, type KubeObject, parseApiVersion } from "@konverge/core";
import type { Operator } from "@konverge/runtime";
import { type AnyKind, parseYaml } from "@konverge/schema";

/** A file of samples, and what is in it. */
export interface SampleFile {
  readonly file: string;
  readonly text: string;
}

/** An object of a sample; `kind` is set if it is one of an operator's own, and reports a status. */
export interface SampleObject {
  readonly object: KubeObject;
  readonly kind?: KindRef<KubeObject>;
}

/** Kinds that become ready only when the program in their pods answers the operator, which no simulated container does. */
export const NEEDS_REAL_PROGRAM: ReadonlySet<string> = new Set(["RayService"]);

/** Whether objects of a kind report anything: those that only configure others do not. */
export const reportsStatus = ({ schema }: AnyKind): boolean => schema.properties?.["status"] !== undefined;

/**
 * One sample of each kind of an operator: files that show a kind for the first time, the smallest first, with all that is
 * in them. Those that simulated nodes cannot make ready are left out.
 */
export function chosenSamples(operator: Operator, samples: readonly SampleFile[]): SampleObject[] {
  const shown = new Set<string>();
  const chosen: SampleObject[] = [];
  const files = samples
    .map(({ file, text }) => ({ file, objects: documentsOf(text) }))
    .sort((a, b) => sizeOf(a) - sizeOf(b));
  for (const { objects } of files) {
    const known = objects.map((object) => ({ object, kind: kindOf(operator, object) }));
    const fresh = known.filter(({ kind }) => kind && !shown.has(kind.kind));
    if (fresh.length === 0 || known.some(({ kind }) => kind && NEEDS_REAL_PROGRAM.has(kind.kind))) continue;
    for (const { kind } of known) if (kind) shown.add(kind.kind);
    chosen.push(...known.map(({ object, kind }) => (kind ? { object, kind } : { object })));
  }
  return chosen;
}

function documentsOf(text: string): KubeObject[] {
  return parseYaml(text).filter((object) => object !== null) as KubeObject[];
}

/** What is named minimal comes first, then what is shortest. */
const sizeOf = ({ file, objects }: { file: string; objects: readonly object[] }) =>
  JSON.stringify(objects).length - (/minimal/.test(file) ? 1_000_000 : 0);

/** The operator's kind of an object, in the version that the object is written in. */
function kindOf({ kinds }: Operator, { apiVersion = "", kind }: KubeObject): KindRef<AnyObject> | undefined {
  const { group, version } = parseApiVersion(apiVersion);
  const found = kinds.find((one) => one.group === group && one.kind === kind);
  if (!found || !reportsStatus(found)) return undefined;
  const { plural, namespaced } = found;
  return { group, version, kind: found.kind, plural, namespaced };
}
