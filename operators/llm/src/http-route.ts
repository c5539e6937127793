import {
  type ChildrenOutcome,
  type Condition,
  type ConditionState,
  conditionFalse,
  conditionTrue,
  conditionUnknown,
  findCondition,
  type KubeObject,
  type PlannedChild,
  plannedChild,
  type ReconcileContext,
  TypedKind,
  type WithConditions,
} from "konverge";
import { MANAGED } from "./inference-server.ts";
import type { RouteSpec } from "./route-spec.ts";

/** A kind of the Gateway API; it need not be installed. */
export const HTTPRoute = new TypedKind<HTTPRoute>({
  group: "gateway.networking.k8s.io",
  version: "v1",
  kind: "HTTPRoute",
  plural: "httproutes",
  namespaced: true,
});
/** As much of it as is written and read here. */
export interface HTTPRoute extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: { readonly parents?: readonly { readonly conditions?: readonly Condition[] }[] };
}

/** A Service, and its part of the requests in percent. */
export interface RouteBackend {
  readonly service: string;
  readonly weight: number;
}

const SERVICE_PORT = 80;

/** The route that leads to these Services. */
function httpRouteFor(
  owner: KubeObject,
  { name, labels, backends }: { name: string; labels: Record<string, string>; backends: readonly RouteBackend[] },
  route: RouteSpec,
) {
  const { gateway, hostnames, path, timeout } = route;
  const rewrite = { type: "URLRewrite", urlRewrite: { path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/" } } };
  return HTTPRoute.draft({
    metadata: { name, namespace: owner.metadata.namespace, labels: { ...MANAGED, ...labels } },
    spec: {
      parentRefs: [{ ...gateway }],
      ...(hostnames && { hostnames }),
      rules: [
        {
          matches: [{ path: { type: "PathPrefix", value: path } }],
          ...(path !== "/" && { filters: [rewrite] }),
          backendRefs: backends.map(({ service, weight }) => ({ name: service, port: SERVICE_PORT, weight })),
          ...(timeout && { timeouts: { request: timeout } }),
        },
      ],
    },
  });
}

/** The route of an object as a child, and what is reported of it once it has been applied. */
export interface Routing {
  readonly children: readonly PlannedChild[];
  /** Whether requests find the model; undefined without a route. */
  condition(outcome: ChildrenOutcome): ConditionState | undefined;
}

/** The routing that an object requests. */
export function routingOf(
  owner: WithConditions & KubeObject & { readonly spec: { readonly route?: RouteSpec | undefined } },
  { name, labels, backends }: { name: string; labels: Record<string, string>; backends: readonly RouteBackend[] },
  { observed, isServed, events }: Pick<ReconcileContext, "observed" | "isServed" | "events">,
): Routing {
  const { route } = owner.spec;
  if (!route) return { children: [], condition: () => undefined };
  const draft = httpRouteFor(owner, { name, labels, backends }, route);
  const before = findCondition(owner.status?.conditions, "Routed");
  return {
    children: [plannedChild(draft, { onRefused: "report" })],
    condition({ refused }) {
      const refusal = refused.find(({ child }) => child === draft)?.error.message;
      const routed = isServed(HTTPRoute)
        ? routedCondition(observed(HTTPRoute, name), route, refusal)
        : conditionFalse(
            "GatewayApiMissing",
            "there is no HTTPRoute in gateway.networking.k8s.io/v1: install the Gateway API",
          );
      if (routed.status === "False" && before?.reason !== routed.reason)
        events.warning(routed.reason, routed.message ?? "");
      return routed;
    },
  };
}

/** As the gateway reports it. */
function routedCondition(
  live: HTTPRoute | undefined,
  { gateway }: RouteSpec,
  refusal: string | undefined,
): ConditionState {
  if (refusal !== undefined) return conditionFalse("RouteRefused", refusal);
  const conditions = live?.status?.parents?.flatMap((parent) => parent.conditions ?? []) ?? [];
  const rejected = conditions.find(({ type, status }) => isVerdict(type) && status === "False");
  if (rejected) return conditionFalse("RouteNotAccepted", `${rejected.reason}: ${rejected.message}`);
  const of = `the gateway ${gateway.namespace ? `${gateway.namespace}/` : ""}${gateway.name}`;
  if (!conditions.some(({ type, status }) => type === "Accepted" && status === "True"))
    return conditionUnknown("Pending", `${of} has not accepted the route yet`);
  return conditionTrue("Routed", `${of} routes requests to the model`);
}

function isVerdict(type: string): boolean {
  return type === "Accepted" || type === "ResolvedRefs";
}
