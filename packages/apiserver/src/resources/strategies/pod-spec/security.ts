import type { FieldError } from "@konverge/core";
import { duplicate, forbidden, invalidValue, required, tooLong } from "@konverge/schema";
import type { Container, PodSecurityContext, PodSpec, SecurityContext } from "../../../codec/objects.ts";
import { MAX_INT32, oneOf, optionallyOneOf, within } from "./checks.ts";
import { descendingErrors } from "./paths.ts";

/** What is wrong with a container's security context. */
export function securityContextErrors(context: SecurityContext | undefined, field: string): FieldError[] {
  if (!context) return [];
  const errors = [
    ...within(`${field}.runAsUser`, context.runAsUser, 0, MAX_INT32),
    ...within(`${field}.runAsGroup`, context.runAsGroup, 0, MAX_INT32),
  ];
  const { capabilities, allowPrivilegeEscalation, privileged } = context;
  if (allowPrivilegeEscalation === false) {
    const wrong = (detail: string) => errors.push(invalidValue(field, context, detail));
    if (privileged) wrong("cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
    if (capabilities?.add?.includes("CAP_SYS_ADMIN")) {
      wrong("cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
    }
  }
  return [
    ...errors,
    ...seccompErrors(context.seccompProfile, `${field}.seccompProfile`),
    ...appArmorErrors(context.appArmorProfile, `${field}.appArmorProfile`),
  ];
}

/** A container sees all of the node's /proc only where its users are not those of the node. */
export function procMountErrors(spec: PodSpec, field: string): FieldError[] {
  return (["containers", "initContainers", "ephemeralContainers"] as const).flatMap((list) =>
    ((spec[list] ?? []) as Container[]).flatMap(({ securityContext }, index) => {
      const at = `${field}.${list}[${index}].securityContext.procMount`;
      const value = securityContext?.procMount;
      const isShared = value === "Unmasked" && spec.hostUsers !== false;
      return [
        ...optionallyOneOf(at, value, ["Default", "Unmasked"]),
        ...(isShared ? [invalidValue(at, value, "`hostUsers` must be false to use `Unmasked`")] : []),
      ];
    }),
  );
}

/** What is wrong with a pod's security context. */
export function podSecurityErrors(context: PodSecurityContext | undefined, field: string): FieldError[] {
  if (!context) return [];
  return [
    ...within(`${field}.fsGroup`, context.fsGroup, 0, MAX_INT32),
    ...within(`${field}.runAsUser`, context.runAsUser, 0, MAX_INT32),
    ...within(`${field}.runAsGroup`, context.runAsGroup, 0, MAX_INT32),
    ...(context.supplementalGroups ?? []).flatMap((group, index) =>
      within(`${field}.supplementalGroups[${index}]`, group, 0, MAX_INT32),
    ),
    ...seccompErrors(context.seccompProfile, `${field}.seccompProfile`),
    ...appArmorErrors(context.appArmorProfile, `${field}.appArmorProfile`),
    ...sysctlErrors(context.sysctls ?? [], `${field}.sysctls`),
  ];
}

/** As error messages name it. */
const SYSCTL_TEXT = "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
const SYSCTL = new RegExp(SYSCTL_TEXT);
const LONGEST_SYSCTL = 253;

/** Kernel settings have names with dots or slashes; which of them a node allows is the node's affair. */
function sysctlErrors(settings: NonNullable<PodSecurityContext["sysctls"]>, field: string): FieldError[] {
  const listed = new Set<string>();
  return settings.flatMap(({ name = "" }, index) => {
    const at = `${field}[${index}].name`;
    if (name === "") return [required(at, "")];
    if (name.length > LONGEST_SYSCTL || !SYSCTL.test(name)) {
      return [invalidValue(at, name, `must have at most ${LONGEST_SYSCTL} characters and match regex ${SYSCTL_TEXT}`)];
    }
    if (listed.has(name)) return [duplicate(at, name)];
    listed.add(name);
    return [];
  });
}

/** The longest path that Linux takes, without its end. */
const LONGEST_PROFILE = 4095;

function appArmorErrors(profile: SecurityContext["appArmorProfile"], field: string): FieldError[] {
  if (!profile) return [];
  const { type = "", localhostProfile } = profile;
  const at = `${field}.localhostProfile`;
  if (type === "") return [required(`${field}.type`, "type is required when appArmorProfile is set")];
  if (type !== "Localhost") {
    const errors = oneOf(`${field}.type`, type, ["Localhost", "RuntimeDefault", "Unconfined"]);
    if (errors.length > 0 || localhostProfile === undefined) return errors;
    return [invalidValue(at, localhostProfile, "can only be set when AppArmor type is Localhost")];
  }
  if (!localhostProfile?.trim()) return [required(at, "must be set when AppArmor type is Localhost")];
  if (localhostProfile.trim() !== localhostProfile) {
    return [invalidValue(at, localhostProfile, "must not be padded with whitespace")];
  }
  return localhostProfile.length > LONGEST_PROFILE ? [tooLong(at, LONGEST_PROFILE)] : [];
}

function seccompErrors(profile: SecurityContext["seccompProfile"], field: string): FieldError[] {
  if (!profile) return [];
  const { type = "", localhostProfile } = profile;
  const types = ["Localhost", "RuntimeDefault", "Unconfined"];
  if (type === "") return [required(`${field}.type`, "type is required when seccompProfile is set")];
  if (!types.includes(type)) {
    const shown = types.map((one) => JSON.stringify(one)).join(", ");
    const message = `Unsupported value: ${JSON.stringify(type)}: supported values: ${shown}`;
    return [{ reason: "FieldValueNotSupported", field: `${field}.type`, message }];
  }
  if (type === "Localhost" && !localhostProfile) {
    return [required(`${field}.localhostProfile`, "must be set when seccomp type is Localhost")];
  }
  if (type === "Localhost") return descendingErrors(localhostProfile ?? "", `${field}.localhostProfile`);
  if (type !== "Localhost" && localhostProfile !== undefined) {
    return [forbidden(`${field}.localhostProfile`, "can only be set when seccomp type is Localhost")];
  }
  return [];
}
