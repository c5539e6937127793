import type { TestEnvironment } from "@konverge/operator-suite";
import { TrainingJob, type TrainingJobStatus } from "@konverge/training-operator";
import type { AnyObject } from "konverge";
import { Pod } from "konverge/kinds";

/** A job as users write it, with what a test does not care for filled in. */
export function job(name: string, spec: Record<string, unknown> = {}): object {
  return {
    apiVersion: "ml.example.com/v1alpha1",
    kind: "TrainingJob",
    metadata: { name },
    spec: {
      framework: "pytorch",
      workers: 2,
      image: "pytorch/pytorch:2.4.0",
      command: ["python", "/workspace/train.py"],
      ...spec,
    },
  };
}

/** What the operator reports of a job. */
export async function statusOf(stage: TestEnvironment, name: string): Promise<Partial<TrainingJobStatus>> {
  return (await stage.find(TrainingJob, name))?.status ?? {};
}

export async function untilPhase(stage: TestEnvironment, name: string, phase: string): Promise<void> {
  await stage.until(`${name} is ${phase}`, async () => (await statusOf(stage, name)).phase === phase);
}

/** The job's pods in the order of their names. */
export async function podsOf(stage: TestEnvironment, name: string): Promise<readonly Pod[]> {
  return stage.list(Pod, `ml.example.com/training-job=${name}`);
}

export const namesOf = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.name);

export const envOf = (pod: Pod): Record<string, string | undefined> =>
  Object.fromEntries((pod.spec!.containers[0]!.env ?? []).map(({ name, value }) => [name, value]));

/** Ends a worker as its node would report it. No node contradicts it: an end is final. */
export async function endWorker(
  stage: TestEnvironment,
  pod: string,
  exitCode: number,
  more: { reason?: string; message?: string; secondsLater?: number } = {},
): Promise<void> {
  const { spec, status } = await stage.get(Pod, pod);
  const { reason = exitCode === 0 ? "Completed" : "Error", message, secondsLater = 0 } = more;
  const time = `${new Date(stage.clock.now() + 1000 * secondsLater).toISOString().slice(0, 19)}Z`;
  await stage.client.patchStatus(Pod, `${stage.namespace}/${pod}`, {
    merge: {
      status: {
        phase: exitCode === 0 ? "Succeeded" : "Failed",
        containerStatuses: [
          {
            name: "trainer",
            image: spec!.containers[0]!.image!,
            imageID: "",
            ready: false,
            restartCount: 0,
            state: {
              terminated: {
                exitCode,
                reason,
                ...(message && { message }),
                startedAt: status?.startTime ?? time,
                finishedAt: time,
              },
            },
          },
        ],
      },
    },
  });
}

/** Ends all workers of a job with success. */
export async function endAll(stage: TestEnvironment, name: string): Promise<void> {
  for (const pod of await podsOf(stage, name)) {
    if (pod.metadata.name.includes("-worker-")) await endWorker(stage, pod.metadata.name, 0);
  }
}

/** Fields with random values. */
const CHANCE = new Set(["podUid", "node", "volumeName"]);

/** An object without random values. */
export const withoutChance = (object: AnyObject): AnyObject =>
  JSON.parse(JSON.stringify(object, (key, value) => (CHANCE.has(key) ? "…" : value)));

/** A deleted or changed worker restarts its gang, which is more than a repair. */
export const isPod = ({ kind }: { kind: string }) => kind === "Pod";
