import { own } from "@konverge/core";
import type { RequestInfo } from "../http/request-info.ts";
import type { Registry } from "../resources/registry.ts";
import type { Store } from "../storage/store.ts";

/** What `verb` is called in metrics, where that is not the verb in capitals. */
const VERBS: Record<string, string> = { create: "POST", update: "PUT" };

/** Series of one name: what each is called, and its value. */
export type MetricFamily = readonly [
  name: string,
  type: "counter" | "gauge",
  help: string,
  series: readonly (readonly [labels: string, value: number])[],
];

const MOST_SERIES = 20_000;

/** Counts requests, and reports them and what is stored in the form that Prometheus reads. */
export class ServerMetrics {
  /** By series: the labels are made when metrics are requested. */
  readonly #requests = new Map<string, { readonly labels: Record<string, string>; count: number }>();

  /** What other parts of the server report. */
  more: () => readonly MetricFamily[] = () => [];

  /** A request about objects has been answered. */
  count(info: RequestInfo, code: number, apply: boolean): void {
    if (!info.isResource) return;
    const { verb, group, version, resource, subresource, namespace, name } = info;
    const scope = name !== "" || verb === "create" ? "resource" : namespace !== "" ? "namespace" : "cluster";
    const dryRun = info.query.has("dryRun") ? "All" : "";
    const series = `${code} ${dryRun} ${group}/${version}/${resource}/${subresource} ${scope} ${apply} ${verb}`;
    const known = this.#requests.get(series);
    if (known) {
      known.count++;
      return;
    }
    // Clients make up names of resources: those do not fill the memory.
    if (this.#requests.size >= MOST_SERIES) return;
    const labels = {
      code: String(code),
      component: "apiserver",
      dry_run: dryRun,
      group,
      resource,
      scope,
      subresource,
      verb: apply ? "APPLY" : (own(VERBS, verb) ?? verb.toUpperCase()),
      version,
    };
    this.#requests.set(series, { labels, count: 1 });
  }

  text(store: Store, registry: Registry): string {
    const requests = [...this.#requests.values()]
      .map(({ labels, count }): [string, number] => [labelsText(labels), count])
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const objects = [...registry.all()]
      // A resource that is stored with another (events) is counted there.
      .filter(({ storage, group, plural }) => storage === `${group}/${plural}`)
      .map(({ storage, group, plural }): [string, number] => [
        labelsText({ group, resource: plural }),
        store.collection(storage).size,
      ])
      .filter(([, size]) => size > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const [major = "", minor = ""] = registry.facts.version.split(".");
    const build = labelsText({ git_version: `v${registry.facts.version}`, major, minor });
    const others = this.more().flatMap(([name, type, help, series]) =>
      family(
        name,
        type,
        help,
        series.toSorted(([a], [b]) => (a < b ? -1 : 1)),
      ),
    );
    return [
      ...others,
      ...family("apiserver_request_total", "counter", "Requests by verb, resource, scope and status.", requests),
      ...family("apiserver_resource_objects", "gauge", "Stored objects by resource.", objects),
      ...family("kubernetes_build_info", "gauge", "The version that is served.", [[build, 1]]),
      "",
    ].join("\n");
  }
}

function family(name: string, type: string, help: string, series: readonly (readonly [string, number])[]): string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...series.map(([labels, value]) => `${name}${labels} ${value}`),
  ];
}

/** Labels as they are written after a metric's name. */
export function labelsText(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `{${pairs.join(",")}}`;
}
