/** `semver()`: semantic versions, strictly as written or with Kubernetes' tolerance. */
import { exceeds64Bits, quoted } from "@konverge/core";
import type { Library } from "../types/declarations.ts";
import { CelError, compareStrings, noSuchOverload, Opaque, type Value } from "../values/values.ts";

type Identifier = bigint | string;

class Semver extends Opaque {
  readonly typeName = "kubernetes.Semver";
  readonly numbers: readonly [major: bigint, minor: bigint, patch: bigint];
  readonly pre: readonly Identifier[];
  readonly build: readonly string[];

  constructor(numbers: readonly [bigint, bigint, bigint], pre: readonly Identifier[], build: readonly string[]) {
    super();
    this.numbers = numbers;
    this.pre = pre;
    this.build = build;
  }

  equal(other: Value): Value {
    return other instanceof Semver ? this.compare(other) === 0 : noSuchOverload(other);
  }

  compare(other: Semver): number {
    for (const i of [0, 1, 2]) {
      const [mine, theirs] = [this.numbers[i]!, other.numbers[i]!];
      if (mine !== theirs) return mine > theirs ? 1 : -1;
    }
    if (this.pre.length === 0 || other.pre.length === 0) return Math.sign(other.pre.length - this.pre.length);
    for (let i = 0; i < Math.min(this.pre.length, other.pre.length); i++) {
      const order = compareIdentifiers(this.pre[i]!, other.pre[i]!);
      if (order !== 0) return order;
    }
    return Math.sign(this.pre.length - other.pre.length);
  }

  override toString(): string {
    const pre = this.pre.length === 0 ? "" : `-${this.pre.join(".")}`;
    return `${this.numbers.join(".")}${pre}${this.build.length === 0 ? "" : `+${this.build.join(".")}`}`;
  }
}

/** Numbers come before words. */
function compareIdentifiers(a: Identifier, b: Identifier): number {
  if (typeof a === "bigint" && typeof b === "bigint") return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === "string" && typeof b === "string") return compareStrings(a, b);
  return typeof a === "bigint" ? -1 : 1;
}

const UINT_MAX = 2n ** 64n - 1n;

/** Splits at the first `most - 1` separators only. */
function splitAtMost(text: string, separator: string, most: number): string[] {
  const parts = text.split(separator);
  return parts.length <= most ? parts : [...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)];
}

class Malformed extends Error {}

function parse(text: string): Semver {
  if (text === "") throw new Malformed("Version string empty");
  const parts = splitAtMost(text, ".", 3);
  if (parts.length !== 3) throw new Malformed("No Major.Minor.Patch elements found");
  const [major, minor] = [numberOf(parts[0]!, "Major"), numberOf(parts[1]!, "Minor")];
  const [beforeBuild, build] = cut(parts[2]!, "+");
  const [patchText, pre] = cut(beforeBuild, "-");
  const patch = numberOf(patchText, "Patch");
  const identifiers = pre === undefined ? [] : pre.split(".").map(identifierOf);
  const builds = build === undefined ? [] : build.split(".");
  for (const part of builds) {
    if (part === "") throw new Malformed("Build meta data is empty");
    if (!/^[0-9A-Za-z-]+$/.test(part))
      throw new Malformed(`Invalid character(s) found in build meta data ${quoted(part)}`);
  }
  return new Semver([major, minor, patch], identifiers, builds);
}

function cut(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function numberOf(text: string, part: string): bigint {
  if (!/^[0-9]*$/.test(text))
    throw new Malformed(`Invalid character(s) found in ${part.toLowerCase()} number ${quoted(text)}`);
  if (/^0./.test(text)) throw new Malformed(`${part} number must not contain leading zeroes ${quoted(text)}`);
  return unsigned(text);
}

function unsigned(text: string): bigint {
  if (text === "") throw new Malformed('strconv.ParseUint: parsing "": invalid syntax');
  if (exceeds64Bits(text) || BigInt(text) > UINT_MAX)
    throw new Malformed(`strconv.ParseUint: parsing ${quoted(text)}: value out of range`);
  return BigInt(text);
}

function identifierOf(text: string): Identifier {
  if (text === "") throw new Malformed("Prerelease is empty");
  if (!/^[0-9]+$/.test(text)) {
    if (!/^[0-9A-Za-z-]+$/.test(text)) throw new Malformed(`Invalid character(s) found in prerelease ${quoted(text)}`);
    return text;
  }
  if (/^0./.test(text))
    throw new Malformed(`Numeric PreRelease version must not contain leading zeroes ${quoted(text)}`);
  return unsigned(text);
}

/** Without a `v` in front and leading zeros, and with the numbers that were left out. */
function normalize(text: string): string {
  const parts = splitAtMost(text.replace(/^v/, ""), ".", 3).map((part) => {
    if (part.length <= 1) return part;
    const trimmed = part.replace(/^0+/, "");
    return /^[0-9]/.test(trimmed) ? trimmed : `0${trimmed}`;
  });
  if (parts.length < 3 && /[+-]/.test(parts.at(-1)!))
    throw new Malformed("short version cannot contain PreRelease/Build meta data");
  while (parts.length < 3) parts.push("0");
  return parts.join(".");
}

/** A version of its text. */
export function toSemver(text: string, isTolerant = false): Value {
  try {
    return parse(isTolerant ? normalize(text) : text);
  } catch (error) {
    if (error instanceof Malformed) return new CelError(error.message);
    throw error;
  }
}

const isSemver = (text: string, isTolerant?: boolean) => !(toSemver(text, isTolerant) instanceof CelError);
const component = (i: 0 | 1 | 2) => (version: Semver) => BigInt.asIntN(64, version.numbers[i]);

/** Kubernetes' functions of semantic versions. */
export const semver: Library = {
  overloads: [
    ["string_to_semver", "semver(string): kubernetes.Semver", (text: string) => toSemver(text)],
    ["string_bool_to_semver", "semver(string, bool): kubernetes.Semver", toSemver],
    ["is_semver_string", "isSemver(string): bool", (text: string) => isSemver(text)],
    ["is_semver_string_bool", "isSemver(string, bool): bool", isSemver],
    [
      "semver_is_greater_than",
      "kubernetes.Semver.isGreaterThan(kubernetes.Semver): bool",
      (a: Semver, b: Semver) => a.compare(b) > 0,
    ],
    [
      "semver_is_less_than",
      "kubernetes.Semver.isLessThan(kubernetes.Semver): bool",
      (a: Semver, b: Semver) => a.compare(b) < 0,
    ],
    [
      "semver_compare_to",
      "kubernetes.Semver.compareTo(kubernetes.Semver): int",
      (a: Semver, b: Semver) => BigInt(a.compare(b)),
    ],
    ["semver_major", "kubernetes.Semver.major(): int", component(0)],
    ["semver_minor", "kubernetes.Semver.minor(): int", component(1)],
    ["semver_patch", "kubernetes.Semver.patch(): int", component(2)],
  ],
};
