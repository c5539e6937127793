import type { Drafted } from "konverge";
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
} from "./route.ts";
import type { SeldonDeployment } from "./seldon-deployment.ts";

export const Mapping = routeKind("getambassador.io", "v2", "Mapping");

const GRPC_METHODS = "/(seldon.protos.*|tensorflow.serving.*|inference.*)/.*";
/** Ambassador's default idle timeout, in milliseconds. */
const IDLE_TIMEOUT = 300_000;

/** Ambassador (Emissary-ingress): two Mappings per predictor, and one per explainer. */
export const ambassador: Router = {
  name: "ambassador",
  kinds: [Mapping],
  routes: (object, backends) => backends.flatMap((backend) => mappingsOf(object, backend, rolesOf(backends).live)),
};

function mappingsOf(object: SeldonDeployment, backend: Backend, live: readonly Backend[]): Drafted<Route>[] {
  const { predictor, service, http, grpc, explainer } = backend;
  const { namespace, name } = object.metadata;
  const external = annotationOf(object, "seldon.io/ambassador-service-name") ?? name;
  // Ambassador gives what the others leave to the first.
  const share = {
    ...(backend !== live[0] && { weight: predictor.traffic ?? 0 }),
    ...(predictor.shadow && { shadow: true }),
  };
  const mapping = (part: string, spec: Record<string, unknown>) =>
    Mapping.draft({
      metadata: routeMetadata(object, `seldon-${namespace}-${name}-${part}`),
      spec: { ...spec, ...optionsOf(object) },
    });
  return [
    mapping(`${predictor.name}-rest`, {
      cluster_tag: "seldon_http",
      prefix: `${pathOf({ ...object, metadata: { ...object.metadata, name: external } })}/`,
      rewrite: "/",
      service: `${service}.${namespace}:${http}`,
      ...headersOf(object, {}),
      ...share,
    }),
    mapping(`${predictor.name}-grpc`, {
      cluster_tag: "seldon_grpc",
      prefix: GRPC_METHODS,
      prefix_regex: true,
      grpc: true,
      rewrite: "",
      service: `${service}.${namespace}:${grpc}`,
      ...headersOf(object, { seldon: external }),
      ...share,
    }),
    ...(explainer
      ? [
          mapping(`${predictor.name}-explainer-rest`, {
            cluster_tag: "seldon_http",
            prefix: `${explainerPathOf(object, predictor)}/`,
            rewrite: "/",
            service: `${explainer.service}.${namespace}:${explainer.http}`,
            ...headersOf(object, {}),
          }),
        ]
      : []),
  ];
}

/** One more header that requests must have: `name: value`, or `name` alone. */
function headersOf(object: SeldonDeployment, fixed: Record<string, string>) {
  const [name, value] = (annotationOf(object, "seldon.io/ambassador-header") ?? "").split(":").map((one) => one.trim());
  const headers = { ...fixed, ...(name && { [name]: value ?? true }) };
  return Object.keys(headers).length > 0 ? { headers } : {};
}

function optionsOf(object: SeldonDeployment) {
  const number = (key: string) => Number(annotationOf(object, `seldon.io/${key}`) ?? Number.NaN);
  const timeout = number("rest-timeout") || 3000;
  const retries = number("ambassador-retries");
  const instance = annotationOf(object, "seldon.io/ambassador-id");
  const breaker = Object.fromEntries(
    ["max-connections", "max-pending-requests", "max-requests", "max-retries"]
      .map((limit) => [limit.replaceAll("-", "_"), number(`ambassador-circuit-breakers-${limit}`)] as const)
      .filter(([, limit]) => !Number.isNaN(limit)),
  );
  return {
    timeout_ms: timeout,
    ...(timeout > IDLE_TIMEOUT && { idle_timeout_ms: timeout }),
    ...(retries > 0 && { retry_policy: { retry_on: "gateway-error", num_retries: retries } }),
    ...(instance && { ambassador_id: [instance] }),
    ...(Object.keys(breaker).length > 0 && { circuit_breakers: [breaker] }),
  };
}
