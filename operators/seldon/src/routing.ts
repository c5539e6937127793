import {
  type ChildrenOutcome,
  type ConditionState,
  type Conditions,
  conditionFalse,
  conditionTrue,
  ownedKind,
  type PlannedChild,
  plannedChild,
  type ReconcileContext,
} from "konverge";
import { ambassador } from "./ambassador.ts";
import { gatewayApi } from "./gateway-api.ts";
import { istio } from "./istio.ts";
import { type Backend, type Router, rolesOf, shareOf } from "./route.ts";
import type { SeldonDeployment } from "./seldon-deployment.ts";

const ROUTERS: readonly Router[] = [istio, ambassador, gatewayApi];
/** The kinds of all routers, of which none need be installed. */
export const routeKinds = ROUTERS.flatMap(({ kinds }) => kinds).map((kind) => ownedKind(kind, { optional: true }));

/** Settings about routes. */
export interface RouteSettings {
  readonly routers: readonly Router[];
  /** The gateway that routes of Istio and of the Gateway API belong to. */
  readonly gateway: string;
}

/** The routers of a setting, which are separated by commas; throws if it names one that does not exist. */
export function routersNamed(setting: string): Router[] {
  const names = setting.split(",").map((name) => name.trim());
  const known = ROUTERS.map(({ name }) => name);
  const unknown = names.filter((name) => name !== "" && !known.includes(name));
  if (unknown.length > 0) throw new Error(`unknown router ${unknown.join(", ")}: use ${known.join(", ")}`);
  return ROUTERS.filter(({ name }) => names.includes(name));
}

/** The routes of a SeldonDeployment as children, and what is reported of them once they have been applied. */
export interface Routing {
  readonly children: readonly PlannedChild[];
  conditions(outcome: ChildrenOutcome): Conditions;
}

/**
 * The routes of a SeldonDeployment for each router that is installed. The models are served whether or not requests from
 * outside find them: a route that is refused is reported only.
 */
export function routingOf(
  object: SeldonDeployment,
  backends: readonly Backend[],
  { routers: enabled, gateway }: RouteSettings,
  isServed: ReconcileContext["isServed"],
): Routing {
  const active = enabled.filter(({ kinds }) => isServed(kinds[0]));
  const drafts = active.flatMap((router) => router.routes(object, backends, gateway));
  return {
    children: drafts.map((draft) => plannedChild(draft, { onRefused: "report" })),
    conditions(outcome) {
      const refusal = outcome.refused.find(({ child }) => drafts.some((draft) => draft === child))?.error.message;
      return {
        istioVirtualServicesReady: active.includes(istio)
          ? upstreamCondition(refusal, "All VirtualServices created", "Not all VirtualServices created")
          : conditionTrue("No VirtualServices defined"),
        AmbassadorMappingsReady: active.includes(ambassador)
          ? upstreamCondition(refusal, "All Ambassador Mappings created", "Not all Ambassador Mappings created")
          : conditionTrue("No Ambassador Mappaings defined"),
        TrafficSplit: splitCondition(backends, enabled, active, refusal),
      };
    },
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
