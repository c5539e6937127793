import type { VersionConversion } from "konverge";
import { deepEqual } from "konverge/objects";
import { componentOf, defined, serviceOf } from "./component-conversion.ts";
import type { Component } from "./component-spec.ts";
import type { Reports, v1, v1alpha1, v1beta1 } from "./graph-versions.ts";
import { restored, written } from "./original-form.ts";
import type { Service } from "./service-spec.ts";

type Alpha = typeof v1alpha1;
type Services = Readonly<Record<string, Service>>;

/**
 * v1beta1 writes in one pod template what v1alpha1 spreads over a dozen fields, so several forms of v1alpha1 are one in
 * v1beta1, and the other way round. What the target cannot tell apart is kept in an annotation until it is read again in the
 * version in which it was written: a service that has not been changed since reads exactly as its author wrote it.
 */
export const betaConversion: VersionConversion<typeof v1beta1, Alpha> = {
  toStored({ metadata, spec: { components, env, ...same }, status }) {
    const asBeta = components ?? [];
    const services = servicesFrom(asBeta, restored<Services>(metadata, "services") ?? {});
    const isSame = deepEqual(componentsFrom(services, []), asBeta);
    const { components: reported, ...rest } = status ?? {};
    return {
      spec: { ...same, ...defined({ services: components && services, envs: env }) },
      ...(status && { status: { ...rest, ...(reported && { services: namedByService(reported) }) } }),
      metadata: written(metadata, "components", isSame ? undefined : asBeta),
    };
  },
  fromStored({ metadata, spec: { services, envs, ...same }, status }) {
    const components = componentsFrom(services ?? {}, restored<readonly Component[]>(metadata, "components") ?? []);
    const isSame = deepEqual(servicesFrom(components, {}), services ?? {});
    const { services: reported, ...rest } = status ?? {};
    return {
      spec: { ...same, ...defined({ components: services && components, env: envs }) },
      ...(status && { status: { ...rest, ...(reported && { components: namedByComponent(reported) }) } }),
      metadata: written(metadata, "services", isSame ? undefined : services),
    };
  },
};

/** Services in the form that they were written in, if they still say the same. */
function servicesFrom(components: readonly Component[], originals: Services): Services {
  return Object.fromEntries(
    components.map((component) => {
      const original = originals[component.name];
      const isUnchanged = says(() => deepEqual(componentOf(component.name, original!), component));
      return [component.name, isUnchanged ? original! : serviceOf(component)];
    }),
  );
}

/** Components in the form and in the order that they were written in, if they still say the same. */
function componentsFrom(services: Services, originals: readonly Component[]): Component[] {
  const order = new Map(originals.map(({ name }, index) => [name, index]));
  return Object.entries(services)
    .map(([name, service]) => {
      const original = originals[order.get(name) ?? -1];
      return says(() => deepEqual(serviceOf(original!), service)) ? original! : componentOf(name, service);
    })
    .sort((a, b) => (order.get(a.name) ?? originals.length) - (order.get(b.name) ?? originals.length));
}

/** False also for an original that is missing or is none: anyone may write the annotation that it comes from. */
function says(isSame: () => boolean): boolean {
  try {
    return isSame();
  } catch {
    return false;
  }
}

function namedByService(reported: Reports<"components">): Reports<"services"> {
  return Object.fromEntries(
    Object.entries(reported).map(([name, { componentNames, ...rest }]) => [
      name,
      { componentName: componentNames[0] ?? "", ...rest },
    ]),
  );
}

function namedByComponent(reported: Reports<"services">): Reports<"components"> {
  return Object.fromEntries(
    Object.entries(reported).map(([name, { componentName, ...rest }]) => [
      name,
      { componentNames: [componentName], ...rest },
    ]),
  );
}

/** v1 writes what a model requires in snake case. */
export const snakeCaseConversion: VersionConversion<typeof v1, Alpha> = {
  toStored({ spec: { sla, model, ...same }, status }) {
    const { placement } = model ?? {};
    return {
      spec: {
        ...same,
        ...(sla && {
          sla: defined({
            maxLatencyMs: sla.max_latency_ms,
            minThroughput: sla.min_throughput,
            maxReplicas: sla.max_replicas,
          }),
        }),
        ...(model && {
          model: defined({
            name: model.name,
            serviceTimeMs: model.service_time_ms,
            concurrency: model.concurrency,
            placement:
              placement && defined({ tensorParallelSize: placement.tensor_parallel_size, gpuType: placement.gpu_type }),
          }),
        }),
      },
      ...(status && { status }),
    };
  },
  fromStored({ spec: { sla, model, ...same }, status }) {
    const { placement } = model ?? {};
    return {
      spec: {
        ...same,
        ...(sla && {
          sla: defined({
            max_latency_ms: sla.maxLatencyMs,
            min_throughput: sla.minThroughput,
            max_replicas: sla.maxReplicas,
          }),
        }),
        ...(model && {
          model: defined({
            name: model.name,
            service_time_ms: model.serviceTimeMs,
            concurrency: model.concurrency,
            placement:
              placement && defined({ tensor_parallel_size: placement.tensorParallelSize, gpu_type: placement.gpuType }),
          }),
        }),
      },
      ...(status && { status }),
    };
  },
};
