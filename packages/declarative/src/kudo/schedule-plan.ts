/** Which plan a change of an instance starts, and which changes are refused: the rules of KUDO's admission. Pure. */
import type { OperatorVersion, Parameter } from "./kudo-kinds.ts";
import { type ParameterValues, parameterProblem } from "./parameters.ts";

/** An instance, before or after a change. */
export interface RequestedState {
  readonly version: OperatorVersion;
  readonly parameters: ParameterValues;
}

/** A change that is refused. */
export class RefusedChangeError extends Error {
  override readonly name = "RefusedChangeError";
}

/** The plan that deletes what the garbage collector cannot. */
export const CLEANUP = "cleanup";

/** The plan that a change starts; undefined if it starts none. Throws a {@link RefusedChangeError}. */
export function plannedBy(before: RequestedState, after: RequestedState): string | undefined {
  const { version } = after;
  const isUpgrade = nameOf(before.version) !== nameOf(version);
  const changed = changedParameters(before, after);
  checkImmutable(before, after, changed, isUpgrade);
  const problem = parameterProblem(version, after.parameters);
  if (problem !== undefined) throw new RefusedChangeError(`failed to validate parameters: ${problem}`);
  const triggered = triggeredPlan([...changed, ...removedParameters(before, after)], version);
  if (isUpgrade) {
    if (triggered !== undefined && triggered !== "deploy") {
      throw new RefusedChangeError(
        `upgrade to new OperatorVersion ${version.metadata.name} together with a parameter update triggering '${triggered}' is not allowed`,
      );
    }
    const plan = ["upgrade", "update", "deploy"].find((one) => hasPlan(version, one));
    if (plan !== undefined) return plan;
    throw new RefusedChangeError(
      "couldn't find any suitable plan that would be triggered by an OperatorVersion upgrade",
    );
  }
  return triggered;
}

const nameOf = ({ metadata }: OperatorVersion) => `${metadata.namespace}/${metadata.name}`;
const hasPlan = ({ spec }: OperatorVersion, plan: string) => Object.hasOwn(spec?.plans ?? {}, plan);
const definitionsOf = ({ spec }: OperatorVersion) => spec?.parameters ?? [];
const named = (version: OperatorVersion, name: string) => definitionsOf(version).find((one) => one.name === name);

/** Those whose values differ. Parameters that only the new version has have not changed. */
function changedParameters(before: RequestedState, after: RequestedState): Parameter[] {
  return Object.keys(after.parameters)
    .filter((name) => before.parameters[name] !== after.parameters[name])
    .flatMap((name) => {
      const definition = named(after.version, name);
      if (!definition) throw new RefusedChangeError(`failed to find parameter "${name}" in the OperatorVersion`);
      return named(before.version, name) ? [definition] : [];
    });
}

function removedParameters(before: RequestedState, after: RequestedState): Parameter[] {
  return Object.keys(before.parameters)
    .filter((name) => after.parameters[name] === undefined)
    .flatMap((name) => named(after.version, name) ?? []);
}

function checkImmutable(
  before: RequestedState,
  { version, parameters }: RequestedState,
  changed: readonly Parameter[],
  isUpgrade: boolean,
): void {
  if (!isUpgrade) {
    const fixed = changed.find(({ immutable }) => immutable);
    if (!fixed) return;
    const [was, is] = [before.parameters[fixed.name!] ?? "", parameters[fixed.name!] ?? ""];
    throw new RefusedChangeError(`parameter '${fixed.name}' is immutable but was changed from '${was}' to '${is}'`);
  }
  for (const definition of definitionsOf(version)) {
    const { name = "", immutable, default: fallback } = definition;
    const earlier = named(before.version, name);
    if (!immutable || earlier?.immutable || parameters[name] !== undefined) continue;
    const what = earlier ? "was changed to immutable" : "was added";
    const hint = !earlier && fallback !== undefined ? ` (default would be ${fallback})` : "";
    throw new RefusedChangeError(
      `parameter '${name}' ${what} in operator version ${version.metadata.name}, but no value was provided${hint}`,
    );
  }
}

function triggeredPlan(changed: readonly Parameter[], version: OperatorVersion): string | undefined {
  if (changed.length === 0) return undefined;
  for (const { name, trigger } of changed) {
    if (trigger && !hasPlan(version, trigger)) {
      throw new RefusedChangeError(
        `param ${name} defined trigger plan ${trigger}, but plan not defined in operatorversion`,
      );
    }
  }
  const plans = [...new Set(changed.flatMap(({ trigger }) => trigger || []))];
  if (plans.length > 1)
    throw new RefusedChangeError(`triggering multiple plans: [${plans.join(" ")}] at once is not allowed`);
  const plan = plans[0] ?? ["update", "deploy"].find((one) => hasPlan(version, one));
  if (plan === undefined) throw new RefusedChangeError("couldn't find any plans that would be triggered by the update");
  return plan;
}
