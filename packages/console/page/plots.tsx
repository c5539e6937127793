import type { ControllerSample, Sample } from "../src/protocol.ts";
import { latency, short } from "./format.ts";
import { Plot, type Series } from "./plot.tsx";
import { hello, samples } from "./store.ts";

/** Numbers over time: of controllers, summed up by operator, and of the cluster. */
export function Plots() {
  const list = samples.value;
  const groups = groupsOf(list);
  const of = (value: (one: ControllerSample) => number, join: (values: number[]) => number = sum): Series[] =>
    groups.map((name) => ({
      name: name || "all",
      values: list.map(({ controllers }) => join(controllers.filter((one) => groupOf(one) === name).map(value))),
    }));
  const isCluster = hello.value?.mode === "cluster";
  const times = list.map(({ at }) => at / 1000);
  const plot = (title: string, series: Series[], format: (value: number) => string) => (
    <Plot key={title} title={title} times={times} series={series} format={format} />
  );
  return (
    <div class="plots">
      <h1>Plots</h1>
      {list.length < 2 ? (
        <p class="empty">There is nothing to plot yet.</p>
      ) : (
        <div class="plot-grid">
          {plot(
            "Reconciles per second",
            of(({ rate }) => rate),
            short,
          )}
          {isCluster &&
            plot(
              "Reconcile latency, 95th percentile",
              of(({ p95 }) => p95 ?? 0, max),
              latency,
            )}
          {isCluster &&
            plot(
              "Queue depth",
              of(({ depth }) => depth ?? 0),
              short,
            )}
          {plot(
            "Writes per second",
            of(({ writes }) => writes),
            short,
          )}
          {plot(
            "Errors per second",
            of(({ errors }) => errors),
            short,
          )}
          {plot(
            "Retries per second",
            of(({ retries }) => retries),
            short,
          )}
          {isCluster && plot("Pods by phase", podSeries(list), short)}
          {isCluster &&
            plot(
              "GPUs",
              [
                { name: "in use", values: list.map(({ gpus }) => gpus.used) },
                { name: "allocatable", values: list.map(({ gpus }) => gpus.total) },
              ],
              short,
            )}
          {sizedNames(list).map((name) => plot(`Load and size of ${name}`, sizeSeries(list, name), short))}
          {isCluster &&
            plot(
              "Changes of objects per second",
              [{ name: "changes", values: list.map(({ changes }) => changes) }],
              short,
            )}
        </div>
      )}
    </div>
  );
}

const groupOf = ({ operator, controller }: ControllerSample) => operator || controller;

function groupsOf(list: readonly Sample[]): string[] {
  return [...new Set(list.flatMap(({ controllers }) => controllers.map(groupOf)))].sort();
}

/** More are not plotted. */
const MOST_SIZED = 12;

function sizedNames(list: readonly Sample[]): string[] {
  return [...new Set(list.flatMap(({ sizes }) => sizes.map(({ name }) => name)))].sort().slice(0, MOST_SIZED);
}

/** GPUs and replicas against the load that they are for. */
function sizeSeries(list: readonly Sample[], name: string): Series[] {
  const of = (value: (size: Sample["sizes"][number]) => number | undefined) =>
    list.map(({ sizes }) => {
      const size = sizes.find((one) => one.name === name);
      return (size && value(size)) ?? 0;
    });
  return [
    { name: "requests/s", values: of(({ load }) => load) },
    { name: "replicas required", values: of(({ wanted }) => wanted) },
    { name: "replicas ready", values: of(({ ready }) => ready) },
    { name: "GPUs", values: of(({ gpus }) => gpus) },
  ];
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
const max = (values: number[]) => Math.max(0, ...values);

function podSeries(list: readonly Sample[]): Series[] {
  const phases = [...new Set(list.flatMap(({ pods }) => Object.keys(pods)))].sort();
  return phases.map((name) => ({ name, values: list.map(({ pods }) => pods[name] ?? 0) }));
}
