import { quoted } from "@konverge/core";
import type { Container, Lifecycle, Probe } from "../../codec/objects.ts";
import {
  badSetters,
  byContainer,
  type Check,
  type CheckedPod,
  type CheckPod,
  containersOf,
  distinct,
  except,
  hasUserNamespace,
  holdersOf,
  plural,
  quotedList,
} from "./check.ts";
import { seccompAnnotations, seccompBaseline } from "./seccomp.ts";

const PROFILE_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/";
const isProfile = (value: string) => value === "" || value === "runtime/default" || value.startsWith("localhost/");

const appArmor: CheckPod = ({ annotations, spec }) => {
  const types = holdersOf(spec).flatMap((holder) => holder?.appArmorProfile ?? []);
  const isForbidden = ({ type = "" }: { type?: string }) => type !== "RuntimeDefault" && type !== "Localhost";
  const forbidden = Object.entries(annotations)
    .filter(([key, value]) => key.startsWith(PROFILE_ANNOTATION) && !isProfile(value))
    .map(([key, value]) => `${key}=${quoted(value)}`);
  const values = [...distinct(types.filter(isForbidden).map(({ type = "" }) => type)), ...forbidden.sort()];
  const setters = badSetters(
    spec,
    (holder) => holder?.appArmorProfile !== undefined && isForbidden(holder.appArmorProfile),
  );
  const who = [setters, forbidden.length > 0 && plural("annotation", "annotations", forbidden)].filter(Boolean);
  if (who.length === 0) return undefined;
  return {
    reason: plural("forbidden AppArmor profile", "forbidden AppArmor profiles", values),
    detail: `${who.join(" and ")} must not set AppArmor profile type to ${quotedList(values)}`,
  };
};

const ORDINARY = new Set(
  "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT".split(
    " ",
  ),
);
const addedCapabilities = ({ securityContext }: Container) =>
  (securityContext?.capabilities?.add ?? []).filter((name) => !ORDINARY.has(name));

const capabilities = byContainer(
  "non-default capabilities",
  (container) => addedCapabilities(container).length > 0,
  (who, bad) =>
    `${who} must not include ${quotedList(distinct(bad.flatMap(addedCapabilities)))} in securityContext.capabilities.add`,
);

const hostNamespaces: CheckPod = ({ spec }) => {
  const used = (["hostNetwork", "hostPID", "hostIPC"] as const).filter((name) => spec[name]);
  if (used.length === 0) return undefined;
  return { reason: "host namespaces", detail: used.map((name) => `${name}=true`).join(", ") };
};

const hostPathVolumes: CheckPod = ({ spec: { volumes = [] } }) => {
  const names = volumes.filter(({ hostPath }) => hostPath).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return { reason: "hostPath volumes", detail: `${plural("volume", "volumes", names)} ${quotedList(names)}` };
};

const portsOf = ({ ports = [] }: Container) => ports.flatMap(({ hostPort }) => (hostPort ? [String(hostPort)] : []));

const hostPorts = byContainer(
  "hostPort",
  (container) => portsOf(container).length > 0,
  (who, bad) => {
    const ports = distinct(bad.flatMap(portsOf));
    return `${who} ${plural("uses", "use", bad)} ${plural("hostPort", "hostPorts", ports)} ${ports.join(", ")}`;
  },
);

/** The addresses, other than the pod's own, that a kubelet would contact for a container. */
function foreignHosts({ livenessProbe, readinessProbe, startupProbe, lifecycle }: Container): string[] {
  type Handler = Probe | Lifecycle["postStart"];
  const handlers: Handler[] = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop];
  return handlers
    .flatMap((handler) => [handler?.httpGet?.host, handler?.tcpSocket?.host])
    .filter((host) => !!host) as string[];
}

const probeHosts: CheckPod = ({ spec }) => {
  const bad = containersOf(spec).filter((container) => foreignHosts(container).length > 0);
  if (bad.length === 0) return undefined;
  const names = distinct(bad.map(({ name }) => name));
  const hosts = distinct(bad.flatMap(foreignHosts));
  const who = `${plural("container", "containers", names)} ${quotedList(names)} ${plural("uses", "use", names)}`;
  const what = plural("probe or lifecycle host", "probe or lifecycle hosts", hosts);
  return { reason: "probe or lifecycle host", detail: `${who} ${what} ${quotedList(hosts)}` };
};

const privileged = byContainer(
  "privileged",
  ({ securityContext }) => securityContext?.privileged === true,
  (who) => `${who} must not set securityContext.privileged=true`,
);

const procMountOf = ({ securityContext }: Container) => securityContext?.procMount ?? "Default";

export const procMount = byContainer(
  "procMount",
  (container) => procMountOf(container) !== "Default",
  (who, bad) => `${who} must not set securityContext.procMount to ${quotedList(distinct(bad.map(procMountOf)))}`,
);

const CONTAINER_TYPES = ["", "container_t", "container_init_t", "container_kvm_t"];

const seLinuxOptions =
  (types: readonly string[]): CheckPod =>
  ({ spec }) => {
    const setters = badSetters(spec, (holder) => {
      const { type = "", user, role } = holder?.seLinuxOptions ?? {};
      return !types.includes(type) || !!user || !!role;
    });
    if (!setters) return undefined;
    const all = holdersOf(spec).flatMap((holder) => holder?.seLinuxOptions ?? []);
    const bad = distinct(all.map(({ type = "" }) => type).filter((type) => !types.includes(type)));
    const problems = [
      ...(bad.length > 0 ? [`${plural("type", "types", bad)} ${quotedList(bad)}`] : []),
      ...(all.some(({ user }) => user) ? ["user may not be set"] : []),
      ...(all.some(({ role }) => role) ? ["role may not be set"] : []),
    ];
    const detail = `${setters} set forbidden securityContext.seLinuxOptions: ${problems.join("; ")}`;
    return { reason: "seLinuxOptions", detail };
  };

/** The kernel parameters that stay within a pod, by the minor version that first allows them. */
const SAFE_SYSCTLS: readonly { readonly since: number; readonly names: readonly string[] }[] = [
  {
    since: 0,
    names: [
      "kernel.shm_rmid_forced",
      "net.ipv4.ip_local_port_range",
      "net.ipv4.tcp_syncookies",
      "net.ipv4.ping_group_range",
      "net.ipv4.ip_unprivileged_port_start",
    ],
  },
  { since: 27, names: ["net.ipv4.ip_local_reserved_ports"] },
  {
    since: 29,
    names: [
      "net.ipv4.tcp_keepalive_time",
      "net.ipv4.tcp_fin_timeout",
      "net.ipv4.tcp_keepalive_intvl",
      "net.ipv4.tcp_keepalive_probes",
    ],
  },
  { since: 32, names: ["net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"] },
];

function sysctls(version: number): CheckPod {
  const safe = new Set(SAFE_SYSCTLS.flatMap(({ since, names }) => (since <= version ? names : [])));
  return ({ spec }) => {
    const bad = (spec.securityContext?.sysctls ?? []).map(({ name = "" }) => name).filter((name) => !safe.has(name));
    return bad.length > 0 ? { reason: "forbidden sysctls", detail: bad.join(", ") } : undefined;
  };
}

const windowsHostProcess: CheckPod = ({ spec }: CheckedPod) => {
  const setters = badSetters(spec, (holder) => holder?.windowsOptions?.hostProcess === true);
  if (!setters) return undefined;
  return { reason: "hostProcess", detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true` };
};

/** Known ways to reach the node. Sorted by id: problems are reported in this order. */
export const BASELINE: readonly Check[] = [
  { id: "appArmorProfile", versions: [{ since: 0, check: appArmor }] },
  { id: "capabilities_baseline", versions: [{ since: 0, check: capabilities }] },
  { id: "hostNamespaces", versions: [{ since: 0, check: hostNamespaces }] },
  { id: "hostPathVolumes", versions: [{ since: 0, check: hostPathVolumes }] },
  { id: "hostPorts", versions: [{ since: 0, check: hostPorts }] },
  { id: "hostProbesAndHostLifecycle", versions: [{ since: 34, check: probeHosts }] },
  { id: "privileged", versions: [{ since: 0, check: privileged }] },
  {
    id: "procMount",
    versions: [
      { since: 0, check: procMount },
      { since: 35, check: except(hasUserNamespace, procMount) },
    ],
  },
  {
    id: "seLinuxOptions",
    versions: [
      { since: 0, check: seLinuxOptions(CONTAINER_TYPES) },
      { since: 31, check: seLinuxOptions([...CONTAINER_TYPES, "container_engine_t"]) },
    ],
  },
  {
    id: "seccompProfile_baseline",
    versions: [
      { since: 0, check: seccompAnnotations },
      { since: 19, check: seccompBaseline },
    ],
  },
  { id: "sysctls", versions: SAFE_SYSCTLS.map(({ since }) => ({ since, check: sysctls(since) })) },
  { id: "windowsHostProcess", versions: [{ since: 0, check: windowsHostProcess }] },
];
