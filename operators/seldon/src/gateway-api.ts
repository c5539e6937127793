import type { Drafted } from "konverge";
import { idOf } from "./names.ts";
import {
  annotationOf,
  type Backend,
  explainerPathOf,
  pathOf,
  type Route,
  type Router,
  rolesOf,
  routeKind,
  routeMetadata,
  shareOf,
} from "./route.ts";

export const HTTPRoute = routeKind("gateway.networking.k8s.io", "v1", "HTTPRoute");
export const GRPCRoute = routeKind("gateway.networking.k8s.io", "v1", "GRPCRoute");

/** The Gateway API: an HTTPRoute and a GRPCRoute that split and mirror, and an HTTPRoute per explainer. */
export const gatewayApi: Router = {
  name: "gateway",
  kinds: [HTTPRoute, GRPCRoute],
  routes(object, backends, gateway) {
    const { live, shadow } = rolesOf(backends);
    const parents = { parentRefs: [parentOf(annotationOf(object, "seldon.io/gateway") ?? gateway)] };
    const { name, namespace } = object.metadata;
    const headers = [
      { name: "seldon", value: name },
      { name: "namespace", value: namespace },
    ];
    return [
      HTTPRoute.draft({
        metadata: routeMetadata(object, idOf(object)),
        spec: { ...parents, rules: [pathRule(pathOf(object), split(live, "http"), mirrors(shadow, "http"))] },
      }),
      GRPCRoute.draft({
        metadata: routeMetadata(object, idOf(object)),
        spec: {
          ...parents,
          rules: [{ matches: [{ headers }], ...filtersOf(mirrors(shadow, "grpc")), backendRefs: split(live, "grpc") }],
        },
      }),
      ...backends.flatMap(({ predictor, explainer }): Drafted<Route>[] => {
        if (!explainer) return [];
        const { service, http } = explainer;
        const rules = [pathRule(explainerPathOf(object, predictor), [{ name: service, port: http, weight: 1 }], [])];
        return [HTTPRoute.draft({ metadata: routeMetadata(object, service), spec: { ...parents, rules } })];
      }),
    ];
  },
};

function parentOf(gateway: string): { name: string; namespace?: string } {
  const [namespace, name] = gateway.split("/");
  return name ? { name, namespace: namespace! } : { name: gateway };
}

function pathRule(path: string, backendRefs: readonly unknown[], mirrored: readonly unknown[]) {
  const rewrite = {
    type: "URLRewrite",
    urlRewrite: { path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/" } },
  };
  return {
    matches: [{ path: { type: "PathPrefix", value: path } }],
    ...filtersOf([rewrite, ...mirrored]),
    backendRefs,
  };
}

function split(live: readonly Backend[], port: "http" | "grpc") {
  return live.map((one) => ({ name: one.service, port: one[port], weight: shareOf(one, live) }));
}

function mirrors(shadow: Backend | undefined, port: "http" | "grpc") {
  if (!shadow) return [];
  const { traffic } = shadow.predictor;
  const requestMirror = {
    backendRef: { name: shadow.service, port: shadow[port] },
    ...(traffic && { percent: traffic }),
  };
  return [{ type: "RequestMirror", requestMirror }];
}

function filtersOf(filters: readonly unknown[]) {
  return filters.length > 0 ? { filters } : {};
}
