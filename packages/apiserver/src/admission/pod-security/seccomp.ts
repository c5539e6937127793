import { quoted } from "@konverge/core";
import {
  badSetters,
  type CheckPod,
  containersOf,
  distinct,
  type Holder,
  holdersOf,
  inherited,
  plural,
  quotedList,
} from "./check.ts";

const POD_ANNOTATION = "seccomp.security.alpha.kubernetes.io/pod";
const CONTAINER_ANNOTATION = "container.seccomp.security.alpha.kubernetes.io/";
const isAllowed = (profile: string) =>
  profile === "runtime/default" || profile === "docker/default" || profile.startsWith("localhost/");

/** How profiles were set before there was a field for them. */
export const seccompAnnotations: CheckPod = ({ annotations, spec }) => {
  const keys = [POD_ANNOTATION, ...containersOf(spec).map(({ name }) => CONTAINER_ANNOTATION + name)];
  const set = keys.flatMap((key) => (annotations[key] === undefined ? [] : [[key, annotations[key]] as const]));
  const bad = distinct(set.filter(([, value]) => !isAllowed(value)).map(([key, value]) => `${key}=${quoted(value)}`));
  if (bad.length === 0) return undefined;
  const detail = `forbidden ${plural("annotation", "annotations", bad)} ${bad.join(", ")}`;
  return { reason: "seccompProfile", detail };
};

/** Whether the profile set here confines the container; undefined if none is set. */
function confines(holder: Holder): boolean | undefined {
  const profile = holder?.seccompProfile;
  return profile && (profile.type === "RuntimeDefault" || profile.type === "Localhost");
}

function forbiddenProfile(who: string, holders: readonly Holder[]): string {
  const bad = holders.filter((holder) => confines(holder) === false);
  const types = distinct(bad.map((holder) => holder?.seccompProfile?.type ?? ""));
  return `${who} must not set securityContext.seccompProfile.type to ${quotedList(types)}`;
}

export const seccompBaseline: CheckPod = ({ spec }) => {
  const setters = badSetters(spec, (holder) => confines(holder) === false);
  return setters ? { reason: "seccompProfile", detail: forbiddenProfile(setters, holdersOf(spec)) } : undefined;
};

export const seccompRestricted = inherited(
  "seccompProfile",
  confines,
  (who, spec) => forbiddenProfile(who, holdersOf(spec)),
  (who) => `pod or ${who} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
);
