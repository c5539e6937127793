import { CertificateError } from "../certificate-error.ts";
import { DerReader, field, TAGS } from "../der/read.ts";

/** What a certificate says about certificate policies. Policies are known by the bytes of their identifiers, in hex. */
export interface PolicyRules {
  readonly policies: readonly string[];
  /** Policies of the issuer, and which of the subject's they equal. */
  readonly mappings: readonly { readonly issuer: string; readonly subject: string }[];
  /** After how many further certificates a valid policy is required. */
  readonly requireExplicitPolicy?: bigint;
  /** After how many further certificates policies may not be mapped anymore. */
  readonly inhibitMapping?: bigint;
  /** After how many further certificates `anyPolicy` stands for nothing. */
  readonly inhibitAny?: bigint;
}

/** `anyPolicy` (2.5.29.32.0). */
export const ANY_POLICY = "551d2000";

export function readPolicies(value: Buffer): string[] {
  const problem = "x509: invalid certificate policies";
  const der = new DerReader(value).sequence(problem);
  const policies: string[] = [];
  while (!der.isEmpty) {
    const id = der.sequence(problem).content(TAGS.identifier, problem);
    const policy = id.toString("hex");
    if (!isIdentifier(id) || policies.includes(policy)) throw new CertificateError(problem);
    policies.push(policy);
  }
  return policies;
}

/** Parts of any size, but none that begins with a needless byte or has no end. */
function isIdentifier(id: Buffer): boolean {
  const begins = (at: number) => at === 0 || id[at - 1]! < 0x80;
  return id.length > 0 && id.at(-1)! < 0x80 && !id.some((byte, at) => byte === 0x80 && begins(at));
}

export function readPolicyMappings(value: Buffer): PolicyRules["mappings"] {
  const problem = "x509: invalid policy mappings extension";
  const der = new DerReader(value).sequence(problem);
  const mappings: { issuer: string; subject: string }[] = [];
  while (!der.isEmpty) {
    const pair = der.sequence(problem);
    const [issuer, subject] = [pair.content(TAGS.identifier, problem), pair.content(TAGS.identifier, problem)];
    mappings.push({ issuer: issuer.toString("hex"), subject: subject.toString("hex") });
  }
  return mappings;
}

export function readPolicyConstraints(value: Buffer): Pick<PolicyRules, "requireExplicitPolicy" | "inhibitMapping"> {
  const problem = "x509: invalid policy constraints extension";
  const der = new DerReader(value).sequence(problem);
  const requireExplicitPolicy = der.isNext(field(0)) ? der.int(problem, field(0)) : -1n;
  const inhibitMapping = der.isNext(field(1)) ? der.int(problem, field(1)) : -1n;
  return {
    ...(requireExplicitPolicy >= 0n && { requireExplicitPolicy }),
    ...(inhibitMapping >= 0n && { inhibitMapping }),
  };
}

export function readInhibitAnyPolicy(value: Buffer): Pick<PolicyRules, "inhibitAny"> {
  const inhibitAny = new DerReader(value).int("x509: invalid inhibit any policy extension");
  return inhibitAny >= 0n ? { inhibitAny } : {};
}
