import type { MetricSpec, MetricStatus, MetricTarget, MetricValueStatus } from "@konverge/kinds";

const UNKNOWN = "<unknown>";
const MOST = 2;

/** The Targets column: current and wanted value of each metric. */
export function metricsText(specs: readonly MetricSpec[], statuses: readonly MetricStatus[]): string {
  if (specs.length === 0) return "<none>";
  const texts = specs.slice(0, MOST).map((spec, index) => metricText(spec, statuses[index]));
  return specs.length > MOST ? `${texts.join(", ")} + ${specs.length - MOST} more...` : texts.join(", ");
}

function metricText(spec: MetricSpec, status: MetricStatus | undefined): string {
  switch (spec.type) {
    case "External":
      return valueText(spec.external!.target, status?.external?.current);
    case "Object":
      return valueText(spec.object!.target, status?.object?.current);
    case "Pods":
      return `${status?.pods?.current.averageValue ?? UNKNOWN}/${spec.pods!.target.averageValue}`;
    case "Resource":
      return `${spec.resource!.name}: ${utilizationText(spec.resource!.target, status?.resource?.current)}`;
    case "ContainerResource":
      return `${spec.containerResource!.name}: ${utilizationText(spec.containerResource!.target, status?.containerResource?.current)}`;
    default:
      return "<unknown type>";
  }
}

function valueText(target: MetricTarget, current: MetricValueStatus | undefined): string {
  if (target.averageValue !== undefined) return `${current?.averageValue ?? UNKNOWN}/${target.averageValue} (avg)`;
  return `${current?.value ?? UNKNOWN}/${target.value}`;
}

function utilizationText(target: MetricTarget, current: MetricValueStatus | undefined): string {
  if (target.averageValue !== undefined) return `${current?.averageValue ?? UNKNOWN}/${target.averageValue}`;
  const percent = (value: number | undefined, missing: string) => (value === undefined ? missing : `${value}%`);
  return `${percent(current?.averageUtilization, UNKNOWN)}/${percent(target.averageUtilization, "<auto>")}`;
}
