import type { Drafted } from "konverge";
import {
  type Container,
  Deployment,
  HorizontalPodAutoscaler,
  PodDisruptionBudget,
  type PodSpec,
  Service,
  type Volume,
} from "konverge/kinds";
import { type Component, componentsOf, orchestratorIsSeparate } from "./components.ts";
import { explainerOf } from "./explainer.ts";
import { typeOf } from "./graph.ts";
import { type ModelSupply, modelSupply } from "./model-initializer.ts";
import {
  containerServiceLabel,
  containerServiceName,
  DEPLOYMENT_ID,
  deploymentName,
  idOf,
  MANAGED_BY,
  orchestratorName,
  predictorName,
  SELDON_APP,
} from "./names.ts";
import { GRPC_PORT, HTTP_PORT, hasNoOrchestrator, orchestratorContainer } from "./orchestrator.ts";
import { secured } from "./pod-user.ts";
import type { Backend } from "./route.ts";
import type { Predictor, SeldonDeployment, Unit } from "./seldon-deployment.ts";
import { isProxied, readsModelItself, servingContainer, TENSORFLOW_SERVING } from "./server-container.ts";
import { labelsOf, METRICS_PATH, POD_INFO, unitContainer } from "./unit-container.ts";

/** Images that the operator's settings can change. */
export interface Images {
  readonly orchestrator: string;
  readonly modelInitializer: string;
}

/** Where a Service answers. */
export interface ServiceEndpoints {
  readonly svcName: string;
  readonly httpEndpoint: string;
  readonly grpcEndpoint?: string;
  /** The Service of the predictor that this one explains. */
  readonly explainerFor?: string;
}

/** All that a SeldonDeployment consists of. */
export interface Children {
  readonly deployments: readonly Drafted<Deployment>[];
  /** The Deployments as they are applied: with an autoscaler, without replicas. */
  readonly applied: readonly Drafted<Deployment>[];
  readonly services: readonly Drafted<Service>[];
  readonly autoscalers: readonly Drafted<HorizontalPodAutoscaler>[];
  readonly budgets: readonly Drafted<PodDisruptionBudget>[];
  readonly endpoints: readonly ServiceEndpoints[];
  /** Where each predictor is reached. */
  readonly backends: readonly Backend[];
}

export function childrenOf(object: SeldonDeployment, images: Images): Children {
  const parts = [...componentsOf(object)].map(([predictor, components]) =>
    predictorChildren(object, predictor, components, images),
  );
  return {
    deployments: parts.flatMap(({ deployments }) => deployments),
    applied: parts.flatMap(({ applied }) => applied),
    services: parts.flatMap(({ services }) => services),
    autoscalers: parts.flatMap(({ autoscalers }) => autoscalers),
    budgets: parts.flatMap(({ budgets }) => budgets),
    endpoints: parts.flatMap(({ endpoints }) => endpoints),
    backends: parts.flatMap(({ backends }) => backends),
  };
}

function predictorChildren(
  object: SeldonDeployment,
  predictor: Predictor,
  components: readonly Component[],
  images: Images,
): Children {
  const separate = orchestratorIsSeparate(object) && !hasNoOrchestrator(predictor);
  const orchestrator = () => orchestratorContainer(object, predictor, components, images.orchestrator);
  const deployments = components.map((component) =>
    componentDeployment(object, predictor, component, images, {
      entry: hasNoOrchestrator(predictor) || (!separate && component.index === 0),
      extra: !separate && !hasNoOrchestrator(predictor) && component.index === 0 ? [orchestrator()] : [],
    }),
  );
  const autoscalers = components.flatMap((component, i) => autoscalerFor(deployments[i]!, component));
  const all = separate ? [...deployments, orchestratorDeployment(object, predictor, orchestrator())] : [...deployments];
  const containers = components.flatMap((component) => containerServices(object, predictor, component));
  const entry = entryService(object, predictor, components);
  const answers = endpointsOf(entry);
  const explaining = explainerOf(
    object,
    predictor,
    { http: answers.httpEndpoint, grpc: answers.grpcEndpoint ?? answers.httpEndpoint },
    images.modelInitializer,
  );
  if (explaining) all.push(explaining.deployment);
  return {
    deployments: all,
    applied: all.map((deployment) => {
      const scaled = autoscalers.some(({ metadata }) => metadata.name === deployment.metadata.name);
      if (!scaled) return deployment;
      const { replicas: _, ...spec } = deployment.spec;
      return Deployment.draft({ ...deployment, spec });
    }),
    services: [...containers, entry, ...(explaining ? [explaining.service] : [])],
    autoscalers,
    budgets: components.flatMap((component, i) => budgetFor(deployments[i]!, component)),
    endpoints: [
      ...(explaining ? [{ ...endpointsOf(explaining.service), explainerFor: entry.metadata.name }] : []),
      ...[...containers, entry].map(endpointsOf),
    ],
    backends: [backendOf(predictor, entry, explaining?.service)],
  };
}

/** Labels that say what a pod's units are. */
function unitLabels(component: Component, predictor: Predictor): Record<string, string> {
  const labels: Record<string, string> = {};
  const names = {
    ROUTER: "router",
    COMBINER: "combiner",
    MODEL: "model",
    TRANSFORMER: "transformer",
    OUTPUT_TRANSFORMER: "output-transformer",
  } as const;
  for (const { unit } of component.containers) {
    const type = unit && typeOf(unit);
    if (type && type !== "UNKNOWN_TYPE") labels[`seldon.io/${names[type]}`] = "true";
  }
  if (predictor.shadow) labels["seldon.io/shadow"] = "true";
  return labels;
}

function componentDeployment(
  object: SeldonDeployment,
  predictor: Predictor,
  component: Component,
  images: Images,
  { entry, extra }: { entry: boolean; extra: readonly Container[] },
) {
  const { written, pod, containers, index } = component;
  const name = deploymentName(
    object,
    predictor,
    index,
    written.metadata?.name || containers.map(({ container }) => container.name).join("-"),
  );
  const selector = {
    [DEPLOYMENT_ID]: idOf(object),
    ...(entry && { [SELDON_APP]: predictorName(object, predictor) }),
    ...Object.fromEntries(
      containers
        .filter(({ unit }) => unit)
        .map(({ container }) => [
          containerServiceLabel(container.name),
          containerServiceName(object, predictor, container.name),
        ]),
    ),
  };
  const labels = {
    ...labelsOf(predictor),
    ...written.metadata?.labels,
    ...unitLabels(component, predictor),
    ...MANAGED_BY,
    app: name,
    fluentd: "true",
    ...selector,
  };
  const annotations = { ...object.spec.annotations, ...predictor.annotations, ...written.metadata?.annotations };
  const supplies = new Map(
    containers.map(({ unit }) => [unit, unit ? supplyOf(object, unit, images.modelInitializer) : undefined] as const),
  );
  const { hpaSpec } = written;
  const replicas = hpaSpec ? undefined : (written.replicas ?? predictor.replicas ?? object.spec.replicas ?? 1);
  return Deployment.draft({
    metadata: {
      name,
      namespace: object.metadata.namespace,
      labels: { ...labels, ...(extra.length > 0 && { "seldon-deployment-contains-svcorch": "true" }) },
      annotations,
    },
    spec: {
      ...(replicas !== undefined && { replicas }),
      selector: { matchLabels: selector },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "10%" } },
      ...(predictor.progressDeadlineSeconds && { progressDeadlineSeconds: predictor.progressDeadlineSeconds }),
      template: {
        metadata: {
          labels,
          annotations: { "prometheus.io/path": METRICS_PATH, "prometheus.io/scrape": "true", ...annotations },
        },
        spec: secured({
          ...podSpec(pod, [...supplies.values()]),
          ...serviceAccount(containers.map(({ unit }) => unit)),
          containers: [...podContainers(object, predictor, component, supplies), ...extra],
        }),
      },
    },
  });
}

/** How a unit's model comes into the pod; undefined if it needs none there. */
function supplyOf(object: SeldonDeployment, unit: Unit, image: string): ModelSupply | undefined {
  if (readsModelItself(object, unit)) return undefined;
  return modelSupply(isProxied(object, unit) ? { ...unit, name: TENSORFLOW_SERVING } : unit, image);
}

function podContainers(
  object: SeldonDeployment,
  predictor: Predictor,
  { containers }: Component,
  supplies: ReadonlyMap<Unit | undefined, ModelSupply | undefined>,
): Container[] {
  const proxied = containers.find(({ unit }) => unit && isProxied(object, unit))?.unit;
  const serving = (written: Container) => servingContainer(proxied!, written, supplies.get(proxied));
  const isServing = ({ name }: Container) => proxied !== undefined && name === TENSORFLOW_SERVING;
  const all = containers.map((one) => {
    if (isServing(one.container)) return serving(one.container);
    const supply = one.unit === proxied ? undefined : supplies.get(one.unit);
    return unitContainer(object, predictor, one, supply);
  });
  return proxied && !containers.some(({ container }) => isServing(container))
    ? [...all, serving({ name: TENSORFLOW_SERVING })]
    : all;
}

function podSpec(pod: Partial<PodSpec>, supplies: readonly (ModelSupply | undefined)[]): Omit<PodSpec, "containers"> {
  const { containers: _, ...rest } = pod;
  const volumes = [...(pod.volumes ?? []), podInfo(), ...supplies.flatMap((supply) => supply?.volumes ?? [])];
  const initContainers = [
    ...(pod.initContainers ?? []),
    ...supplies.flatMap((supply) => (supply ? [supply.initContainer] : [])),
  ];
  return {
    ...rest,
    terminationGracePeriodSeconds: pod.terminationGracePeriodSeconds ?? 20,
    ...(initContainers.length > 0 && { initContainers }),
    volumes: volumes.filter(({ name }, i) => volumes.findIndex((other) => other.name === name) === i),
  };
}

/** The pod's annotations as a file. */
function podInfo(): Volume {
  return {
    name: POD_INFO,
    downwardAPI: { items: [{ path: "annotations", fieldRef: { fieldPath: "metadata.annotations" } }] },
  };
}

function serviceAccount(units: readonly (Unit | undefined)[]): { serviceAccountName?: string } {
  const named = units.find((unit) => unit?.serviceAccountName)?.serviceAccountName;
  return named ? { serviceAccountName: named } : {};
}

function orchestratorDeployment(object: SeldonDeployment, predictor: Predictor, container: Container) {
  const name = orchestratorName(object, predictor);
  const selector = { [DEPLOYMENT_ID]: idOf(object), [SELDON_APP]: predictorName(object, predictor) };
  const labels = { ...selector, ...MANAGED_BY, app: name, fluentd: "true" };
  return Deployment.draft({
    metadata: {
      name,
      namespace: object.metadata.namespace,
      labels: { ...labels, ...labelsOf(predictor), "seldon-deployment-contains-svcorch": "true" },
      annotations: { ...object.spec.annotations },
    },
    spec: {
      replicas: predictor.svcOrchSpec?.replicas ?? predictor.replicas ?? object.spec.replicas ?? 1,
      selector: { matchLabels: selector },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "10%" } },
      template: {
        metadata: {
          labels: { ...labelsOf(predictor), ...labels },
          annotations: { "prometheus.io/path": METRICS_PATH, "prometheus.io/scrape": "true" },
        },
        spec: secured({ terminationGracePeriodSeconds: 20, containers: [container], volumes: [podInfo()] }),
      },
    },
  });
}

/** A Service for each unit's container: for the orchestrator, and for clients that call it directly. */
function containerServices(object: SeldonDeployment, predictor: Predictor, component: Component) {
  return component.containers.flatMap(({ container, unit, endpoint }) => {
    if (!unit || !endpoint) return [];
    const name = containerServiceName(object, predictor, container.name);
    const selector = { [containerServiceLabel(container.name)]: name };
    return [
      service(object, predictor, name, {
        labels: { ...selector, ...unitLabels({ ...component, containers: [{ container, unit }] }, predictor) },
        selector,
        http: endpoint.http,
        grpc: endpoint.grpc,
      }),
    ];
  });
}

/** The Service by which a predictor is asked: its orchestrator, or its only unit. */
function entryService(object: SeldonDeployment, predictor: Predictor, components: readonly Component[]) {
  const name = predictorName(object, predictor);
  const direct = hasNoOrchestrator(predictor)
    ? components.flatMap(({ containers }) => containers.flatMap(({ endpoint }) => endpoint ?? []))[0]
    : undefined;
  return service(object, predictor, name, {
    labels: {},
    selector: { [SELDON_APP]: name },
    http: direct?.http ?? HTTP_PORT,
    grpc: direct?.grpc ?? GRPC_PORT,
    headless: object.spec.annotations?.["seldon.io/headless-svc"] !== undefined,
  });
}

function service(
  object: SeldonDeployment,
  predictor: Predictor,
  name: string,
  {
    labels,
    selector,
    http,
    grpc,
    headless = false,
  }: {
    labels: Record<string, string>;
    selector: Record<string, string>;
    http: number;
    grpc: number;
    headless?: boolean;
  },
) {
  return Service.draft({
    metadata: {
      name,
      namespace: object.metadata.namespace,
      labels: {
        ...labels,
        [DEPLOYMENT_ID]: idOf(object),
        [SELDON_APP]: predictorName(object, predictor),
        ...MANAGED_BY,
      },
      ...(predictor.annotations && { annotations: predictor.annotations }),
    },
    spec: {
      type: "ClusterIP",
      ...(headless && { clusterIP: "None" }),
      selector,
      ports: [
        { name: "http", port: http, targetPort: http, protocol: "TCP" },
        { name: "grpc", port: grpc, targetPort: grpc, protocol: "TCP" },
      ],
    },
  });
}

function endpointsOf({ metadata, spec }: Service): ServiceEndpoints {
  const [http, grpc] = spec!.ports!;
  const host = `${metadata.name}.${metadata.namespace}`;
  return {
    svcName: metadata.name,
    httpEndpoint: `${host}:${http!.port}`,
    ...(grpc && { grpcEndpoint: `${host}:${grpc.port}` }),
  };
}

function backendOf(predictor: Predictor, { metadata, spec }: Service, explainer: Service | undefined): Backend {
  const [http, grpc] = spec!.ports!;
  return {
    predictor,
    service: metadata.name,
    http: http!.port,
    grpc: grpc!.port,
    ...(explainer && { explainer: { service: explainer.metadata.name, http: explainer.spec!.ports![0]!.port } }),
  };
}

function autoscalerFor({ metadata }: Deployment, { written }: Component) {
  const { hpaSpec } = written;
  if (!hpaSpec) return [];
  const { minReplicas, maxReplicas, metricsv2, metrics } = hpaSpec;
  return [
    HorizontalPodAutoscaler.draft({
      metadata: { name: metadata.name, namespace: metadata.namespace, labels: ownLabels(metadata.labels) },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: metadata.name },
        ...(minReplicas !== undefined && { minReplicas }),
        maxReplicas,
        ...((metricsv2 ?? metrics) && { metrics: metricsv2 ?? metrics }),
      },
    }),
  ];
}

function budgetFor({ metadata, spec }: Deployment, { written }: Component) {
  const { pdbSpec } = written;
  if (!pdbSpec) return [];
  return [
    PodDisruptionBudget.draft({
      metadata: { name: metadata.name, namespace: metadata.namespace, labels: ownLabels(metadata.labels) },
      spec: { ...pdbSpec, selector: { matchLabels: spec!.selector.matchLabels! } },
    }),
  ];
}

function ownLabels(labels: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return { [DEPLOYMENT_ID]: labels?.[DEPLOYMENT_ID] ?? "", ...MANAGED_BY };
}
