import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContainerStatus, Pod, PodStatus } from "@konverge/kinds";
import { podCells, podRowConditions } from "./pod-cells.ts";

const NOW = Date.parse("2026-01-01T00:10:00Z");

function pod(status: PodStatus, spec: Partial<Pod["spec"]> = {}, metadata: Partial<Pod["metadata"]> = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", creationTimestamp: "2026-01-01T00:00:00Z", ...metadata },
    spec: { containers: [{ name: "a" }, { name: "b" }], ...spec },
    status,
  } as Pod;
}

const container = (
  name: string,
  state: ContainerStatus["state"],
  more: Partial<ContainerStatus> = {},
): ContainerStatus => ({
  name,
  image: "",
  imageID: "",
  ready: state?.running !== undefined,
  restartCount: 0,
  state,
  ...more,
});

const running = { running: {} };
const terminated = (exitCode: number, reason?: string) => ({ terminated: { exitCode, ...(reason && { reason }) } });

/** Ready, Status and Restarts. */
const shown = (object: Pod) => podCells(object, NOW).slice(1, 4);

const cases: [what: string, object: Pod, cells: string[]][] = [
  ["waits to be scheduled", pod({ phase: "Pending" }), ["0/2", "Pending", "0"]],
  [
    "runs",
    pod({ phase: "Running", containerStatuses: [container("a", running), container("b", running)] }),
    ["2/2", "Running", "0"],
  ],
  [
    "crashes again and again",
    pod({
      phase: "Running",
      containerStatuses: [
        container(
          "a",
          { waiting: { reason: "CrashLoopBackOff" } },
          { restartCount: 3, lastState: { terminated: { exitCode: 1, finishedAt: "2026-01-01T00:05:00Z" } } },
        ),
        container("b", running),
      ],
    }),
    ["1/2", "CrashLoopBackOff", "3 (5m ago)"],
  ],
  [
    "initializes",
    pod(
      {
        phase: "Pending",
        initContainerStatuses: [
          container("i", terminated(0)),
          container("j", { waiting: { reason: "PodInitializing" } }),
        ],
      },
      { initContainers: [{ name: "i" }, { name: "j" }] },
    ),
    ["0/2", "Init:1/2", "0"],
  ],
  [
    "fails to initialize",
    pod(
      { phase: "Pending", initContainerStatuses: [container("i", terminated(3))] },
      { initContainers: [{ name: "i" }] },
    ),
    ["0/2", "Init:ExitCode:3", "0"],
  ],
  [
    "has a sidecar",
    pod(
      {
        phase: "Running",
        initContainerStatuses: [container("s", running, { started: true })],
        containerStatuses: [container("a", running), container("b", running)],
      },
      { initContainers: [{ name: "s", restartPolicy: "Always" }] },
    ),
    ["3/3", "Running", "0"],
  ],
  [
    "has completed",
    pod({
      phase: "Succeeded",
      containerStatuses: [container("a", terminated(0, "Completed")), container("b", terminated(0, "Completed"))],
    }),
    ["0/2", "Completed", "0"],
  ],
  [
    "completed in part and runs on",
    pod({
      phase: "Running",
      conditions: [{ type: "Ready", status: "True" }],
      containerStatuses: [container("a", terminated(0, "Completed")), container("b", running)],
    }),
    ["1/2", "Running", "0"],
  ],
  [
    "is being deleted",
    pod({ phase: "Running" }, {}, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    ["0/2", "Terminating", "0"],
  ],
  [
    "is on a lost node",
    pod({ phase: "Running", reason: "NodeLost" }, {}, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    ["0/2", "Unknown", "0"],
  ],
  [
    "is gated",
    pod({ phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] }),
    ["0/2", "SchedulingGated", "0"],
  ],
];

for (const [what, object, cells] of cases) {
  test(`the row of a pod that ${what}`, () => assert.deepEqual(shown(object), cells));
}

test("a finished pod's row says so", () => {
  assert.equal(podRowConditions(pod({ phase: "Running" })), undefined);
  assert.deepEqual(podRowConditions(pod({ phase: "Failed" })), [
    { type: "Completed", status: "True", reason: "Failed", message: "The pod failed." },
  ]);
});
