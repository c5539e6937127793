import { definition } from "@konverge/kinds";
import * as parameters from "./parameters.ts";

/** The subresources that open a connection, and the methods that do. Their bodies are not the server's business. */
const STREAMS = ["get", "post"];
const PROXY = ["get", "put", "post", "delete", "options", "head", "patch"];
const TYPES: Record<string, string> = { bool: "boolean", string: "string", "[]string": "string", "[]int32": "integer" };

/** A subresource that opens a connection: of what it is, and where its path begins. */
export interface Connection {
  readonly name: string;
  /** The kind of its options: `PodExecOptions`. */
  readonly options: string;
  /** The path of the subresource. */
  readonly path: string;
  /** `connectCoreV1`, and what comes after the method: `NamespacedPodExec`. */
  readonly id: readonly [before: string, after: string];
  readonly tag: string;
  readonly scope: readonly parameters.Parameter[];
}

/** The paths of a connection: a proxy also has one for what lies below it. */
export function connectionPaths(connection: Connection): Record<string, Record<string, unknown>> {
  const { name, path, scope, options } = connection;
  const given = [...scope, ...optionParameters(options)];
  const common = { parameters: parameters.sorted(...given) };
  if (name !== "proxy") return { [path]: { ...operations(connection, STREAMS, ""), ...common } };
  const below = { parameters: parameters.sorted(parameters.PATH, ...given) };
  return {
    [path]: { ...operations(connection, PROXY, ""), ...common },
    [`${path}/{path}`]: { ...operations(connection, PROXY, "WithPath"), ...below },
  };
}

function operations({ id, tag, options }: Connection, methods: readonly string[], suffix: string): object {
  const [before, after] = id;
  return Object.fromEntries(
    methods.map((method) => [
      method,
      {
        tags: [tag],
        operationId: `${before}${method.charAt(0).toUpperCase()}${method.slice(1)}${after}${suffix}`,
        responses: {
          "200": { description: "OK", content: { "*/*": { schema: { type: "string" } } } },
          "401": { description: "Unauthorized" },
        },
        "x-kubernetes-action": "connect",
        "x-kubernetes-group-version-kind": { group: "", version: "v1", kind: options },
      },
    ]),
  );
}

/** What the options of a connection are called in its address. */
function optionParameters(options: string): parameters.Parameter[] {
  const fields = definition(`core.v1.${options}`)?.fields ?? {};
  return Object.entries(fields)
    .filter(([name]) => name !== "kind" && name !== "apiVersion")
    .map(([name, [type]]) => parameters.query(name, TYPES[type as string] ?? "string"));
}
