import type { Container, Volume } from "../../codec/objects.ts";
import { procMount } from "./baseline-checks.ts";
import {
  badSetters,
  byContainer,
  type Check,
  type CheckPod,
  containersOf,
  distinct,
  except,
  hasUserNamespace,
  inherited,
  isWindows,
  named,
  plural,
  quotedList,
} from "./check.ts";
import { seccompRestricted } from "./seccomp.ts";

const privilegeEscalation = byContainer(
  "allowPrivilegeEscalation != false",
  ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false,
  (who) => `${who} must set securityContext.allowPrivilegeEscalation=false`,
);

const capabilities: CheckPod = ({ spec }) => {
  const added = ({ securityContext }: Container) =>
    (securityContext?.capabilities?.add ?? []).filter((name) => name !== "NET_BIND_SERVICE");
  const containers = containersOf(spec);
  const keeping = containers.filter(({ securityContext }) => !securityContext?.capabilities?.drop?.includes("ALL"));
  const adding = containers.filter((container) => added(container).length > 0);
  const details: string[] = [];
  if (keeping.length > 0) details.push(`${named(keeping)} must set securityContext.capabilities.drop=["ALL"]`);
  if (adding.length > 0) {
    const names = quotedList(distinct(adding.flatMap(added)));
    details.push(`${named(adding)} must not include ${names} in securityContext.capabilities.add`);
  }
  return details.length > 0 ? { reason: "unrestricted capabilities", detail: details.join("; ") } : undefined;
};

const ALLOWED_VOLUMES =
  "configMap csi downwardAPI emptyDir ephemeral image persistentVolumeClaim projected secret".split(
    " ",
  ) as (keyof Volume)[];

const volumeTypes: CheckPod = ({ spec: { volumes = [] } }) => {
  const typeOf = (volume: Volume) => Object.keys(volume).find((key) => key !== "name") ?? "unknown";
  const bad = volumes.filter((volume) => !ALLOWED_VOLUMES.some((type) => volume[type]));
  if (bad.length === 0) return undefined;
  const types = distinct(bad.map(typeOf));
  const who = `${plural("volume", "volumes", bad)} ${quotedList(bad.map(({ name }) => name))}`;
  const what = plural("restricted volume type", "restricted volume types", types);
  const detail = `${who} ${plural("uses", "use", bad)} ${what} ${quotedList(types)}`;
  return { reason: "restricted volume types", detail };
};

const runAsNonRoot = inherited(
  "runAsNonRoot != true",
  (holder) => holder?.runAsNonRoot,
  (who) => `${who} must not set securityContext.runAsNonRoot=false`,
  (who) => `pod or ${who} must set securityContext.runAsNonRoot=true`,
);

const runAsUser: CheckPod = ({ spec }) => {
  const setters = badSetters(spec, (holder) => holder?.runAsUser === 0);
  return setters ? { reason: "runAsUser=0", detail: `${setters} must not set runAsUser=0` } : undefined;
};

/** What a hardened pod does without, beyond the baseline. Sorted by id: problems are reported in this order. */
export const RESTRICTED: readonly Check[] = [
  {
    id: "allowPrivilegeEscalation",
    versions: [
      { since: 8, check: privilegeEscalation },
      { since: 25, check: except(isWindows, privilegeEscalation) },
    ],
  },
  {
    id: "capabilities_restricted",
    versions: [
      { since: 22, check: capabilities },
      { since: 25, check: except(isWindows, capabilities) },
    ],
    overrides: "capabilities_baseline",
  },
  // The baseline is more lenient with pods that have a user namespace from 1.35 on.
  { id: "procMount_restricted", versions: [{ since: 35, check: procMount }], overrides: "procMount" },
  { id: "restrictedVolumes", versions: [{ since: 0, check: volumeTypes }], overrides: "hostPathVolumes" },
  {
    id: "runAsNonRoot",
    versions: [
      { since: 0, check: runAsNonRoot },
      { since: 35, check: except(hasUserNamespace, runAsNonRoot) },
    ],
  },
  {
    id: "runAsUser",
    versions: [
      { since: 23, check: runAsUser },
      { since: 35, check: except(hasUserNamespace, runAsUser) },
    ],
  },
  {
    id: "seccompProfile_restricted",
    versions: [
      { since: 19, check: seccompRestricted },
      { since: 25, check: except(isWindows, seccompRestricted) },
    ],
    overrides: "seccompProfile_baseline",
  },
];
