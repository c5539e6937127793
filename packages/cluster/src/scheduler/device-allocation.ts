import type {
  AllocationResult,
  Device,
  DeviceClass,
  DeviceRequestAllocationResult,
  ResourceClaim,
  ResourceSlice,
} from "@konverge/kinds";
import { compileDeviceSelector, type DeviceSelector } from "@konverge/schema/cel";
import type { NodeInfo } from "./node-info.ts";
import { matchesTerm } from "./node-matching.ts";

/** A device that can be reached from some node. */
interface Offered {
  readonly id: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: Device;
}

/** What one request asks for. */
interface Wanted {
  readonly name: string;
  readonly className: string;
  readonly selectors: readonly string[];
  readonly count: number | "all";
  readonly adminAccess: boolean;
  readonly tolerations: readonly { key?: string; operator?: string; value?: string; effect?: string }[];
}

/** What an allocation may draw on. */
export interface DeviceState {
  readonly slices: Iterable<ResourceSlice>;
  classOf(name: string): DeviceClass | undefined;
  /** Whether somebody has a device already: `driver/pool/device`. */
  isTaken(id: string): boolean;
}

const compiled = new Map<string, DeviceSelector | undefined>();

/** The devices of a node that a claim gets; undefined if it cannot get all that it asks for. `taken` grows by them. */
export function allocate(
  claim: ResourceClaim,
  node: NodeInfo,
  state: DeviceState,
  taken: Set<string>,
): AllocationResult | undefined {
  const offered = [...devicesOf(node, state.slices)].filter(({ id }) => !state.isTaken(id) && !taken.has(id));
  const { requests = [], constraints = [] } = claim.spec.devices ?? {};
  const results: (DeviceRequestAllocationResult & { of: Offered })[] = [];

  const agrees = (request: string, one: Offered): boolean =>
    constraints.every(({ requests: only, matchAttribute }) => {
      const concerns = (name: string) => !only?.length || only.includes(name) || only.includes(name.split("/")[0]!);
      if (!matchAttribute || !concerns(request)) return true;
      const value = attributeOf(one, matchAttribute);
      if (value === undefined) return false;
      const other = results.find((result) => concerns(result.request));
      return !other || attributeOf(other.of, matchAttribute) === value;
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
    if (!wanted.adminAccess && taken.has(one.id)) return false;
    if (!agrees(wanted.name, one)) return false;
    const { driver, pool, device } = one;
    const admin = wanted.adminAccess ? { adminAccess: true } : {};
    results.push({ request: wanted.name, driver, pool, device: device.name, ...admin, of: one });
    if (!wanted.adminAccess) taken.add(one.id);
    return true;
  };
  const giveUp = (): void => {
    const { of, adminAccess } = results.pop()!;
    if (!adminAccess) taken.delete(of.id);
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
  return {
    devices: { results: results.map(({ of: _, ...result }) => result), ...(config.length > 0 && { config }) },
    nodeSelector: {
      nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [node.name] }] }],
    },
  };
}

/** Whether an allocated claim's devices can be reached from a node. */
export function isReachable({ status }: ResourceClaim, node: NodeInfo): boolean {
  const terms = status?.allocation?.nodeSelector?.nodeSelectorTerms;
  return !terms || terms.some((term) => matchesTerm(node, term));
}

/** The classes that a claim asks for. */
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
    tolerations: one.tolerations ?? [],
  });
  if (exactly) return [wanted(exactly, name)];
  return (firstAvailable ?? []).map((one) => wanted(one, `${name}/${one.name}`));
}

/** The devices of the newest generation of each pool that a node reaches. */
function* devicesOf(node: NodeInfo, slices: Iterable<ResourceSlice>): Generator<Offered> {
  const all = [...slices];
  const newest = new Map<string, number>();
  const poolOf = ({ spec }: ResourceSlice) => `${spec.driver}/${spec.pool.name}`;
  for (const slice of all) {
    newest.set(poolOf(slice), Math.max(newest.get(poolOf(slice)) ?? 0, slice.spec.pool.generation));
  }
  for (const slice of all) {
    const { driver, pool, devices = [], perDeviceNodeSelection } = slice.spec;
    if (pool.generation !== newest.get(poolOf(slice))) continue;
    if (!perDeviceNodeSelection && !reaches(slice.spec, node)) continue;
    for (const device of devices) {
      if (perDeviceNodeSelection && !reaches(device, node)) continue;
      yield { id: `${driver}/${pool.name}/${device.name}`, driver, pool: pool.name, device };
    }
  }
}

function reaches(from: Pick<Device, "nodeName" | "nodeSelector" | "allNodes">, node: NodeInfo): boolean {
  if (from.allNodes) return true;
  if (from.nodeName) return from.nodeName === node.name;
  return from.nodeSelector?.nodeSelectorTerms.some((term) => matchesTerm(node, term)) ?? false;
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

/** How the devices are to be set up: what their classes say first, then what the claim says. */
function configOf(claim: ResourceClaim, results: readonly DeviceRequestAllocationResult[], state: DeviceState) {
  const given = new Set(results.map(({ request }) => request));
  const ofClasses = classesOf(claim).flatMap(({ request, className }) => {
    if (!given.has(request)) return [];
    const { config = [] } = state.classOf(className)?.spec ?? {};
    return config.map((one) => ({ source: "FromClass" as const, requests: [request], ...one }));
  });
  const own = (claim.spec.devices?.config ?? []).map((one) => ({ source: "FromClaim" as const, ...one }));
  return [...ofClasses, ...own];
}
