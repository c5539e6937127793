import { ANY_POLICY } from "../read/policies.ts";
import type { Chain } from "./build-chains.ts";

/**
 * Whether a chain has a valid certificate policy where one is required (RFC 5280, 6.1, as RFC 9618 changed it), with any
 * policy being acceptable to us. Then only the policies of the last certificate looked at count: which of them the next
 * one may have.
 */
export function hasValidPolicies(chain: Chain): boolean {
  if (chain.length === 1) return true;
  const length = chain.length - 1;
  const never = BigInt(length + 1);
  let [inhibitAny, explicit, mapping] = [never, never, never];
  /** The valid policies, and what each is called in the next certificate. Undefined: none is asserted anymore. */
  let valid: Map<string, readonly string[]> | undefined = new Map([[ANY_POLICY, [ANY_POLICY]]]);
  for (let i = length - 1; i >= 0; i--) {
    const { issuer, subject, policies: rules } = chain[i]!;
    const isSelfIssued = issuer.raw.equals(subject.raw);
    if (rules.policies.length === 0) valid = undefined;
    if (explicit === 0n && !valid) return false;
    if (valid) valid = narrowed(valid, rules.policies, inhibitAny > 0n || (i > 0 && isSelfIssued));
    if (i === 0) break;
    if (valid && !mapped(valid, rules.mappings, mapping > 0n)) return false;
    const step = isSelfIssued ? 0n : 1n;
    explicit = smaller(fewer(explicit, step), rules.requireExplicitPolicy);
    mapping = smaller(fewer(mapping, step), rules.inhibitMapping);
    inhibitAny = smaller(fewer(inhibitAny, step), rules.inhibitAny);
  }
  const isRequired = fewer(explicit, 1n) === 0n || chain[0]!.policies.requireExplicitPolicy === 0n;
  return !isRequired || (valid !== undefined && valid.size > 0);
}

/** The policies of a certificate that the one before allowed. */
function narrowed(
  before: ReadonlyMap<string, readonly string[]>,
  policies: readonly string[],
  anyCounts: boolean,
): Map<string, readonly string[]> {
  const expected = [...before.values()].flat();
  const known = new Set(expected);
  const own = policies.filter((one) => one !== ANY_POLICY && (known.has(one) || before.has(ANY_POLICY)));
  const rest = anyCounts && policies.includes(ANY_POLICY) ? expected : [];
  return new Map([...own, ...rest].map((one) => [one, [one]]));
}

/** Renames policies as a certificate says, or drops those that it may not rename; false when it renames `anyPolicy`. */
function mapped(
  valid: Map<string, readonly string[]>,
  mappings: readonly { readonly issuer: string; readonly subject: string }[],
  isAllowed: boolean,
): boolean {
  if (!isAllowed) {
    for (const { issuer } of mappings) valid.delete(issuer);
    return true;
  }
  if (mappings.some(({ issuer, subject }) => issuer === ANY_POLICY || subject === ANY_POLICY)) return false;
  for (const [issuer, same] of Map.groupBy(mappings, (one) => one.issuer)) {
    if (valid.has(issuer) || valid.has(ANY_POLICY))
      valid.set(
        issuer,
        same.map(({ subject }) => subject),
      );
  }
  return true;
}

const fewer = (count: bigint, step: bigint) => (count > step ? count - step : 0n);
const smaller = (count: bigint, limit: bigint | undefined) => (limit !== undefined && limit < count ? limit : count);
