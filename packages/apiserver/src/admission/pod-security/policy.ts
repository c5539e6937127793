import type { FieldError } from "@konverge/core";
import { invalidValue } from "@konverge/schema";

export const PREFIX = "pod-security.kubernetes.io/";

/** From the most lenient to the strictest. */
const LEVELS = ["privileged", "baseline", "restricted"] as const;
export type Level = (typeof LEVELS)[number];
const MODES = ["enforce", "audit", "warn"] as const;

/** A level as a minor version of Kubernetes 1 defines it. */
export interface LevelVersion {
  readonly level: Level;
  readonly version: number | "latest";
}

/** What a namespace's labels say about its pods. */
export type Policy = Readonly<Record<(typeof MODES)[number], LevelVersion>> & {
  readonly errors: readonly FieldError[];
};

const PRIVILEGED: LevelVersion = { level: "privileged", version: "latest" };

/**
 * A label that cannot be read counts as the strictest level, and the latest version, for what is enforced, but as
 * privileged for warnings and the audit log. Clients are warned of what is enforced unless a label says otherwise.
 */
export function policyOf(labels: Readonly<Record<string, string>>): Policy {
  const errors: FieldError[] = [];
  const read = (mode: (typeof MODES)[number]): LevelVersion => {
    const level = labels[PREFIX + mode];
    const version = labels[`${PREFIX}${mode}-version`];
    const isKnown = level === undefined || isLevel(level);
    const number = version === undefined || version === "latest" ? "latest" : minorOf(version);
    const wrong = (label: string, value: string, detail: string) =>
      errors.push(invalidValue(`metadata.labels[${label}]`, value, detail));
    if (!isKnown) wrong(PREFIX + mode, level, `must be one of ${LEVELS.join(", ")}`);
    if (number === undefined) wrong(`${PREFIX}${mode}-version`, version!, 'must be "latest" or "v1.x"');
    const fallback = mode === "enforce" ? "restricted" : "privileged";
    return { level: isKnown ? (level ?? "privileged") : fallback, version: number ?? "latest" };
  };
  const [enforce, audit, warn] = [read("enforce"), read("audit"), read("warn")];
  const follows = labels[`${PREFIX}warn`] === undefined && isLevel(labels[`${PREFIX}enforce`] ?? "");
  if (!follows || enforce.level === "privileged") return { enforce, audit, warn, errors };
  const version = labels[`${PREFIX}warn-version`] === undefined ? enforce.version : warn.version;
  return { enforce, audit, warn: { level: enforce.level, version }, errors };
}

export function isPrivileged({ enforce, audit, warn, errors }: Policy): boolean {
  return errors.length === 0 && [enforce, audit, warn].every(({ level }) => level === PRIVILEGED.level);
}

export const isStricter = (one: Level, other: Level) => LEVELS.indexOf(one) > LEVELS.indexOf(other);
export const isSame = (one: LevelVersion, other: LevelVersion) =>
  one.level === other.level && one.version === other.version;

export function levelText({ level, version }: LevelVersion): string {
  return `${level}:${version === "latest" ? version : `v1.${version}`}`;
}

function isLevel(text: string): text is Level {
  return (LEVELS as readonly string[]).includes(text);
}

function minorOf(version: string): number | undefined {
  const minor = /^v1\.(0|[1-9][0-9]*)$/.exec(version)?.[1];
  return minor === undefined || minor.length > 18 ? undefined : Number(minor);
}
