import { quoted } from "@konverge/core";
import type { Container, PodSpec, Volume } from "../codec/objects.ts";

/** What a pod does that a level forbids: why, and where. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

type Check = (spec: PodSpec) => Violation | undefined;

const plural = (one: string, many: string, list: readonly unknown[]) => (list.length === 1 ? one : many);
const quotedList = (list: readonly string[]) => list.map(quoted).join(", ");

function containersOf(spec: PodSpec): Container[] {
  return [
    ...(spec.initContainers ?? []),
    ...(spec.containers ?? []),
    ...((spec.ephemeralContainers ?? []) as Container[]),
  ];
}

/** Names the containers that a rule finds fault with. */
function byContainer(reason: string, isBad: (container: Container) => boolean, detail: (who: string) => string): Check {
  return (spec) => {
    const bad = containersOf(spec).filter(isBad);
    if (bad.length === 0) return undefined;
    const who = `${plural("container", "containers", bad)} ${quotedList(bad.map(({ name }) => name))}`;
    return { reason, detail: detail(who) };
  };
}

const hostNamespaces: Check = (spec) => {
  const used = (["hostNetwork", "hostPID", "hostIPC"] as const).filter((name) => spec[name]);
  return used.length > 0
    ? { reason: "host namespaces", detail: used.map((name) => `${name}=true`).join(", ") }
    : undefined;
};

const hostPathVolumes: Check = ({ volumes = [] }) => {
  const names = volumes.filter(({ hostPath }) => hostPath).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return { reason: "hostPath volumes", detail: `${plural("volume", "volumes", names)} ${quotedList(names)}` };
};

const hostPorts: Check = (spec) => {
  const bad = containersOf(spec).filter(({ ports = [] }) => ports.some(({ hostPort }) => hostPort));
  if (bad.length === 0) return undefined;
  const ports = [...new Set(bad.flatMap(({ ports = [] }) => ports.flatMap(({ hostPort }) => hostPort || [])))];
  const who = `${plural("container", "containers", bad)} ${quotedList(bad.map(({ name }) => name))}`;
  const verb = plural("uses", "use", bad);
  const numbers = ports.sort((a, b) => a - b).join(", ");
  return { reason: "hostPort", detail: `${who} ${verb} ${plural("hostPort", "hostPorts", ports)} ${numbers}` };
};

const privileged = byContainer(
  "privileged",
  ({ securityContext }) => securityContext?.privileged === true,
  (who) => `${who} must not set securityContext.privileged=true`,
);

const ORDINARY = new Set(
  "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT".split(
    " ",
  ),
);

const ordinaryCapabilities: Check = (spec) => {
  const added = ({ securityContext }: Container) =>
    (securityContext?.capabilities?.add ?? []).filter((name) => !ORDINARY.has(name));
  const bad = containersOf(spec).filter((container) => added(container).length > 0);
  if (bad.length === 0) return undefined;
  const who = `${plural("container", "containers", bad)} ${quotedList(bad.map(({ name }) => name))}`;
  const names = quotedList([...new Set(bad.flatMap(added))].sort());
  return {
    reason: "non-default capabilities",
    detail: `${who} must not include ${names} in securityContext.capabilities.add`,
  };
};

const escalation = byContainer(
  "allowPrivilegeEscalation != false",
  ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false,
  (who) => `${who} must set securityContext.allowPrivilegeEscalation=false`,
);

const fewCapabilities: Check = (spec) => {
  const capabilities = ({ securityContext }: Container) => securityContext?.capabilities ?? {};
  const named = (list: Container[]) =>
    `${plural("container", "containers", list)} ${quotedList(list.map(({ name }) => name))}`;
  const keeping = containersOf(spec).filter((container) => !capabilities(container).drop?.includes("ALL"));
  const added = (container: Container) =>
    (capabilities(container).add ?? []).filter((name) => name !== "NET_BIND_SERVICE");
  const adding = containersOf(spec).filter((container) => added(container).length > 0);
  const details: string[] = [];
  if (keeping.length > 0) details.push(`${named(keeping)} must set securityContext.capabilities.drop=["ALL"]`);
  if (adding.length > 0) {
    const names = quotedList([...new Set(adding.flatMap(added))].sort());
    details.push(`${named(adding)} must not include ${names} in securityContext.capabilities.add`);
  }
  return details.length > 0 ? { reason: "unrestricted capabilities", detail: details.join("; ") } : undefined;
};

const FREE_VOLUMES = new Set(
  "configMap csi downwardAPI emptyDir ephemeral image persistentVolumeClaim projected secret".split(" "),
);

const volumeTypes: Check = ({ volumes = [] }) => {
  const typeOf = (volume: Volume) => Object.keys(volume).find((key) => key !== "name") ?? "unknown";
  const bad = volumes.filter((volume) => !FREE_VOLUMES.has(typeOf(volume)));
  if (bad.length === 0) return undefined;
  const types = [...new Set(bad.map(typeOf))].sort();
  const who = `${plural("volume", "volumes", bad)} ${quotedList(bad.map(({ name }) => name))}`;
  const what = plural("restricted volume type", "restricted volume types", types);
  return {
    reason: "restricted volume types",
    detail: `${who} ${plural("uses", "use", bad)} ${what} ${quotedList(types)}`,
  };
};

/** A setting that containers have from their pod unless they say otherwise. */
function inherited(
  reason: string,
  of: (holder: PodSpec["securityContext"] | Container["securityContext"]) => boolean | undefined,
  explicit: (who: string, spec: PodSpec) => string,
  missing: (who: string) => string,
): Check {
  return (spec) => {
    const ofPod = of(spec.securityContext);
    const containers = containersOf(spec);
    const bad = containers.filter(({ securityContext }) => of(securityContext) === false);
    const setters: string[] = [];
    if (ofPod === false) setters.push("pod");
    if (bad.length > 0) {
      setters.push(`${plural("container", "containers", bad)} ${quotedList(bad.map(({ name }) => name))}`);
    }
    if (setters.length > 0) return { reason, detail: explicit(setters.join(" and "), spec) };
    if (ofPod === true) return undefined;
    const open = containers.filter(({ securityContext }) => of(securityContext) === undefined);
    if (open.length === 0) return undefined;
    const who = `${plural("container", "containers", open)} ${quotedList(open.map(({ name }) => name))}`;
    return { reason, detail: missing(who) };
  };
}

const runAsNonRoot = inherited(
  "runAsNonRoot != true",
  (holder) => holder?.runAsNonRoot,
  (who) => `${who} must not set securityContext.runAsNonRoot=false`,
  (who) => `pod or ${who} must set securityContext.runAsNonRoot=true`,
);

const runAsUser: Check = (spec) => {
  const bad = containersOf(spec).filter(({ securityContext }) => securityContext?.runAsUser === 0);
  const setters: string[] = [];
  if (spec.securityContext?.runAsUser === 0) setters.push("pod");
  if (bad.length > 0) {
    setters.push(`${plural("container", "containers", bad)} ${quotedList(bad.map(({ name }) => name))}`);
  }
  return setters.length > 0
    ? { reason: "runAsUser=0", detail: `${setters.join(" and ")} must not set runAsUser=0` }
    : undefined;
};

const profileOf = (holder: PodSpec["securityContext"] | Container["securityContext"]) => holder?.seccompProfile?.type;

const seccomp = inherited(
  "seccompProfile",
  (holder) => {
    const type = profileOf(holder);
    return type === undefined ? undefined : type === "RuntimeDefault" || type === "Localhost";
  },
  (who, spec) => {
    const holders = [spec.securityContext, ...containersOf(spec).map(({ securityContext }) => securityContext)];
    const bad = holders
      .map(profileOf)
      .filter((type) => type !== undefined && !["RuntimeDefault", "Localhost"].includes(type));
    return `${who} must not set securityContext.seccompProfile.type to ${quotedList([...new Set(bad as string[])].sort())}`;
  },
  (who) => `pod or ${who} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
);

const BASELINE: readonly Check[] = [hostNamespaces, hostPorts, privileged];

/** What a level forbids of a pod, in the order in which a real server lists it. */
export function violations(level: string, spec: PodSpec): Violation[] {
  const checks =
    level === "baseline"
      ? [ordinaryCapabilities, hostNamespaces, hostPathVolumes, hostPorts, privileged]
      : level === "restricted"
        ? [...BASELINE, escalation, fewCapabilities, volumeTypes, runAsNonRoot, runAsUser, seccomp]
        : [];
  return checks.flatMap((check) => check(spec) ?? []);
}
