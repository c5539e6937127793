import type { FieldError } from "@konverge/core";
import { forbidden, invalidValue, required } from "@konverge/schema";
import type { HorizontalPodAutoscaler, Stored } from "../../codec/objects.ts";
import type { WorkingObject } from "../../codec/working-object.ts";
import type { ResourceDefinition, Strategy } from "../definition.ts";

type Autoscaler = HorizontalPodAutoscaler;
type Metric = NonNullable<Autoscaler["spec"]>["metrics"] extends (infer Item)[] | undefined ? Item : never;
type Behavior = NonNullable<NonNullable<Autoscaler["spec"]>["behavior"]>;

const METRICS = "autoscaling.alpha.kubernetes.io/metrics";
const BEHAVIOR = "autoscaling.alpha.kubernetes.io/behavior";
const CONDITIONS = "autoscaling.alpha.kubernetes.io/conditions";
const CURRENT = "autoscaling.alpha.kubernetes.io/current-metrics";

const CPU = (averageUtilization: number): Metric => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization } },
});

export const horizontalPodAutoscaler: Strategy = {
  defaults(object: Stored<Autoscaler>) {
    if (object.apiVersion !== "autoscaling/v2" || !object.spec) return;
    if (!object.spec.metrics?.length) object.spec.metrics = [CPU(80)];
    behaviorDefaults(object.spec.behavior);
  },
  validate({ spec }: Stored<Autoscaler>) {
    if (!spec) return [];
    const { minReplicas = 1, maxReplicas, scaleTargetRef, metrics = [] } = spec;
    const errors: FieldError[] = [];
    if (minReplicas < 1)
      errors.push(invalidValue("spec.minReplicas", minReplicas, "must be greater than or equal to 1"));
    if (maxReplicas === 0) errors.push(required("spec.maxReplicas", "must be set and greater than 0"));
    else if (maxReplicas < 1) {
      errors.push(invalidValue("spec.maxReplicas", maxReplicas, "must be greater than or equal to 1"));
    }
    if (maxReplicas < minReplicas) {
      errors.push(invalidValue("spec.maxReplicas", maxReplicas, "must be greater than or equal to `minReplicas`"));
    }
    if (!scaleTargetRef.kind) errors.push(required("spec.scaleTargetRef.kind"));
    if (!scaleTargetRef.name) errors.push(required("spec.scaleTargetRef.name"));
    const { apiVersion = "" } = scaleTargetRef;
    if (!apiVersion.includes("/") && scaleTargetRef.kind !== "ReplicationController") {
      errors.push(invalidValue("spec.scaleTargetRef.apiVersion", apiVersion, "apiVersion must specify API group"));
    }
    if (minReplicas === 0 && metrics.every(({ type }) => type !== "Object" && type !== "External")) {
      errors.push(
        forbidden(
          "spec.metrics",
          "must specify at least one Object or External metric to support scaling to zero replicas",
        ),
      );
    }
    metrics.forEach((metric, index) => {
      if (!metric.type) errors.push(required(`spec.metrics[${index}].type`, "must specify a metric source type"));
    });
    return errors;
  },
  validateStatusUpdate: () => [],
};

function behaviorDefaults(behavior: Behavior | undefined): void {
  if (!behavior) return;
  const policy = (type: string, value: number, periodSeconds: number) => ({ type, value, periodSeconds });
  behavior.scaleUp = {
    stabilizationWindowSeconds: 0,
    selectPolicy: "Max",
    policies: [policy("Pods", 4, 15), policy("Percent", 100, 15)],
    ...behavior.scaleUp,
  };
  behavior.scaleDown = { selectPolicy: "Max", policies: [policy("Percent", 100, 15)], ...behavior.scaleDown };
}

/** Between the version that knows one metric and the one that knows them all; the first keeps the rest in annotations. */
export const convertAutoscalers: ResourceDefinition["convert"] = (objects, apiVersion) =>
  objects.map((object) => {
    if (object.apiVersion === apiVersion) return object;
    return apiVersion === "autoscaling/v1" ? toFirst(object) : toSecond(object, apiVersion);
  });

function toFirst(object: WorkingObject): WorkingObject {
  const { metrics = [], behavior, ...spec } = (object["spec"] ?? {}) as NonNullable<Autoscaler["spec"]>;
  const { currentMetrics, conditions, ...status } = (object["status"] ?? {}) as NonNullable<Autoscaler["status"]>;
  const isCpu = (metric: Metric) =>
    metric.type === "Resource" &&
    metric.resource?.name === "cpu" &&
    metric.resource.target.averageUtilization !== undefined;
  const cpu = metrics.find(isCpu)?.resource?.target.averageUtilization;
  const others = metrics.filter((metric) => !isCpu(metric));
  const current = currentMetrics?.find((metric) => metric.resource?.name === "cpu")?.resource?.current
    .averageUtilization;
  const annotations = {
    ...object.metadata.annotations,
    ...(others.length > 0 && { [METRICS]: JSON.stringify(others.map(flatMetric)) }),
    ...(behavior && { [BEHAVIOR]: JSON.stringify(behavior) }),
    ...(conditions?.length && { [CONDITIONS]: JSON.stringify(conditions) }),
  };
  return {
    ...object,
    apiVersion: "autoscaling/v1",
    metadata: { ...object.metadata, ...(Object.keys(annotations).length > 0 && { annotations }) },
    spec: { ...spec, ...(cpu !== undefined && { targetCPUUtilizationPercentage: cpu }) },
    status: {
      ...status,
      currentReplicas: status.currentReplicas ?? 0,
      desiredReplicas: status.desiredReplicas ?? 0,
      ...(current !== undefined && { currentCPUUtilizationPercentage: current }),
    },
  };
}

function toSecond(object: WorkingObject, apiVersion: string): WorkingObject {
  const { targetCPUUtilizationPercentage: cpu, ...spec } = (object["spec"] ?? {}) as Record<string, unknown>;
  const { currentCPUUtilizationPercentage: current, ...status } = (object["status"] ?? {}) as Record<string, unknown>;
  const {
    [METRICS]: metrics,
    [BEHAVIOR]: behavior,
    [CONDITIONS]: conditions,
    [CURRENT]: _current,
    ...annotations
  } = object.metadata.annotations ?? {};
  const all = [
    ...(cpu === undefined ? [] : [CPU(cpu as number)]),
    ...((parsed(metrics) as Record<string, unknown>[] | undefined) ?? []).map(nestedMetric),
  ];
  const { annotations: _annotations, ...metadata } = object.metadata;
  return {
    ...object,
    apiVersion,
    metadata: { ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) },
    spec: {
      ...spec,
      ...(all.length > 0 && { metrics: all }),
      ...(behavior && { behavior: parsed(behavior) }),
    },
    status: {
      ...status,
      currentMetrics: current === undefined ? null : [cpuStatus(current as number)],
      ...(conditions && { conditions: parsed(conditions) }),
    },
  };
}

function cpuStatus(averageUtilization: number): object {
  return { type: "Resource", resource: { name: "cpu", current: { averageUtilization } } };
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The first version writes a resource's target beside its name. */
function flatMetric(metric: Metric): object {
  if (metric.type !== "Resource" || !metric.resource) return metric;
  const { name, target } = metric.resource;
  const { averageUtilization, averageValue } = target;
  return {
    type: "Resource",
    resource: {
      name,
      ...(averageUtilization !== undefined && { targetAverageUtilization: averageUtilization }),
      ...(averageValue !== undefined && { targetAverageValue: averageValue }),
    },
  };
}

function nestedMetric(metric: Record<string, unknown>): object {
  const resource = metric["resource"] as Record<string, unknown> | undefined;
  if (metric["type"] !== "Resource" || !resource || "target" in resource) return metric;
  const { name, targetAverageUtilization, targetAverageValue } = resource;
  const target =
    targetAverageUtilization === undefined
      ? { type: "AverageValue", averageValue: targetAverageValue }
      : { type: "Utilization", averageUtilization: targetAverageUtilization };
  return { type: "Resource", resource: { name, target } };
}
