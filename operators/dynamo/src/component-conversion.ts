import type { Container, EnvVar, PodSpec, PodTemplateSpec, ResourceRequirements, Volume } from "konverge/kinds";
import type { DeepReadonly } from "konverge/objects";
import { type Component, MAIN } from "./component-spec.ts";
import type { Service } from "./service-spec.ts";

/** A container that v1alpha1 describes by a few fields is called this. */
const SIDECAR = "sidecar-frontend";

const ALIKE = [
  "runtimeVersionOverride",
  "globalDynamoNamespace",
  "dynamoNamespace",
  "replicas",
  "multinode",
  "modelRef",
  "eppConfig",
  "autoscaling",
  "pvc",
  "ingress",
] as const;

/** What both versions write alike. */
const shared = (of: Service | Component) =>
  defined(
    Object.fromEntries(ALIKE.map((name) => [name, of[name]])) as Pick<Service & Component, (typeof ALIKE)[number]>,
  );

/** A service of v1alpha1 as a component of v1beta1: whatever it says about its pods goes to the template. */
export function componentOf(name: string, service: Service): Component {
  const { sharedMemory, frontendSidecar } = service;
  const cache = service.volumeMounts?.find(({ useAsCompilationCache }) => useAsCompilationCache);
  return defined({
    name,
    type: typeOf(service),
    ...shared(service),
    podTemplate: templateOf(service),
    sharedMemorySize: sharedMemory?.disabled ? "0" : sharedMemory?.size,
    frontendSidecar: frontendSidecar && (frontendSidecar.container ?? SIDECAR),
    compilationCache: cache && defined({ pvcName: cache.name, mountPath: cache.mountPoint }),
    experimental: service.gpuMemoryService?.enabled
      ? { gpuMemoryService: withoutSwitch(service.gpuMemoryService) }
      : undefined,
  });
}

/** A component of v1beta1 as a service of v1alpha1. */
export function serviceOf(component: Component): Service {
  const { type, podTemplate, sharedMemorySize, frontendSidecar, compilationCache } = component;
  const part = type === "prefill" || type === "decode" ? type : undefined;
  const { labels, annotations } = podTemplate?.metadata ?? {};
  const { pvcName, mountPath } = compilationCache ?? {};
  return defined({
    componentType: part ? "worker" : type,
    subComponentType: part,
    ...shared(component),
    extraPodMetadata: labels || annotations ? defined({ labels, annotations }) : undefined,
    extraPodSpec: podTemplate?.spec && extraOf(podTemplate.spec),
    sharedMemory: sharedMemorySize && (isZero(sharedMemorySize) ? { disabled: true } : { size: sharedMemorySize }),
    frontendSidecar: frontendSidecar === undefined ? undefined : { container: frontendSidecar },
    gpuMemoryService: component.experimental?.gpuMemoryService && {
      enabled: true,
      ...component.experimental.gpuMemoryService,
    },
    volumeMounts: pvcName
      ? [defined({ name: pvcName, mountPoint: mountPath, useAsCompilationCache: true })]
      : undefined,
  }) as Service;
}

function withoutSwitch({ enabled: _, ...rest }: NonNullable<Service["gpuMemoryService"]>) {
  return rest;
}

function typeOf({ componentType, subComponentType }: Service): Component["type"] {
  if (componentType === "main") return "default";
  const isPart = subComponentType === "prefill" || subComponentType === "decode";
  return componentType === "worker" && isPart ? subComponentType : componentType;
}

function templateOf(service: Service): DeepReadonly<PodTemplateSpec> | undefined {
  const { extraPodSpec, extraPodMetadata, frontendSidecar, volumeMounts = [] } = service;
  const { mainContainer, containers = [], volumes = [], ...rest } = extraPodSpec ?? {};
  const labels = merged(service.labels, extraPodMetadata?.labels);
  const annotations = merged(service.annotations, extraPodMetadata?.annotations);
  const main = mainOf(service, mainContainer ?? {});
  const sidecar: Container[] =
    frontendSidecar && !frontendSidecar.container ? [{ name: SIDECAR, ...containerFields(frontendSidecar) }] : [];
  const mounted: Volume[] = mountedClaims(volumeMounts).map((claimName) => ({
    name: claimName,
    persistentVolumeClaim: { claimName },
  }));
  const allVolumes = [...mounted, ...volumes];
  const all = [...(Object.keys(main).length > 1 ? [main] : []), ...containers, ...sidecar];
  if (all.length === 0 && !extraPodSpec && !labels && !annotations && allVolumes.length === 0) return undefined;
  return defined({
    metadata: labels || annotations ? defined({ labels, annotations }) : undefined,
    spec: {
      ...rest,
      containers: all.length > 0 ? all : [{ name: MAIN }],
      ...(allVolumes.length > 0 && { volumes: allVolumes }),
    },
  }) as DeepReadonly<PodTemplateSpec>;
}

function mainOf(service: Service, extra: DeepReadonly<Partial<Container>>): DeepReadonly<Container> {
  const { envs, envFromSecret, livenessProbe, readinessProbe, volumeMounts = [] } = service;
  const env = [
    ...(envs ?? []).filter(({ name }) => !extra.env?.some((own) => own.name === name)),
    ...(extra.env ?? []),
  ];
  const envFrom = [...(envFromSecret ? [{ secretRef: { name: envFromSecret } }] : []), ...(extra.envFrom ?? [])];
  const mounts = [
    ...volumeMounts.flatMap(({ name, mountPoint, useAsCompilationCache }) =>
      mountPoint && !useAsCompilationCache ? [{ name, mountPath: mountPoint }] : [],
    ),
    ...(extra.volumeMounts ?? []),
  ];
  return defined({
    ...extra,
    name: MAIN,
    env: env.length > 0 ? env : undefined,
    envFrom: envFrom.length > 0 ? envFrom : undefined,
    resources: resourcesOf(service) ?? extra.resources,
    livenessProbe: livenessProbe ?? extra.livenessProbe,
    readinessProbe: readinessProbe ?? extra.readinessProbe,
    volumeMounts: mounts.length > 0 ? mounts : undefined,
  }) as DeepReadonly<Container>;
}

/** A template's pod in the words of v1alpha1. */
function extraOf({ containers, ...rest }: DeepReadonly<PodSpec>): NonNullable<Service["extraPodSpec"]> {
  const { name: _, ...main } = containers.find(({ name }) => name === MAIN) ?? { name: MAIN };
  const others = containers.filter(({ name }) => name !== MAIN);
  return {
    ...rest,
    ...(Object.keys(main).length > 0 && { mainContainer: main as Partial<Container> }),
    ...(others.length > 0 && { containers: others }),
  } as NonNullable<Service["extraPodSpec"]>;
}

/** The claims that a service mounts besides its compilation cache, each once. */
const mountedClaims = (mounts: NonNullable<Service["volumeMounts"]>): readonly string[] => [
  ...new Set(mounts.filter(({ useAsCompilationCache }) => !useAsCompilationCache).map(({ name }) => name)),
];

function containerFields({ image, args, envFromSecret, envs }: NonNullable<Service["frontendSidecar"]>) {
  return defined({
    image,
    args: args && [...args],
    env: envs as EnvVar[] | undefined,
    envFrom: envFromSecret === undefined ? undefined : [{ secretRef: { name: envFromSecret } }],
  });
}

/** A service's quantities as a container has them. */
export function resourcesOf({ resources }: Service): ResourceRequirements | undefined {
  if (!resources) return undefined;
  const { requests, limits, claims } = resources;
  return defined({
    requests: requests && quantitiesOf(requests),
    limits: limits && quantitiesOf(limits),
    claims: claims?.map((claim) => ({ ...claim })),
  });
}

type Quantities = NonNullable<NonNullable<Service["resources"]>["limits"]>;

function quantitiesOf({ cpu, memory, gpu, gpuType = "nvidia.com/gpu", custom }: Quantities): Record<string, string> {
  return Object.fromEntries(
    Object.entries({ cpu, memory, [gpuType]: gpu, ...custom }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  );
}

const isZero = (quantity: string | number) => /^0+(\.0+)?[A-Za-z]*$/.test(String(quantity));

function merged<T extends object>(weaker: T | undefined, stronger: T | undefined): T | undefined {
  return weaker || stronger ? ({ ...weaker, ...stronger } as T) : undefined;
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Without the fields that have no value: in JSON they are not there. */
export function defined<T extends object>(fields: T): Partial<Defined<T>> & Pick<Defined<T>, RequiredKeys<T>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

type RequiredKeys<T> = { [K in keyof T]: undefined extends T[K] ? never : K }[keyof T];
