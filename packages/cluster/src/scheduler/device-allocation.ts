import type { Quantity, QuantityValue } from "@konverge/core";
import type { AllocationResult, DeviceClass, DeviceRequestAllocationResult, ResourceClaim } from "@konverge/kinds";
import { compileDeviceSelector, type DeviceSelector } from "@konverge/schema/cel";
import { matchesTerm } from "../controllers/node/node-matching.ts";
import { consumedBy } from "./device-capacity.ts";
import type { DevicePools, Offered } from "./device-pools.ts";
import type { NodeInfo } from "./node-info.ts";

/** One device request of a claim. */
interface Wanted {
  readonly name: string;
  readonly className: string;
  readonly selectors: readonly string[];
  readonly count: number | "all";
  readonly adminAccess: boolean;
  /** How much of the capacities of a device, by name. */
  readonly capacity: Readonly<Record<string, QuantityValue>>;
  readonly tolerations: readonly { key?: string; operator?: string; value?: string; effect?: string }[];
}

/** What an allocation may draw on. */
export interface DeviceState {
  readonly pools: DevicePools;
  classOf(name: string): DeviceClass | undefined;
  /** Names a share of a device that several may have. */
  newShare(): string;
}

/** A device that a search has given to a request. */
interface Given {
  readonly request: string;
  readonly of: Offered;
  readonly adminAccess: boolean;
  readonly consumed: ReadonlyMap<string, Quantity>;
}

/** What a claim gets; the pools are less by it until it is given back. */
export interface Allocated {
  readonly result: AllocationResult;
  giveBack(): void;
}

const compiled = new Map<string, DeviceSelector | undefined>();
const NOTHING: ReadonlyMap<string, Quantity> = new Map();

/** The devices of a node that a claim gets; undefined if the node cannot satisfy all requests. */
export function allocate(claim: ResourceClaim, node: NodeInfo, state: DeviceState): Allocated | undefined {
  const { pools } = state;
  const offered = [...pools.reachedFrom(node)];
  const { requests = [], constraints = [] } = claim.spec.devices ?? {};
  const results: Given[] = [];

  const agrees = (request: string, one: Offered): boolean =>
    constraints.every(({ requests: only, matchAttribute, distinctAttribute }) => {
      const concerns = (name: string) => !only?.length || only.includes(name) || only.includes(name.split("/")[0]!);
      const attribute = matchAttribute ?? distinctAttribute;
      if (!attribute || !concerns(request)) return true;
      const value = attributeOf(one, attribute);
      if (value === undefined) return false;
      const others = results.filter((result) => concerns(result.request));
      return others.every(({ of }) => (attributeOf(of, attribute) === value) === (matchAttribute !== undefined));
    });

  /** Gives the devices from one request on, one device after the other; takes back what leads nowhere. */
  const give = (index: number): boolean => {
    const request = requests[index];
    if (!request) return true;
    for (const wanted of alternativesOf(request)) {
      const fitting = offered.filter((one) => isFor(one, wanted, state));
      if (wanted.count === "all") {
        const before = results.length;
        const all = fitting.length > 0 && fitting.every((one) => takeOne(wanted, one));
        if (all && give(index + 1)) return true;
        while (results.length > before) giveUp();
      } else if (fill(index, wanted, fitting, wanted.count, 0)) return true;
    }
    return false;
  };
  const takeOne = (wanted: Wanted, one: Offered): boolean => {
    const { name: request, adminAccess } = wanted;
    const consumed = consumedBy(wanted.capacity, one.device.capacity ?? {});
    if (!consumed || (!adminAccess && !pools.hasLeft(one, consumed))) return false;
    if (adminAccess && results.some(({ of }) => of.id === one.id)) return false;
    if (!agrees(request, one)) return false;
    results.push({ request, of: one, adminAccess, consumed: one.device.allowMultipleAllocations ? consumed : NOTHING });
    if (!adminAccess) pools.take(one, consumed);
    return true;
  };
  const giveUp = (): void => {
    const { of, adminAccess, consumed } = results.pop()!;
    if (!adminAccess) pools.giveBack(of, consumed);
  };
  const fill = (index: number, wanted: Wanted, fitting: Offered[], left: number, from: number): boolean => {
    if (left === 0) return give(index + 1);
    for (let at = from; at <= fitting.length - left; at++) {
      if (!takeOne(wanted, fitting[at]!)) continue;
      if (fill(index, wanted, fitting, left - 1, at + 1)) return true;
      giveUp();
    }
    return false;
  };

  if (!give(0)) return undefined;
  const config = configOf(claim, results, state);
  const result: AllocationResult = {
    devices: {
      results: results.map((one) => resultOf(one, state)),
      ...(config.length > 0 && { config }),
    },
    nodeSelector: {
      nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [node.name] }] }],
    },
  };
  const giveBack = () => {
    while (results.length > 0) giveUp();
  };
  return { result, giveBack };
}

function resultOf({ request, of, adminAccess, consumed }: Given, state: DeviceState): DeviceRequestAllocationResult {
  const { driver, pool, device } = of;
  const amounts = [...consumed].map(([name, amount]) => [name, amount.toString()]);
  return {
    request,
    driver,
    pool,
    device: device.name,
    ...(adminAccess && { adminAccess }),
    ...(device.allowMultipleAllocations && { shareID: state.newShare() }),
    ...(amounts.length > 0 && { consumedCapacity: Object.fromEntries(amounts) }),
  };
}

/** Whether an allocated claim's devices can be reached from a node. */
export function isReachable({ status }: ResourceClaim, node: NodeInfo): boolean {
  const terms = status?.allocation?.nodeSelector?.nodeSelectorTerms;
  return !terms || terms.some((term) => matchesTerm(node, term));
}

/** The DeviceClasses of a claim. */
export function classesOf({ spec }: ResourceClaim): { request: string; className: string }[] {
  return (spec.devices?.requests ?? []).flatMap((request) =>
    alternativesOf(request).map(({ name, className }) => ({ request: name, className })),
  );
}

type Request = NonNullable<NonNullable<ResourceClaim["spec"]["devices"]>["requests"]>[number];

function alternativesOf({ name, exactly, firstAvailable }: Request): Wanted[] {
  const wanted = (one: NonNullable<typeof exactly>, called: string): Wanted => ({
    name: called,
    className: one.deviceClassName,
    selectors: one.selectors?.flatMap(({ cel }) => cel?.expression ?? []) ?? [],
    count: one.allocationMode === "All" ? "all" : (one.count ?? 1),
    adminAccess: one.adminAccess ?? false,
    capacity: one.capacity?.requests ?? {},
    tolerations: one.tolerations ?? [],
  });
  if (exactly) return [wanted(exactly, name)];
  return (firstAvailable ?? []).map((one) => wanted(one, `${name}/${one.name}`));
}

function isFor({ driver, device }: Offered, wanted: Wanted, state: DeviceState): boolean {
  const found = state.classOf(wanted.className);
  if (!found) return false;
  const taints = (device.taints ?? []).filter(({ effect }) => effect !== "None");
  const tolerated = taints.every((taint) =>
    wanted.tolerations.some(
      ({ key, operator = "Equal", value = "", effect }) =>
        (!key || key === taint.key) &&
        (!effect || effect === taint.effect) &&
        (operator === "Exists" || value === (taint.value ?? "")),
    ),
  );
  if (!tolerated) return false;
  const ofClass = found.spec.selectors?.flatMap(({ cel }) => cel?.expression ?? []) ?? [];
  return [...ofClass, ...wanted.selectors].every((expression) => {
    const answer = selectorOf(expression)?.matches({ driver, ...device } as never);
    return answer !== undefined && "value" in answer && answer.value;
  });
}

function selectorOf(expression: string): DeviceSelector | undefined {
  if (!compiled.has(expression)) {
    const result = compileDeviceSelector(expression);
    compiled.set(expression, "selector" in result ? result.selector : undefined);
  }
  return compiled.get(expression);
}

function attributeOf({ driver, device }: Offered, qualified: string): string | undefined {
  const { attributes = {} } = device;
  const own = qualified.startsWith(`${driver}/`) ? attributes[qualified.slice(driver.length + 1)] : undefined;
  const found = attributes[qualified] ?? own;
  return found && JSON.stringify(found);
}

/** The configuration of the devices: that of their classes first, then that of the claim. */
function configOf(claim: ResourceClaim, results: readonly Given[], state: DeviceState) {
  const given = new Set(results.map(({ request }) => request));
  const ofClasses = classesOf(claim).flatMap(({ request, className }) => {
    if (!given.has(request)) return [];
    const { config = [] } = state.classOf(className)?.spec ?? {};
    return config.map((one) => ({ source: "FromClass" as const, requests: [request], ...one }));
  });
  const own = (claim.spec.devices?.config ?? []).map((one) => ({ source: "FromClaim" as const, ...one }));
  return [...ofClasses, ...own];
}
