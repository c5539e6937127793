import { ApiError, type ApiResponse, badRequest, deepFreeze, forbidden, notFound, quoted } from "@konverge/core";
import { resourceAttributes } from "../auth/attributes.ts";
import { type Call, currentEntry } from "../call/call.ts";
import type { Pod } from "../codec/objects.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import type { SubresourceHandler } from "../extensions.ts";
import { isTrue } from "../http/query.ts";
import { objectOf } from "../resources/stored-object.ts";
import type { Entry } from "../storage/entry.ts";
import { type LogOptions, logOptions, requestedPorts } from "./kubelet-options.ts";

/** What a node is asked to do with a running pod; streams go through the response, upgraded where the request asks so. */
export interface KubeletRequest {
  readonly action: "log" | "exec" | "attach" | "portforward" | "proxy";
  readonly call: Call;
  readonly pod: Pod;
  /** The container that is meant; empty for port-forwarding and proxies. */
  readonly container: string;
  /** What is requested of a log. */
  readonly log?: LogOptions;
}

/** Answers for the nodes of a cluster: provided by what simulates or runs pods. */
export type KubeletApi = (request: KubeletRequest) => ApiResponse | Promise<ApiResponse>;

/** Answers what only the node of a pod can: logs, commands, ports. */
export function toKubelet(action: KubeletRequest["action"], kubelet: KubeletApi | undefined): SubresourceHandler {
  return async (call) => {
    if (action !== "log" && call.info.query.has("dryRun")) throw badRequest("dryRun is not supported");
    if (STREAMS.has(action)) checkMayCreate(call);
    const { name, query } = call.info;
    const log = action === "log" ? logOptions(name, query) : undefined;
    const ports = action === "portforward" ? requestedPorts(query) : [];
    const entry = currentEntry(call);
    if (!entry) throw notFound(call.definition, name);
    const pod = podOf(entry);
    const isAboutContainer = action === "log" || action === "exec" || action === "attach";
    const container = isAboutContainer ? containerOf(pod, query.get("container") ?? "") : "";
    if (!pod.spec.nodeName) {
      if (action === "log") return { status: 204, headers: {}, body: "" };
      throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
    }
    if (STREAMS.has(action)) await admitConnection(call, action, container, ports);
    if (!kubelet) throw withoutKubelet(pod);
    return kubelet({ action, call, pod, container, ...(log && { log }) });
  };
}

/** Operators that ask a server in its pod do so often while the pod stays as it is: it is parsed once, and frozen. */
const pods = new WeakMap<Entry, Pod>();

function podOf(entry: Entry): Pod {
  let pod = pods.get(entry);
  if (!pod) {
    pod = deepFreeze(objectOf(entry) as unknown as Pod);
    pods.set(entry, pod);
  }
  return pod;
}

/** A stream changes what runs, also where it begins with a GET, as WebSockets do. */
const STREAMS: ReadonlySet<string> = new Set(["exec", "attach", "portforward"]);

function checkMayCreate({ info, user, authorize }: Call): void {
  const { verb, group, resource, subresource, namespace, name } = info;
  if (verb === "create") return;
  const { allowed, reason } = authorize(
    user,
    resourceAttributes("create", { group, resource, subresource, namespace, name }),
  );
  if (!allowed) throw forbidden({ group, plural: resource }, name, reason);
}

const OPTIONS: Readonly<Record<string, string>> = {
  exec: "PodExecOptions",
  attach: "PodAttachOptions",
  portforward: "PodPortForwardOptions",
};

/** Admission judges connections as it does writes: by what they ask for. */
async function admitConnection(call: Call, action: string, container: string, ports: number[]): Promise<void> {
  const { query } = call.info;
  const flags = ["stdin", "stdout", "stderr", "tty"].filter((name) => isTrue(query.get(name)));
  const options = {
    kind: OPTIONS[action],
    apiVersion: "v1",
    ...Object.fromEntries(flags.map((name) => [name, true])),
    ...(container !== "" && { container }),
    ...(action === "exec" && { command: query.getAll("command") }),
    ...(ports.length > 0 && { ports }),
  } as unknown as WorkingObject;
  const admitted = (await call.admission.mutate(call, options, undefined, "CONNECT")) ?? options;
  await call.admission.validate(call, admitted, undefined, "CONNECT");
}

function containerOf({ metadata, spec }: Pod, wanted: string): string {
  const { name } = metadata;
  const containers = spec.containers.map((container) => container.name);
  if (wanted !== "") {
    const all = [spec.initContainers ?? [], spec.containers, spec.ephemeralContainers ?? []].flat();
    if (all.some((container) => container.name === wanted)) return wanted;
    throw badRequest(`container ${wanted} is not valid for pod ${name}`);
  }
  if (containers.length === 1) return containers[0]!;
  const init = (spec.initContainers ?? []).map((container) => container.name);
  const also = init.length > 0 ? ` or one of the init containers: [${init.join(" ")}]` : "";
  throw badRequest(
    `a container name must be specified for pod ${name}, choose one of: [${containers.join(" ")}]${also}`,
  );
}

function withoutKubelet({ spec }: Pod): ApiError {
  const message = `nothing answers for node ${quoted(spec.nodeName ?? "")}: this server has been given no kubelet; pass one when it is made`;
  return new ApiError({ code: 503, reason: "ServiceUnavailable", message });
}
