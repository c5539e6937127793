import { type Operator, operator } from "@konverge/runtime";
import { type AnyCrd, crdsFromYaml } from "@konverge/schema";
import { kindsOf } from "../kinds/known-kinds.ts";
import { instanceController } from "./instance-controller.ts";
import { Instance, KudoOperator, OperatorVersion } from "./kudo-kinds.ts";
import { readKudoPackage } from "./read-package.ts";
import { CLEANUP } from "./schedule-plan.ts";
import { versionController } from "./version-controller.ts";
import { versionKinds } from "./version-kinds.ts";

/** Options of {@link kudoOperator}. */
export interface KudoOperatorOptions {
  /** Default: `kudo-operator`. */
  readonly name?: string;
  /**
   * The packages whose permissions the operator's role has: folders with `operator.yaml`, `params.yaml` and `templates`. Instances of
   * others run, too, but their objects cannot be made without a role that you write. Default: none.
   */
  readonly packages?: readonly string[];
  /** The CustomResourceDefinitions of the kinds in these packages that are not Kubernetes' own, as YAML. */
  readonly crds?: readonly string[];
}

/**
 * An operator that runs KUDO packages: what `kubectl kudo` installs, updates and upgrades. Throws if one of `packages` is wrong.
 *
 * ```ts
 * export default kudoOperator({ packages: ["packages/cache"] });
 * ```
 */
export function kudoOperator({ name = "kudo-operator", packages = [], crds = [] }: KudoOperatorOptions = {}): Operator {
  const versions = packages.map((path) => readKudoPackage(path).version);
  const lookup = kindsOf(crds.flatMap(crdsFromYaml) as AnyCrd[]);
  const known = instanceController({
    ...versionKinds(versions, lookup, { isCluster: false }),
    cleaning: new Set(versions.some(({ spec }) => Object.hasOwn(spec?.plans ?? {}, CLEANUP)) ? [CLEANUP] : []),
  });
  return operator({
    name,
    description: "Runs the plans of KUDO packages.",
    // Instances first, in the order in which all of it can be deleted.
    kinds: [Instance, OperatorVersion, KudoOperator],
    create: () => ({ controllers: [versionController([known])] }),
  });
}
