import {
  type ConditionState,
  type Conditions,
  cacheKind,
  conditionFalse,
  conditionTrue,
  isApplied,
  isInvalid,
  ownerReference,
  permission,
  type ReconcileContext,
  type TypedKind,
} from "konverge";
import { CustomResourceDefinition } from "konverge/kinds";
import { gvkOf, templateHash } from "konverge/objects";
import { ambassador } from "./ambassador.ts";
import { gatewayApi } from "./gateway-api.ts";
import { istio } from "./istio.ts";
import { DEPLOYMENT_ID, idOf } from "./names.ts";
import { type Backend, type Route, type Router, rolesOf, shareOf } from "./route.ts";
import type { SeldonDeployment } from "./seldon-deployment.ts";

const ROUTERS: readonly Router[] = [istio, ambassador, gatewayApi];
const KINDS = ROUTERS.flatMap(({ kinds }) => kinds);
/** Of the spec that was applied last: without it, a field that is no longer set would stay. */
const DIGEST = "seldon.io/applied";

/** Settings about routes. */
export interface RouteSettings {
  readonly routers: readonly Router[];
  /** The gateway that routes of Istio and of the Gateway API belong to. */
  readonly gateway: string;
}

const crdOf = ({ plural, group }: TypedKind<Route>) => `${plural}.${group}`;

/** Which of the routers' kinds are installed. */
export const routerDefinitions = KINDS.map((kind) =>
  cacheKind<CustomResourceDefinition, SeldonDeployment>(CustomResourceDefinition, {
    fieldSelector: `metadata.name=${crdOf(kind)}`,
  }),
);

export const routePermissions = KINDS.map((kind) => permission(kind, ["list", "create", "patch", "delete"]));

/** The routers of a setting, which are separated by commas; throws if it names one that does not exist. */
export function routersNamed(setting: string): Router[] {
  const names = setting.split(",").map((name) => name.trim());
  const known = ROUTERS.map(({ name }) => name);
  const unknown = names.filter((name) => name !== "" && !known.includes(name));
  if (unknown.length > 0) throw new Error(`unknown router ${unknown.join(", ")}: use ${known.join(", ")}`);
  return ROUTERS.filter(({ name }) => names.includes(name));
}

/**
 * Keeps the routes of a SeldonDeployment for each router that is installed, and reports how requests are split.
 *
 * The routers may be installed later than this operator, so their kinds are neither watched nor among the children: routes are
 * compared with what is requested in each reconcile, and go with their owner.
 */
export async function keepRoutes(
  object: SeldonDeployment,
  backends: readonly Backend[],
  { routers: enabled, gateway }: RouteSettings,
  { cache, client }: Pick<ReconcileContext, "cache" | "client">,
): Promise<Conditions> {
  const isServed = (kind: TypedKind<Route>) =>
    cache
      .get(CustomResourceDefinition, crdOf(kind))
      ?.spec?.versions?.some(({ name, served }) => name === kind.version && served) ?? false;
  const active = enabled.filter(({ kinds }) => isServed(kinds[0]));
  const drafts = active.flatMap((router) => router.routes(object, backends, gateway));
  let refusal: string | undefined;
  for (const kind of KINDS.filter(isServed)) {
    const wanted = drafts.filter((draft) => draft.kind === kind.kind).map((draft) => ownedBy(object, draft));
    refusal = (await keep(object, kind, wanted, client)) ?? refusal;
  }
  return {
    istioVirtualServicesReady: active.includes(istio)
      ? upstreamCondition(refusal, "All VirtualServices created", "Not all VirtualServices created")
      : conditionTrue("No VirtualServices defined"),
    AmbassadorMappingsReady: active.includes(ambassador)
      ? upstreamCondition(refusal, "All Ambassador Mappings created", "Not all Ambassador Mappings created")
      : conditionTrue("No Ambassador Mappaings defined"),
    TrafficSplit: splitCondition(backends, enabled, active, refusal),
  };
}

function ownedBy(object: SeldonDeployment, draft: Route): Route {
  const metadata = {
    ...draft.metadata,
    annotations: { [DIGEST]: templateHash(draft.spec) },
    ownerReferences: [ownerReference(gvkOf(object), object)],
  };
  return { ...draft, metadata };
}

/** Applies what differs and deletes what is left over; returns the server's message if it refuses one. */
async function keep(
  object: SeldonDeployment,
  kind: TypedKind<Route>,
  wanted: readonly Route[],
  client: ReconcileContext["client"],
): Promise<string | undefined> {
  const { namespace, uid } = object.metadata;
  const { items } = await client.list(kind, {
    namespace: namespace!,
    labelSelector: `${DEPLOYMENT_ID}=${idOf(object)}`,
  });
  const own = items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
  for (const { metadata } of own) {
    const isWanted = wanted.some((draft) => draft.metadata.name === metadata.name);
    if (!isWanted && !metadata.deletionTimestamp) {
      await client.delete(kind, `${namespace}/${metadata.name}`, { preconditions: { uid: metadata.uid! } });
    }
  }
  let refusal: string | undefined;
  for (const draft of wanted) {
    const live = own.find(({ metadata }) => metadata.name === draft.metadata.name);
    if (isApplied(kind, draft, live)) continue;
    await client.apply(kind, draft, { force: true }).catch((error: unknown) => {
      // The models are served whether or not requests from outside find them.
      if (!isInvalid(error)) throw error;
      refusal = (error as Error).message;
    });
  }
  return refusal;
}

function upstreamCondition(refusal: string | undefined, all: string, missing: string): ConditionState {
  return refusal === undefined ? conditionTrue(all) : conditionFalse(missing, refusal);
}

/** Whether requests are split and mirrored as the predictors say; undefined if there is nothing to split. */
function splitCondition(
  backends: readonly Backend[],
  enabled: readonly Router[],
  active: readonly Router[],
  refusal: string | undefined,
): ConditionState | undefined {
  if (backends.length < 2) return undefined;
  if (active.length === 0) {
    const kinds = enabled.map(({ kinds: [kind] }) => `${kind.kind} (${kind.group}/${kind.version})`);
    const advice = kinds.length > 0 ? `install one of ${kinds.join(", ")}` : "set the operator's setting routers";
    return conditionFalse("NoRouter", `requests are not split between the predictors: ${advice}`);
  }
  if (refusal !== undefined) return conditionFalse("RouteRefused", refusal);
  const { live, shadow } = rolesOf(backends);
  const shares = live.map((one) => `${shareOf(one, live)} % to ${one.predictor.name}`);
  if (shadow) shares.push(`copies to ${shadow.predictor.name}`);
  return conditionTrue("Routed", `${active.map(({ kinds: [kind] }) => kind.kind).join(", ")}: ${shares.join(", ")}`);
}
