import { type AnyObject, controllerOf, parseApiVersion } from "@konverge/core";
import type { OperatorTestEnvironment } from "../../environment/operator-test-environment.ts";
import { type EndState, endState } from "../end-state.ts";
import type { PassOptions } from "./pass.ts";

/** Whether the controller of an object is of one of the operator's kinds. */
export function isChild(environment: OperatorTestEnvironment, object: AnyObject): boolean {
  const owner = controllerOf(object);
  return owner !== undefined && isOwn(environment, owner);
}

function isOwn(
  environment: OperatorTestEnvironment,
  { apiVersion, kind }: { apiVersion: string; kind: string },
): boolean {
  const { group } = parseApiVersion(apiVersion);
  return environment.kinds.some((one) => one.kind === kind && one.group === group);
}

/**
 * The operator's objects with what they say, and their children as they are asked for. What others make of children
 * (pods, revisions of the past) shows in what the operator's objects say.
 */
export function standing(environment: OperatorTestEnvironment, { mask }: PassOptions): Promise<EndState> {
  const asked = (object: AnyObject): AnyObject | undefined => {
    const compared = mask ? mask(object) : object;
    if (!compared) return undefined;
    const { status, ...shown } = compared;
    // How often something was changed tells that it was interfered with, not how it stands.
    const { observedGeneration: _, ...reported } = (status ?? {}) as Record<string, unknown>;
    return isOwn(environment, object) ? { ...shown, status: reported } : shown;
  };
  return endState(environment, asked, (object) => isOwn(environment, object) || isChild(environment, object));
}
