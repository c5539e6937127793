import type { Drafted } from "konverge";
import type { PersistentVolumeClaim } from "konverge/kinds";
import { templateHash, truncatedName } from "konverge/objects";
import { type ClaimSpec, claimFor, hasSeveralPods, shrinkRefusal } from "./claim.ts";
import { DynamoComponent } from "./component.ts";
import { mergedVariables } from "./component-container.ts";
import { DynamoComponentDeployment } from "./component-deployment.ts";
import type { DynamoGraphDeployment } from "./graph-deployment.ts";
import { COMPONENT, componentName, GRAPH, NAMESPACE, typeOf } from "./names.ts";
import type { Service } from "./service-spec.ts";

/** The components of a graph, one for each service. */
export function componentsOf(
  graph: DynamoGraphDeployment,
  services: ReadonlyMap<string, Service>,
  { image, restartIds }: { image: string | undefined; restartIds: ReadonlyMap<string, string | undefined> },
) {
  const { name: graphName, namespace } = graph.metadata;
  return [...services].map(([name, service]) => {
    const dynamoNamespace = service.dynamoNamespace ?? graphName;
    const { pvc } = service;
    const labels = { ...graph.spec.labels, ...service.labels };
    const annotations = { ...graph.spec.annotations, ...service.annotations };
    const restartId = restartIds.get(name);
    return DynamoComponentDeployment.draft({
      metadata: {
        name: componentName(graphName, name),
        namespace,
        labels: { ...labels, [GRAPH]: graphName, [COMPONENT]: name, [NAMESPACE]: dynamoNamespace },
        ...(Object.keys(annotations).length > 0 && { annotations }),
      },
      spec: {
        ...service,
        ...(Object.keys(labels).length > 0 && { labels }),
        ...(Object.keys(annotations).length > 0 && { annotations }),
        ...withPriority(graph, service),
        ...(graph.spec.backendFramework && { backendFramework: graph.spec.backendFramework }),
        serviceName: name,
        componentType: typeOf(name, service),
        dynamoNamespace,
        envs: mergedVariables(graph.spec.envs ?? [], service.envs ?? []),
        // Claims belong to the graph: services may share one.
        ...(pvc && { pvc: { ...pvc, create: false, name: pvc.name ?? componentName(graphName, name) } }),
        ...(image && { image }),
        ...(restartId && { restartId }),
      },
    });
  });
}

/** The graph's priority for pods that have none. */
function withPriority({ spec }: DynamoGraphDeployment, { extraPodSpec }: Service): Pick<Service, "extraPodSpec"> {
  const { priorityClassName } = spec;
  return priorityClassName === undefined ? {} : { extraPodSpec: { priorityClassName, ...extraPodSpec } };
}

/** The claims that services bring with them, each once: the first that says how it shall be is followed. */
export function claimsOf(
  graph: DynamoGraphDeployment,
  services: ReadonlyMap<string, Service>,
  existing: (claim: string) => PersistentVolumeClaim | undefined,
  events: { warning(reason: string, message: string): void },
) {
  const { name, namespace, generation } = graph.metadata;
  const isNews = graph.status?.observedGeneration !== generation;
  const nameOf = (service: string, { pvc }: Service) => pvc && (pvc.name ?? componentName(name, service));
  const claims = new Map<string, Drafted<PersistentVolumeClaim>>();
  const keep = (claim: string, pvc: ClaimSpec, several: boolean) => {
    const metadata = { name: claim, namespace, labels: { [GRAPH]: name } };
    const refusal = shrinkRefusal(pvc, existing(claim));
    if (refusal && isNews) events.warning("ShrinkRefused", `${claim}: ${refusal}`);
    claims.set(claim, claimFor(metadata, pvc, { several, existing: existing(claim) }));
  };
  for (const claim of graph.spec.pvcs ?? []) if (claim.create) keep(claim.name, claim, true);
  for (const [service, spec] of services) {
    const claim = nameOf(service, spec);
    if (!claim || !spec.pvc?.create || claims.has(claim)) continue;
    const users = [...services].filter(([other, its]) => nameOf(other, its) === claim);
    keep(claim, spec.pvc, users.length > 1 || hasSeveralPods(spec));
  }
  return [...claims.values()];
}

/** The image that is to be built, if one is. Another source is another object: its name tells what it is made from. */
export function imageFor({ metadata, spec: { build } }: DynamoGraphDeployment) {
  if (!build) return undefined;
  return DynamoComponent.new({
    metadata: {
      name: truncatedName(metadata.name, templateHash({ ...build, pushSecret: undefined })),
      namespace: metadata.namespace,
      labels: { [GRAPH]: metadata.name },
    },
    spec: { ...build },
  });
}
