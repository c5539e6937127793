import type { Container, ContainerPort } from "konverge/kinds";
import { unitsOf } from "./graph.ts";
import { containerServiceName } from "./names.ts";
import type { ComponentPod, ComponentSpec, Predictor, SeldonDeployment, Unit } from "./seldon-deployment.ts";
import { isServer } from "./servers.ts";

/** Where a unit is reached. */
export interface Endpoint {
  readonly host: string;
  readonly http: number;
  readonly grpc: number;
}

/** A container of a component; those that serve a unit have an endpoint. */
export interface PlannedContainer {
  readonly container: Container;
  readonly unit?: Unit;
  readonly endpoint?: Endpoint;
  readonly metricsPort?: number;
}

/** A component of a predictor: one Deployment. */
export interface Component {
  readonly index: number;
  readonly written: ComponentSpec;
  readonly pod: ComponentPod;
  readonly containers: readonly PlannedContainer[];
}

const FIRST_HTTP_PORT = 9000;
const FIRST_GRPC_PORT = 9500;
const FIRST_METRICS_PORT = 6000;
const METRICS = "metrics";

const SEPARATE_ORCHESTRATOR = "seldon.io/engine-separate-pod";

/** Whether orchestrators run in separate pods, not in those of the first component. */
export function orchestratorIsSeparate({ spec }: SeldonDeployment): boolean {
  return spec.annotations?.[SEPARATE_ORCHESTRATOR]?.toLowerCase() === "true";
}

/**
 * The components of all predictors, by predictor. Prepackaged servers without a container get one, in the first component.
 * Ports are numbered through the whole SeldonDeployment, one set for each name of a container, so that containers of one pod
 * never clash; the ports that a container declares by the names `http`, `grpc` and `metrics` are taken as they are.
 */
export function componentsOf(object: SeldonDeployment): Map<Predictor, Component[]> {
  const numbers = new Map<string, number>();
  let metrics = FIRST_METRICS_PORT;
  const numberOf = (name: string) => {
    if (!numbers.has(name)) numbers.set(name, numbers.size);
    return numbers.get(name)!;
  };
  const plan = (
    predictor: Predictor,
    container: Container,
    unit: Unit | undefined,
    index: number,
  ): PlannedContainer => {
    const number = numberOf(container.name);
    if (!unit) return { container };
    const local = index === 0 && !orchestratorIsSeparate(object);
    const { namespace } = object.metadata;
    const host = local
      ? "localhost"
      : `${containerServiceName(object, predictor, container.name)}.${namespace}.svc.cluster.local`;
    const declared = (name: string) => portNamed(container.ports, name)?.containerPort;
    return {
      container,
      unit,
      endpoint: {
        host,
        http: declared("http") ?? FIRST_HTTP_PORT + number,
        grpc: declared("grpc") ?? FIRST_GRPC_PORT + number,
      },
      metricsPort: declared(METRICS) ?? metrics++,
    };
  };
  return new Map(
    object.spec.predictors.map((predictor) => {
      const units = new Map(unitsOf(predictor.graph).map((unit) => [unit.name, unit]));
      const written = predictor.componentSpecs ?? [];
      const named = new Set(written.flatMap(({ spec }) => (spec?.containers ?? []).map(({ name }) => name)));
      const servers = [...units.values()].filter(
        ({ name, implementation }) => isServer(implementation) && !named.has(name),
      );
      const specs: readonly ComponentSpec[] = written.length > 0 || servers.length === 0 ? written : [{}];
      const components = specs.map((spec, index): Component => {
        const pod = spec.spec ?? {};
        const added = index === 0 ? servers.map(({ name }): Container => ({ name })) : [];
        const containers = [...(pod.containers ?? []), ...added];
        return {
          index,
          written: spec,
          pod,
          containers: containers.map((container) => plan(predictor, container, units.get(container.name), index)),
        };
      });
      return [predictor, components.filter(({ containers }) => containers.length > 0)];
    }),
  );
}

export function portNamed(ports: readonly ContainerPort[] | undefined, name: string): ContainerPort | undefined {
  return ports?.find((port) => port.name === name);
}
