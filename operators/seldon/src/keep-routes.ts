import {
  type ConditionState,
  type Conditions,
  conditionFalse,
  conditionTrue,
  optionalKind,
  type ReconcileContext,
  type TypedKind,
  type WatchedKind,
} from "konverge";
import { ambassador } from "./ambassador.ts";
import { gatewayApi } from "./gateway-api.ts";
import { istio } from "./istio.ts";
import { DEPLOYMENT_ID, idOf } from "./names.ts";
import { type Backend, type Route, type Router, rolesOf, shareOf } from "./route.ts";
import type { SeldonDeployment } from "./seldon-deployment.ts";

const ROUTERS: readonly Router[] = [istio, ambassador, gatewayApi];
const KINDS = ROUTERS.flatMap(({ kinds }) => kinds).map((kind) => optionalKind(kind));

/** Settings about routes. */
export interface RouteSettings {
  readonly routers: readonly Router[];
  /** The gateway that routes of Istio and of the Gateway API belong to. */
  readonly gateway: string;
}

/** Which of the routers' kinds are installed. */
export const routerDefinitions = KINDS.map(({ definition }) => definition as WatchedKind<SeldonDeployment>);

export const routePermissions = KINDS.map(({ permission }) => permission);

/** The routers of a setting, which are separated by commas; throws if it names one that does not exist. */
export function routersNamed(setting: string): Router[] {
  const names = setting.split(",").map((name) => name.trim());
  const known = ROUTERS.map(({ name }) => name);
  const unknown = names.filter((name) => name !== "" && !known.includes(name));
  if (unknown.length > 0) throw new Error(`unknown router ${unknown.join(", ")}: use ${known.join(", ")}`);
  return ROUTERS.filter(({ name }) => names.includes(name));
}

/**
 * Keeps the routes of a SeldonDeployment for each router that is installed, and reports how requests are split. The models are
 * served whether or not requests from outside find them: a route that is refused is reported only.
 */
export async function keepRoutes(
  object: SeldonDeployment,
  backends: readonly Backend[],
  { routers: enabled, gateway }: RouteSettings,
  context: Pick<ReconcileContext, "cache" | "client">,
): Promise<Conditions> {
  const isServed = (kind: TypedKind<Route>) => KINDS.find((one) => one.kind === kind)!.isServed(context.cache);
  const active = enabled.filter(({ kinds }) => isServed(kinds[0]));
  const drafts = active.flatMap((router) => router.routes(object, backends, gateway));
  let refusal: string | undefined;
  for (const { kind, keep } of KINDS) {
    const wanted = drafts.filter((draft) => draft.kind === kind.kind);
    const kept = await keep(object, wanted, { [DEPLOYMENT_ID]: idOf(object) }, context);
    refusal = kept.refusal ?? refusal;
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
