/** `watches.yaml`, as Operator SDK's Helm operators have it. */
import { isObject, parseDuration } from "@konverge/core";
import { parseYaml } from "@konverge/schema";

/** A kind, and the chart that its objects are releases of. */
export interface HelmWatch {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The path of the chart, from the folder of the file. */
  readonly chart: string;
  /** Above what users set; values may be templates, and have had their environment variables replaced. */
  readonly overrideValues?: Readonly<Record<string, string>>;
  /** Only objects with these labels. */
  readonly labelSelector?: string;
  /** Milliseconds between reconciles when nothing changes. */
  readonly reconcilePeriod?: number;
}

const KNOWN = new Set([
  "group",
  "version",
  "kind",
  "chart",
  "overrideValues",
  "selector",
  "reconcilePeriod",
  // What a release makes is always watched, and nothing is compared by dry runs.
  "watchDependentResources",
  "dryRunOption",
]);

/** Reads the text of a `watches.yaml`. `environment` replaces `$NAME` and `${NAME}` in `overrideValues`. */
export function parseWatches(
  yaml: string,
  environment: Readonly<Record<string, string | undefined>> = {},
): HelmWatch[] {
  const [list] = parseYaml(yaml);
  if (!Array.isArray(list)) throw new Error("watches.yaml: it has to be a list with group, version, kind and chart");
  const watches = list.map((entry, i) => watchOf(entry, `watches.yaml[${i}]`, environment));
  const names = watches.map(({ group, version, kind }) => `${group}/${version} ${kind}`);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice) throw new Error(`watches.yaml: ${twice} is there twice: remove one of them`);
  return watches;
}

function watchOf(entry: unknown, where: string, environment: Readonly<Record<string, string | undefined>>): HelmWatch {
  if (!isObject(entry)) throw new Error(`${where}: it has to be an object with group, version, kind and chart`);
  const unknown = Object.keys(entry).find((name) => !KNOWN.has(name));
  if (unknown) throw new Error(`${where}.${unknown}: there is no such field; known are ${[...KNOWN].join(", ")}`);
  const text = (name: string) => {
    const value = entry[name];
    if (typeof value !== "string" || value === "") throw new Error(`${where}.${name}: it has to be a text`);
    return value;
  };
  const { overrideValues, selector, reconcilePeriod } = entry;
  const labelSelector = isObject(selector) ? selectorText(selector, `${where}.selector`) : "";
  return {
    group: entry["group"] === undefined || entry["group"] === "" ? "" : text("group"),
    version: text("version"),
    kind: text("kind"),
    chart: text("chart"),
    ...(isObject(overrideValues) && { overrideValues: expanded(overrideValues, environment) }),
    ...(labelSelector && { labelSelector }),
    ...(reconcilePeriod !== undefined && { reconcilePeriod: period(reconcilePeriod, `${where}.reconcilePeriod`) }),
  };
}

function period(value: unknown, where: string): number {
  try {
    return Number(parseDuration(String(value))) / 1e6;
  } catch {
    throw new Error(`${where}: ${JSON.stringify(value)} is not a duration such as 1m30s`);
  }
}

/** As Go's os.Expand: a variable that is not set is empty. */
function expanded(values: object, environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const expand = (text: string) =>
    text.replace(/\$(?:\{(\w+)\}|(\w+))/g, (_, braced?: string, bare?: string) => environment[braced ?? bare!] ?? "");
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, expand(String(value))]));
}

function selectorText(selector: object, where: string): string {
  const { matchLabels = {}, matchExpressions = [] } = selector as {
    matchLabels?: Record<string, string>;
    matchExpressions?: readonly { key: string; operator: string; values?: readonly string[] }[];
  };
  const equal = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === "In" || operator === "NotIn") return `${key} ${operator.toLowerCase()} (${values.join(",")})`;
    if (operator === "Exists") return key;
    if (operator === "DoesNotExist") return `!${key}`;
    throw new Error(`${where}: ${JSON.stringify(operator)} is not an operator: In, NotIn, Exists or DoesNotExist`);
  });
  return [...equal, ...expressions].join(",");
}
