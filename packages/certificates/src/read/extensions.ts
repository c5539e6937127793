import { CertificateError } from "../certificate-error.ts";
import { DerReader, field, fieldOf, TAGS } from "../der/read.ts";
import {
  AUTHORITY_INFO_ACCESS,
  AUTHORITY_KEY_ID,
  BASIC_CONSTRAINTS,
  CERTIFICATE_POLICIES,
  CRL_DISTRIBUTION_POINTS,
  EXTENDED_KEY_USAGE,
  INHIBIT_ANY_POLICY,
  KEY_USAGE,
  NAME_CONSTRAINTS,
  POLICY_CONSTRAINTS,
  POLICY_MAPPINGS,
  SUBJECT_ALTERNATIVE_NAME,
  SUBJECT_KEY_ID,
} from "../identifiers.ts";
import { type AlternativeNames, NO_NAMES, readAlternativeNames } from "./alternative-names.ts";
import { type NameConstraints, readNameConstraints } from "./name-constraints.ts";
import {
  type PolicyRules,
  readInhibitAnyPolicy,
  readPolicies,
  readPolicyConstraints,
  readPolicyMappings,
} from "./policies.ts";

/** An extension as it is written. */
export interface Extension {
  readonly id: string;
  readonly isCritical: boolean;
  readonly value: Buffer;
}

/** What the extensions of a certificate say. */
export interface ExtensionFacts {
  /** The bits that are set, counted from the left; undefined: none, so that the key may be used for everything. */
  readonly keyUsage: ReadonlySet<number> | undefined;
  /** Whether it is an authority, and how many authorities may follow it. Undefined: it does not say. */
  readonly basicConstraints: { readonly isCa: boolean; readonly pathLength: bigint | undefined } | undefined;
  readonly names: AlternativeNames;
  readonly constraints: NameConstraints | undefined;
  /** Its extended key usages. */
  readonly purposes: readonly string[];
  readonly subjectKeyId: Buffer | undefined;
  readonly authorityKeyId: Buffer | undefined;
  readonly policies: PolicyRules;
  /** Critical extensions that are not understood. */
  readonly unhandled: readonly string[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Reads the list of extensions, without their meaning. */
export function readExtensions(list: DerReader): Extension[] {
  const extensions: Extension[] = [];
  while (!list.isEmpty) {
    const der = list.sequence("x509: malformed extension");
    const id = der.identifier("x509: malformed extension OID field");
    const isCritical = der.isNext(TAGS.boolean) && der.boolean("x509: malformed extension critical field");
    const value = der.content(TAGS.octetString, "x509: malformed extension value field");
    if (extensions.some((one) => one.id === id)) {
      throw new CertificateError(`x509: certificate contains duplicate extension with OID "${id}"`);
    }
    extensions.push({ id, isCritical, value });
  }
  return extensions;
}

/** What extensions mean; throws when one that is understood is malformed. */
export function meaningOf(extensions: readonly Extension[]): ExtensionFacts {
  const unhandled: string[] = [];
  const facts: Mutable<ExtensionFacts> = {
    keyUsage: undefined,
    basicConstraints: undefined,
    names: NO_NAMES,
    constraints: undefined,
    purposes: [],
    subjectKeyId: undefined,
    authorityKeyId: undefined,
    policies: { policies: [], mappings: [] },
    unhandled,
  };
  for (const extension of extensions) {
    const isHandled = addTo(facts, extension);
    if (extension.isCritical && !isHandled) unhandled.push(extension.id);
  }
  return facts;
}

/** Adds what one extension says; whether all of it is understood. */
function addTo(facts: Mutable<ExtensionFacts>, { id, isCritical, value }: Extension): boolean {
  const notCritical = (what: string) => {
    if (isCritical) throw new CertificateError(`x509: ${what} incorrectly marked critical`);
  };
  switch (id) {
    case KEY_USAGE:
      facts.keyUsage = keyUsageIn(value);
      return true;
    case BASIC_CONSTRAINTS:
      facts.basicConstraints = basicConstraintsIn(value);
      return true;
    case SUBJECT_ALTERNATIVE_NAME: {
      const names = readAlternativeNames(value);
      facts.names = names;
      return names.dns.length + names.emails.length + names.addresses.length + names.uris.length > 0;
    }
    case NAME_CONSTRAINTS:
      facts.constraints = readNameConstraints(value);
      return !facts.constraints.isPartial;
    case CRL_DISTRIBUTION_POINTS:
      checkDistributionPoints(value);
      return true;
    case AUTHORITY_KEY_ID:
      notCritical("authority key identifier");
      facts.authorityKeyId = authorityKeyIn(value);
      return true;
    case SUBJECT_KEY_ID:
      notCritical("subject key identifier");
      facts.subjectKeyId = new DerReader(value).content(TAGS.octetString, "x509: invalid subject key identifier");
      return true;
    case EXTENDED_KEY_USAGE:
      facts.purposes = purposesIn(value);
      return true;
    case CERTIFICATE_POLICIES:
      facts.policies = { ...facts.policies, policies: readPolicies(value) };
      return true;
    case POLICY_MAPPINGS:
      facts.policies = { ...facts.policies, mappings: readPolicyMappings(value) };
      return true;
    case POLICY_CONSTRAINTS:
      facts.policies = { ...facts.policies, ...readPolicyConstraints(value) };
      return true;
    case INHIBIT_ANY_POLICY:
      facts.policies = { ...facts.policies, ...readInhibitAnyPolicy(value) };
      return true;
    case AUTHORITY_INFO_ACCESS:
      notCritical("authority info access");
      checkInfoAccess(value);
      return true;
    default:
      return false;
  }
}

function keyUsageIn(value: Buffer): ReadonlySet<number> | undefined {
  const bytes = new DerReader(value).bitString("x509: invalid key usage");
  const bits = [0, 1, 2, 3, 4, 5, 6, 7, 8].filter((bit) => ((bytes[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0);
  return bits.length > 0 ? new Set(bits) : undefined;
}

function basicConstraintsIn(value: Buffer): ExtensionFacts["basicConstraints"] {
  const problem = "x509: invalid basic constraints";
  const der = new DerReader(value).sequence(problem);
  const isCa = der.isNext(TAGS.boolean) && der.boolean(problem);
  const pathLength = der.isNext(TAGS.integer) ? der.int(problem) : undefined;
  if (pathLength !== undefined && pathLength < 0n) throw new CertificateError(problem);
  return { isCa, pathLength };
}

function authorityKeyIn(value: Buffer): Buffer | undefined {
  const problem = "x509: invalid authority key identifier";
  const der = new DerReader(value).sequence(problem);
  return der.isNext(field(0)) ? der.content(field(0), problem) : undefined;
}

function purposesIn(value: Buffer): string[] {
  const problem = "x509: invalid extended key usages";
  const der = new DerReader(value).sequence(problem);
  const purposes: string[] = [];
  while (!der.isEmpty) purposes.push(der.identifier(problem));
  return purposes;
}

/** Nothing is done with them, but they have to be well formed. */
function checkDistributionPoints(value: Buffer): void {
  const problem = "x509: invalid CRL distribution point";
  const points = new DerReader(value).sequence(`${problem}s`);
  while (!points.isEmpty) {
    const name = points.sequence(problem).optional(fieldOf(0), problem)?.inside(fieldOf(0), problem);
    while (name?.isNext(field(6))) name.content(field(6), problem);
  }
}

function checkInfoAccess(value: Buffer): void {
  const problem = "x509: invalid authority info access";
  const list = new DerReader(value).sequence(problem);
  while (!list.isEmpty) {
    const access = list.sequence(problem);
    access.identifier(problem);
    if (access.isNext(field(6))) access.content(field(6), problem);
  }
}
