import { type Drafted, type KubeObject, TypedKind } from "konverge";
import { DEPLOYMENT_ID, idOf, MANAGED_BY } from "./names.ts";
import type { Predictor, SeldonDeployment } from "./seldon-deployment.ts";

/** An object that leads requests from outside the cluster, of a kind that need not be installed. */
export interface Route extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Where a predictor's requests go, and those of its explainer. */
export interface Backend {
  readonly predictor: Predictor;
  readonly service: string;
  readonly http: number;
  readonly grpc: number;
  readonly explainer?: { readonly service: string; readonly http: number };
}

/** A piece of software that routes requests by objects in the cluster. */
export interface Router {
  /** As the setting calls it. */
  readonly name: string;
  /** Its kinds; without the first, it is not installed. */
  readonly kinds: readonly [TypedKind<Route>, ...TypedKind<Route>[]];
  /** The routes of a SeldonDeployment, which split requests by the predictors' traffic. */
  routes(object: SeldonDeployment, backends: readonly Backend[], gateway: string): Drafted<Route>[];
}

export function routeKind(group: string, version: string, kind: string): TypedKind<Route> {
  return new TypedKind<Route>({ group, version, kind, plural: `${kind.toLowerCase()}s`, namespaced: true });
}

export function routeMetadata(object: SeldonDeployment, name: string) {
  return { name, namespace: object.metadata.namespace, labels: { [DEPLOYMENT_ID]: idOf(object), ...MANAGED_BY } };
}

/** The path of a SeldonDeployment, as upstream's clients call it. */
export function pathOf({ metadata }: SeldonDeployment): string {
  return `/seldon/${metadata.namespace}/${metadata.name}`;
}

export function explainerPathOf(object: SeldonDeployment, { name }: Predictor): string {
  return `${pathOf(object)}-explainer/${name}`;
}

/** Annotations of the spec count before those of the object. */
export function annotationOf({ spec, metadata }: SeldonDeployment, key: string): string | undefined {
  return spec.annotations?.[key] ?? metadata.annotations?.[key];
}

/** The predictors that answer requests, and the one that gets copies of them. */
export function rolesOf(backends: readonly Backend[]): { live: Backend[]; shadow: Backend | undefined } {
  return {
    live: backends.filter(({ predictor }) => !predictor.shadow),
    shadow: backends.find(({ predictor }) => predictor.shadow),
  };
}

/** A predictor's part of the requests in percent; the only one gets all. */
export function shareOf({ predictor }: Backend, live: readonly Backend[]): number {
  return live.length === 1 ? 100 : (predictor.traffic ?? 0);
}
