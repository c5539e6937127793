import { TrainingJob } from "@konverge/training-operator";
import type { Pod } from "konverge/kinds";

type Written = Parameters<typeof TrainingJob.new>[0]["spec"];

/** A job as the server returns it: with defaults, a namespace and a uid. */
export function exampleJob(spec: Partial<Written> = {}, status?: TrainingJob["status"]): TrainingJob {
  const written = TrainingJob.new({
    metadata: { name: "mnist", namespace: "ml-team", uid: "job-uid", creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { framework: "pytorch", workers: 2, image: "trainer:1", command: ["train"], ...spec },
  });
  const job = TrainingJob.convert(written as TrainingJob, "v1alpha1");
  return status ? { ...job, status } : job;
}

interface PodFacts {
  role?: string;
  attempt?: number;
  hash?: string;
  phase?: "Pending" | "Running" | "Succeeded" | "Failed";
  exitCode?: number;
  finishedAt?: string;
  reason?: string;
  message?: string;
  deleting?: boolean;
  status?: Pod["status"];
}

/** A pod of the example job. */
export function examplePod(index: number, facts: PodFacts = {}): Pod {
  const { role = "worker", attempt = 0, hash = "h", phase = "Running", exitCode, finishedAt, reason, message } = facts;
  const time = finishedAt ?? "2026-01-01T00:10:00Z";
  const terminated = { exitCode: exitCode ?? 0, finishedAt: time, startedAt: "2026-01-01T00:01:00Z" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `mnist-${role}-${index}`,
      namespace: "ml-team",
      uid: `${role}-${index}-${attempt}`,
      creationTimestamp: "2026-01-01T00:00:30Z",
      labels: {
        "ml.example.com/role": role,
        "ml.example.com/index": String(index),
        "ml.example.com/attempt": String(attempt),
        "ml.example.com/spec": hash,
      },
      ...(facts.deleting && { deletionTimestamp: time }),
    },
    spec: { containers: [{ name: "trainer", image: "trainer:1" }] },
    status: facts.status ?? {
      phase,
      ...(exitCode !== undefined && {
        containerStatuses: [
          {
            name: "trainer",
            image: "trainer:1",
            imageID: "",
            ready: false,
            restartCount: 0,
            state: { terminated: { ...terminated, ...(reason && { reason }), ...(message && { message }) } },
          },
        ],
      }),
    },
  };
}
