/** The expressions with which claims and classes choose devices: `device.attributes["gpu.example.com"].model == "A"`. */
import { evaluate, type Problem, parseAndCheck, planProgram } from "../evaluation/compile.ts";
import { ruleFunctions, TYPE_NAMES } from "../library/functions.ts";
import { toQuantity } from "../library/quantity.ts";
import { toSemver } from "../library/semver.ts";
import type { Declarations } from "../types/declarations.ts";
import { BOOL, DYN, sameType } from "../types/types.ts";
import { MapValue } from "../values/collections.ts";
import type { Value } from "../values/values.ts";

/** A device as a ResourceSlice has it, and whose it is. */
export interface SelectableDevice {
  readonly driver: string;
  readonly attributes?: Readonly<Record<string, DeviceAttribute>>;
  readonly capacity?: Readonly<Record<string, { readonly value: string }>>;
  readonly allowMultipleAllocations?: boolean;
}

/** One of them is set. */
export interface DeviceAttribute {
  readonly bool?: boolean;
  readonly int?: number;
  readonly string?: string;
  readonly version?: string;
}

/** A compiled expression. */
export interface DeviceSelector {
  /** Whether a device is chosen, or why that cannot be said. */
  matches(device: SelectableDevice): { readonly value: boolean } | { readonly error: string };
}

const DECLARATIONS: Declarations = {
  get functions() {
    return ruleFunctions();
  },
  typeNames: TYPE_NAMES,
  variables: new Map([["device", DYN]]),
  struct: () => undefined,
};

/** Compiles the expression of a selector; what is wrong with it is said as an API server would. */
export function compileDeviceSelector(expression: string): { selector: DeviceSelector } | { problem: Problem } {
  const checked = parseAndCheck(expression, DECLARATIONS);
  if ("issues" in checked) return { problem: { kind: "issues", text: checked.issues } };
  const type = checked.checked.types.get(checked.checked.expr.id)!;
  if (!sameType(type, BOOL) && !sameType(type, DYN))
    return { problem: { kind: "issues", text: "must evaluate to bool or the unknown type, not an other" } };
  const { program, problem } = planProgram(checked.checked, DECLARATIONS);
  if (!program) return { problem };
  return {
    selector: {
      matches(device) {
        const { value, error } = evaluate(program, { device: deviceValue(device) });
        if (error !== undefined) return { error };
        return typeof value === "boolean" ? { value } : { error: "the result is no bool" };
      },
    },
  };
}

/** Where nothing is known of a domain, it is as if it were empty. */
class Domains extends MapValue {
  override find(key: Value): Value | undefined {
    return super.find(key) ?? new MapValue();
  }
}

function deviceValue({ driver, attributes = {}, capacity = {}, ...more }: SelectableDevice): Value {
  const device = new MapValue();
  device.set("driver", driver);
  device.set("allowMultipleAllocations", more.allowMultipleAllocations ?? false);
  device.set("attributes", byDomain(driver, attributes, attributeValue));
  device.set(
    "capacity",
    byDomain(driver, capacity, ({ value }) => toQuantity(value)),
  );
  return device;
}

/** Names without a domain are in that of the driver. */
function byDomain<T>(driver: string, named: Readonly<Record<string, T>>, read: (one: T) => Value): Domains {
  const domains = new Domains();
  for (const [qualified, one] of Object.entries(named)) {
    const slash = qualified.indexOf("/");
    const [domain, name] = slash < 0 ? [driver, qualified] : [qualified.slice(0, slash), qualified.slice(slash + 1)];
    const inside = domains.find(domain) as MapValue;
    domains.set(domain, inside);
    inside.set(name, read(one));
  }
  return domains;
}

function attributeValue({ bool, int, string, version }: DeviceAttribute): Value {
  if (bool !== undefined) return bool;
  if (int !== undefined) return BigInt(int);
  return version === undefined ? (string ?? "") : toSemver(version);
}
