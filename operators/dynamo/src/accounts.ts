import { permission } from "konverge";
import { EndpointSlice, Endpoints, Pod, Role, RoleBinding, ServiceAccount } from "konverge/kinds";
import { truncatedName } from "konverge/objects";
import { DynamoComponentDeployment } from "./component-deployment.ts";
import { DynamoGraphDeployment } from "./graph-deployment.ts";
import { InferencePool } from "./inference-pool.ts";
import { type ComponentType, GRAPH, typeOf } from "./names.ts";
import type { Service } from "./service-spec.ts";
import { DynamoWorkerMetadata } from "./worker-metadata.ts";

type Rules = readonly {
  readonly apiGroups: string[];
  readonly resources: string[];
  readonly verbs: readonly string[];
}[];

/** What a component does in the API server: find others and report itself, scale a graph, or pick endpoints. */
type Task = "discovery" | "planner" | "epp";

const READ = ["get", "list", "watch"] as const;

/** By which components find each other, and what they report about themselves. */
const DISCOVERY: Rules = [
  { apiGroups: [""], resources: ["endpoints", "pods"], verbs: READ },
  { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: READ },
  {
    apiGroups: ["nvidia.com"],
    resources: ["dynamoworkermetadatas"],
    verbs: [...READ, "create", "update", "patch", "delete"],
  },
];
const RULES: { readonly [task in Task]: Rules } = {
  discovery: DISCOVERY,
  planner: [
    ...DISCOVERY,
    { apiGroups: ["nvidia.com"], resources: ["dynamographdeployments"], verbs: ["get", "list", "update", "patch"] },
    { apiGroups: ["nvidia.com"], resources: ["dynamocomponentdeployments"], verbs: ["get", "list"] },
  ],
  epp: [...DISCOVERY, { apiGroups: ["inference.networking.k8s.io"], resources: ["inferencepools"], verbs: READ }],
};

/** All that the Roles of components have. */
export const GRANTED_RULES: Rules = [...new Set(Object.values(RULES).flat())];

/** What an operator gives to others it must be allowed itself. */
export const ACCOUNT_PERMISSIONS = [
  permission(Pod, READ, { forOthers: true }),
  permission(Endpoints, READ, { forOthers: true }),
  permission(EndpointSlice, READ, { forOthers: true }),
  permission(DynamoWorkerMetadata, [...READ, "create", "update", "patch", "delete"], { forOthers: true }),
  permission(DynamoGraphDeployment, ["get", "list", "update", "patch"], { forOthers: true }),
  permission(DynamoComponentDeployment, ["get", "list"], { forOthers: true }),
  permission(InferencePool, READ, { forOthers: true }),
];

/** Whether components find each other by EndpointSlices, since there is no etcd. */
export const isDiscoveredByKubernetes = ({ etcdAddress }: { etcdAddress: string }) => etcdAddress === "";

/** The service account of a component's pods, if it calls the API server; that of its template wins. */
export function accountOf(
  { metadata, spec }: DynamoComponentDeployment,
  around: { etcdAddress: string },
): string | undefined {
  const graph = metadata.labels?.[GRAPH];
  const task = taskOf(typeOf(spec.serviceName ?? metadata.name, spec), around);
  return graph && task && accountName(graph, task);
}

function taskOf(type: ComponentType, around: { etcdAddress: string }): Task | undefined {
  if (type === "planner" || type === "epp") return type;
  return isDiscoveredByKubernetes(around) ? "discovery" : undefined;
}

const SUFFIX: { readonly [task in Task]: string } = {
  discovery: "k8s-service-discovery",
  planner: "planner",
  epp: "epp",
};
const accountName = (graph: string, task: Task) => truncatedName(graph, SUFFIX[task]);

/** The accounts of a graph's components, each with a Role that has what its task requires. */
export function accountsFor(
  { metadata: { name: graph, namespace } }: DynamoGraphDeployment,
  services: ReadonlyMap<string, Service>,
  around: { etcdAddress: string },
) {
  const tasks = new Set([...services].map(([name, service]) => taskOf(typeOf(name, service), around)));
  return [...tasks].flatMap((task) => {
    if (!task) return [];
    const metadata = { name: accountName(graph, task), namespace, labels: { [GRAPH]: graph } };
    const { name } = metadata;
    return [
      ServiceAccount.draft({ metadata }),
      Role.draft({ metadata, rules: RULES[task] }),
      RoleBinding.draft({
        metadata,
        subjects: [{ kind: "ServiceAccount", name, namespace: namespace! }],
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
      }),
    ];
  });
}
