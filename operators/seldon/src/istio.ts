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
import type { SeldonDeployment } from "./seldon-deployment.ts";
import { labelsOf } from "./unit-container.ts";

export const VirtualService = routeKind("networking.istio.io", "v1beta1", "VirtualService");
export const DestinationRule = routeKind("networking.istio.io", "v1beta1", "DestinationRule");

/** The methods of the protocols over gRPC: clients name the SeldonDeployment in headers. */
const GRPC_METHODS = ".*tensorflow.*|.*seldon.protos.*|.*inference.*";

/** Istio: one VirtualService that splits and mirrors, one per explainer, and a DestinationRule per Service. */
export const istio: Router = {
  name: "istio",
  kinds: [VirtualService, DestinationRule],
  routes(object, backends, gateway) {
    const { live, shadow } = rolesOf(backends);
    const { name, namespace } = object.metadata;
    const headers = { seldon: { exact: name }, namespace: { exact: namespace } };
    const http = [
      {
        match: [{ uri: { prefix: `${pathOf(object)}/` } }],
        rewrite: { uri: "/" },
        ...split(object, live, shadow, "http"),
      },
      { match: [{ uri: { regex: GRPC_METHODS }, headers }], ...split(object, live, shadow, "grpc") },
    ];
    return [
      virtualService(object, idOf(object), gateway, http),
      ...backends.map((backend) => destinationRule(object, backend, backend.service)),
      ...backends.flatMap((backend) => explainerRoutes(object, backend, gateway)),
    ];
  },
};

function split(object: SeldonDeployment, live: readonly Backend[], shadow: Backend | undefined, port: "http" | "grpc") {
  const { traffic } = shadow?.predictor ?? {};
  return {
    ...retriesOf(object),
    route: live.map((one) => ({
      destination: destination(object, one.service, one.predictor.name, one[port]),
      weight: shareOf(one, live),
    })),
    ...(shadow && { mirror: destination(object, shadow.service, shadow.predictor.name, shadow[port]) }),
    ...(traffic && { mirrorPercentage: { value: traffic } }),
  };
}

function retriesOf(object: SeldonDeployment) {
  const attempts = Number(annotationOf(object, "seldon.io/istio-retries") ?? 0);
  if (!(attempts > 0)) return {};
  const seconds = Number(annotationOf(object, "seldon.io/istio-retries-timeout") ?? 1) || 1;
  const retryOn = "gateway-error,connect-failure,refused-stream";
  return { retries: { attempts, perTryTimeout: `${seconds}s`, retryOn } };
}

function explainerRoutes(object: SeldonDeployment, backend: Backend, gateway: string): Drafted<Route>[] {
  const { explainer, predictor } = backend;
  if (!explainer) return [];
  const { service, http } = explainer;
  const rule = {
    match: [{ uri: { prefix: `${explainerPathOf(object, predictor)}/` } }],
    rewrite: { uri: "/" },
    route: [{ destination: destination(object, service, predictor.name, http), weight: 100 }],
  };
  return [
    virtualService(object, `${service}-http`.slice(0, 63).replace(/-$/, ""), gateway, [rule]),
    destinationRule(object, backend, service),
  ];
}

function virtualService(
  object: SeldonDeployment,
  name: string,
  gateway: string,
  http: readonly unknown[],
): Drafted<Route> {
  const hosts = (annotationOf(object, "seldon.io/istio-host") ?? "*").split(",").map((host) => host.trim());
  return VirtualService.draft({
    metadata: routeMetadata(object, name),
    spec: { hosts, gateways: [annotationOf(object, "seldon.io/istio-gateway") ?? gateway], http },
  });
}

function destinationRule(object: SeldonDeployment, { predictor }: Backend, service: string): Drafted<Route> {
  return DestinationRule.draft({
    metadata: routeMetadata(object, service),
    spec: {
      host: hostOf(object, service),
      subsets: [{ name: predictor.name, labels: { version: labelsOf(predictor)["version"] } }],
      trafficPolicy: { connectionPool: { http: { idleTimeout: "60s" } } },
    },
  });
}

function destination(object: SeldonDeployment, service: string, subset: string, port: number) {
  return { host: hostOf(object, service), subset, port: { number: port } };
}

function hostOf({ metadata }: SeldonDeployment, service: string): string {
  return `${service}.${metadata.namespace}.svc.cluster.local`;
}
