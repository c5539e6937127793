import type { PolicyRule } from "@konverge/kinds";

/** How far a power reaches in the hands of an attacker. */
export type Reach = "cluster" | "secrets" | "workloads" | "data";

/** What a permission lets an attacker with the credentials of its holder do. */
export interface Power {
  readonly reach: Reach;
  /** What could be done, as a clause: `read all Secrets`. */
  readonly could: string;
  /** The permissions that give it: verbs and resource. */
  readonly by: string;
  readonly resource: string;
  /** Only objects of these names. */
  readonly names: readonly string[];
  readonly rule: PolicyRule;
}

interface KnownPower {
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly string[];
  readonly reach: Reach;
  readonly could: string;
}

const WRITE = ["create", "update", "patch"];
const READ = ["get", "list", "watch"];
const RBAC = "rbac.authorization.k8s.io";
const ADMISSION = "admissionregistration.k8s.io";

const workload = (group: string, resource: string, verbs = WRITE): KnownPower => ({
  group,
  resource,
  verbs,
  reach: "cluster",
  could:
    "run pods of any image, with any service account of their namespace and with the Secrets that they name, as far as Pod Security admits them",
});

const routing = (group: string, resource: string): KnownPower => ({
  group,
  resource,
  verbs: [...WRITE, "delete"],
  reach: "data",
  could: "redirect or cut the traffic of other workloads",
});

/** What is known to escalate: the list of Kubernetes' "RBAC good practices", and what operators here hold besides. */
const KNOWN: readonly KnownPower[] = [
  { group: "", resource: "secrets", verbs: ["list", "watch"], reach: "secrets", could: "read all Secrets" },
  { group: "", resource: "secrets", verbs: ["get"], reach: "secrets", could: "read Secrets whose names are known" },
  {
    group: "",
    resource: "secrets",
    verbs: WRITE,
    reach: "secrets",
    could: "replace credentials, and together with reading request a token of any service account of a namespace",
  },
  { group: "", resource: "pods/exec", verbs: ["get", "create"], reach: "cluster", could: "run commands in every pod" },
  { group: "", resource: "pods/attach", verbs: ["get", "create"], reach: "cluster", could: "attach to every pod" },
  {
    group: "",
    resource: "pods/ephemeralcontainers",
    verbs: ["update", "patch"],
    reach: "cluster",
    could: "add containers to every pod",
  },
  workload("", "pods", ["create"]),
  {
    group: "",
    resource: "pods",
    verbs: ["update", "patch"],
    reach: "cluster",
    could: "replace the images of running pods",
  },
  workload("", "replicationcontrollers"),
  ...["deployments", "statefulsets", "daemonsets", "replicasets"].map((one) => workload("apps", one)),
  ...["jobs", "cronjobs"].map((one) => workload("batch", one)),
  workload("leaderworkerset.x-k8s.io", "leaderworkersets"),
  workload("jobset.x-k8s.io", "jobsets"),
  {
    group: "",
    resource: "serviceaccounts/token",
    verbs: ["create"],
    reach: "cluster",
    could: "act as any service account",
  },
  ...["users", "groups", "serviceaccounts"].map(
    (resource): KnownPower => ({
      group: "",
      resource,
      verbs: ["impersonate"],
      reach: "cluster",
      could: "act as other accounts",
    }),
  ),
  ...["roles", "clusterroles"].flatMap((resource): KnownPower[] => [
    {
      group: RBAC,
      resource,
      verbs: ["escalate", "bind"],
      reach: "cluster",
      could: "grant permissions that it does not have",
    },
    { group: RBAC, resource, verbs: WRITE, reach: "workloads", could: "grant its own permissions to other accounts" },
  ]),
  ...["rolebindings", "clusterrolebindings"].map(
    (resource): KnownPower => ({
      group: RBAC,
      resource,
      verbs: WRITE,
      reach: "workloads",
      could: "grant its own permissions to other accounts",
    }),
  ),
  ...["mutatingwebhookconfigurations", "validatingwebhookconfigurations"].map(
    (resource): KnownPower => ({
      group: ADMISSION,
      resource,
      verbs: WRITE,
      reach: "cluster",
      could: "register itself for every kind, and read and change every write of the cluster",
    }),
  ),
  {
    group: "apiextensions.k8s.io",
    resource: "customresourcedefinitions",
    verbs: WRITE,
    reach: "data",
    could: "change kinds, and have their objects converted elsewhere",
  },
  {
    group: "apiregistration.k8s.io",
    resource: "apiservices",
    verbs: WRITE,
    reach: "cluster",
    could: "serve APIs of the cluster, and receive their requests",
  },
  {
    group: "certificates.k8s.io",
    resource: "certificatesigningrequests/approval",
    verbs: ["update", "patch"],
    reach: "cluster",
    could: "issue client certificates",
  },
  {
    group: "certificates.k8s.io",
    resource: "signers",
    verbs: ["approve", "sign"],
    reach: "cluster",
    could: "issue client certificates",
  },
  { group: "", resource: "nodes", verbs: [...WRITE, "delete"], reach: "workloads", could: "move pods between nodes" },
  {
    group: "",
    resource: "nodes/proxy",
    verbs: ["get", "create"],
    reach: "cluster",
    could: "use the API of every kubelet",
  },
  {
    group: "",
    resource: "namespaces",
    verbs: ["update", "patch"],
    reach: "workloads",
    could: "lift Pod Security, which labels of namespaces enforce",
  },
  { group: "", resource: "persistentvolumes", verbs: ["create"], reach: "cluster", could: "mount folders of nodes" },
  { group: "", resource: "pods/log", verbs: ["get"], reach: "data", could: "read the logs of every pod" },
  { group: "", resource: "pods", verbs: ["delete"], reach: "workloads", could: "stop every pod" },
  {
    group: "",
    resource: "configmaps",
    verbs: WRITE,
    reach: "workloads",
    could: "change the configuration of other workloads",
  },
  { group: "", resource: "persistentvolumeclaims", verbs: ["delete"], reach: "data", could: "delete volumes" },
  routing("", "services"),
  routing("networking.k8s.io", "ingresses"),
  routing("gateway.networking.k8s.io", "httproutes"),
  routing("gateway.networking.k8s.io", "grpcroutes"),
  routing("networking.istio.io", "virtualservices"),
  routing("networking.istio.io", "destinationrules"),
  routing("getambassador.io", "mappings"),
  {
    group: "",
    resource: "configmaps",
    verbs: READ,
    reach: "data",
    could: "read the configuration of other workloads",
  },
];

/** What rules let an attacker do, the most serious first. */
export function powersOf(rules: readonly PolicyRule[]): Power[] {
  const found = KNOWN.flatMap((known) => rules.flatMap((rule) => powerOf(known, rule)));
  return found.sort((a, b) => REACHES.indexOf(a.reach) - REACHES.indexOf(b.reach));
}

export const REACHES: readonly Reach[] = ["cluster", "secrets", "workloads", "data"];

function powerOf({ group, resource, verbs, reach, could }: KnownPower, rule: PolicyRule): Power[] {
  const { apiGroups = [], resources = [], resourceNames: names = [] } = rule;
  const matches = (all: readonly string[], one: string) => all.includes(one) || all.includes("*");
  if (!matches(apiGroups, group) || !matches(resources, resource)) return [];
  const held = verbs.filter((verb) => matches(rule.verbs, verb));
  if (held.length === 0) return [];
  // The reason is that of the resource alone, not of others that the rule has, too.
  return [
    { reach, could, by: `${held.join(", ")} ${resource}`, resource, names, rule: { ...rule, resources: [resource] } },
  ];
}
