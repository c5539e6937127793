import assert from "node:assert/strict";
import { test } from "node:test";
import { compileDeviceSelector } from "./device-selector.ts";

const gpu = {
  driver: "gpu.example.com",
  attributes: {
    model: { string: "H100" },
    index: { int: 3 },
    "other.example.com/fast": { bool: true },
    version: { version: "1.2.3" },
  },
  capacity: { memory: { value: "80Gi" } },
};

function ask(expression: string) {
  const compiled = compileDeviceSelector(expression);
  assert.ok("selector" in compiled, "problem" in compiled ? compiled.problem.text : "");
  return compiled.selector.matches(gpu);
}

test("devices are chosen by driver, attributes and capacity", () => {
  assert.deepEqual(ask('device.driver == "gpu.example.com"'), { value: true });
  assert.deepEqual(ask('device.attributes["gpu.example.com"].model == "H100"'), { value: true });
  assert.deepEqual(ask('device.attributes["gpu.example.com"].index > 3'), { value: false });
  assert.deepEqual(ask('device.attributes["other.example.com"].fast'), { value: true });
  assert.deepEqual(ask('device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0'), { value: true });
  assert.deepEqual(ask('device.attributes["gpu.example.com"].version.isGreaterThan(semver("1.0.0"))'), { value: true });
});

test("of a domain that a device does not have nothing is known; of an attribute that it lacks nothing can be said", () => {
  assert.deepEqual(ask('"model" in device.attributes["nobody.example.com"]'), { value: false });
  assert.deepEqual(ask('device.attributes["gpu.example.com"].colour == "red"'), { error: "no such key: colour" });
});

test("an expression that is none is refused", () => {
  assert.ok("problem" in compileDeviceSelector("device."));
  assert.ok("problem" in compileDeviceSelector('"text"'));
});
