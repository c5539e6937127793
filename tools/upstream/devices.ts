import type { AnyObject } from "@konverge/core";

/** How many devices of each class a node has. */
const DEVICES = 8;

/** The device classes that claims of a manifest name, and devices of them on each node, as their drivers would publish them. */
export function devicesFor(objects: readonly AnyObject[], nodes: number): AnyObject[] {
  const classes = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const { deviceClassName } = value as { deviceClassName?: unknown };
    if (typeof deviceClassName === "string") classes.add(deviceClassName);
    for (const inner of Object.values(value)) visit(inner);
  };
  visit(objects);
  return [...classes].flatMap((name) => [
    {
      apiVersion: "resource.k8s.io/v1",
      kind: "DeviceClass",
      metadata: { name },
      spec: { selectors: [{ cel: { expression: `device.driver == "${name}"` } }] },
    } as AnyObject,
    ...Array.from({ length: nodes }, (_, node) => sliceOf(name, `node-${node}`)),
  ]);
}

const sliceOf = (driver: string, node: string) =>
  ({
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    metadata: { name: `${driver}-${node}` },
    spec: {
      driver,
      nodeName: node,
      pool: { name: node, generation: 1, resourceSliceCount: 1 },
      devices: Array.from({ length: DEVICES }, (_, device) => ({ name: `device-${device}` })),
    },
  }) as AnyObject;
