import assert from "node:assert/strict";
import { type Device, DeviceClass, Pod, ResourceClaimTemplate, ResourceSlice } from "@konverge/kinds";
import { ATTRIBUTES, BY_TEMPLATE, claimsOf, DRIVER, makePod, runs, template, waits } from "./devices.ts";
import { makeNodes } from "./placed.ts";
import type { Behavior, Stage } from "./stage.ts";

const NONE_LEFT = /1 cannot allocate all claims/;

/** One node with these devices, and with the counters of its pool in a separate slice. */
async function makePool(stage: Stage, devices: Device[], counters?: Record<string, { value: string }>): Promise<void> {
  const { client, namespace } = stage;
  const [nodeName = ""] = await makeNodes(stage, 1);
  const pool = { name: nodeName, generation: 1, resourceSliceCount: counters ? 2 : 1 };
  const spec = { driver: DRIVER, nodeName, pool };
  await client.create(ResourceSlice, { metadata: { name: `${nodeName}-devices` }, spec: { ...spec, devices } });
  if (counters) {
    const sharedCounters = [{ name: "gpu-0", counters }];
    await client.create(ResourceSlice, {
      metadata: { name: `${nodeName}-counters` },
      spec: { ...spec, sharedCounters },
    });
  }
  const expression = `device.driver == "${DRIVER}"`;
  await client.create(DeviceClass, { metadata: { name: namespace }, spec: { selectors: [{ cel: { expression } }] } });
}

const partition = (name: string, size: string, memory: string): Device => ({
  name,
  attributes: { size: { string: size } },
  consumesCounters: [{ counterSet: "gpu-0", counters: { memory: { value: memory } } }],
});

const ofSize = (size: string) => ({ selectors: [{ cel: { expression: `${ATTRIBUTES}.size == "${size}"` } }] });

const resultsOf = async (stage: Stage) =>
  (await claimsOf(stage)).flatMap(({ status }) => status?.allocation?.devices?.results ?? []);

export const sharedDevices: Record<string, Behavior> = {
  "partitions of a device are given out as long as the device has what they take": async (stage) => {
    const { client, namespace } = stage;
    await makePool(
      stage,
      [partition("whole", "whole", "40Gi"), ...[0, 1, 2].map((one) => partition(`half-${one}`, "half", "20Gi"))],
      { memory: { value: "40Gi" } },
    );
    await template(stage, ofSize("half"));
    await makePod(stage, "one", BY_TEMPLATE);
    await makePod(stage, "two", BY_TEMPLATE);
    await runs(stage, "one");
    await runs(stage, "two");
    assert.deepEqual((await resultsOf(stage)).map(({ device }) => device).sort(), ["half-0", "half-1"]);
    await makePod(stage, "three", BY_TEMPLATE);
    await waits(stage, "three", NONE_LEFT);
    await client.delete(Pod, `${namespace}/one`);
    await runs(stage, "three");
  },

  "a device is whole only as long as none of its partitions is given out": async (stage) => {
    const { client, namespace } = stage;
    await makePool(stage, [partition("whole", "whole", "40Gi"), partition("half", "half", "20Gi")], {
      memory: { value: "40Gi" },
    });
    await template(stage, ofSize("half"));
    await makePod(stage, "one", BY_TEMPLATE);
    await runs(stage, "one");
    await client.delete(ResourceClaimTemplate, `${namespace}/gpus`);
    await template(stage, ofSize("whole"));
    await makePod(stage, "two", BY_TEMPLATE);
    await waits(stage, "two", NONE_LEFT);
    await client.delete(Pod, `${namespace}/one`);
    await runs(stage, "two");
  },

  "pods share a device as far as its capacity goes, in the steps that it allows": async (stage) => {
    const { client, namespace } = stage;
    const requestPolicy = { default: "10Gi", validRange: { min: "5Gi", max: "40Gi", step: "5Gi" } };
    await makePool(stage, [
      { name: "gpu-0", allowMultipleAllocations: true, capacity: { memory: { value: "40Gi", requestPolicy } } },
    ]);
    const selectors = [{ cel: { expression: "device.allowMultipleAllocations" } }];
    await template(stage, { selectors, capacity: { requests: { memory: "18Gi" } } });
    await makePod(stage, "one", BY_TEMPLATE);
    await makePod(stage, "two", BY_TEMPLATE);
    await runs(stage, "one");
    await runs(stage, "two");
    const results = await resultsOf(stage);
    assert.deepEqual(
      results.map(({ device, consumedCapacity }) => ({ device, consumedCapacity })),
      [1, 2].map(() => ({ device: "gpu-0", consumedCapacity: { memory: "20Gi" } })),
    );
    assert.equal(new Set(results.map(({ shareID }) => shareID)).size, 2);
    await makePod(stage, "three", BY_TEMPLATE);
    await waits(stage, "three", NONE_LEFT);
    await client.delete(Pod, `${namespace}/one`);
    await runs(stage, "three");
  },

  "a request for more than a device has, or allows, is not allocated": async (stage) => {
    const requestPolicy = { default: "10Gi", validValues: ["10Gi", "20Gi"] };
    await makePool(stage, [
      { name: "gpu-0", allowMultipleAllocations: true, capacity: { memory: { value: "40Gi", requestPolicy } } },
    ]);
    await template(stage, { capacity: { requests: { memory: "30Gi" } } });
    await makePod(stage, "one", BY_TEMPLATE);
    await waits(stage, "one", NONE_LEFT);
  },
};
