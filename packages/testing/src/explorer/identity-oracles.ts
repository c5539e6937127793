import type { AnyObject } from "@konverge/core";
import type { ExploredRun, Oracle } from "./oracle.ts";

/** What another client wrote between a read and a write of the operator has to be there afterwards. */
export const lostUpdateOracle: Oracle = {
  name: "lost update",
  meaning: "The operator overwrote what another client had changed after the operator read the object.",
  check: ({ changes, faults }) => {
    const names = faults.flatMap((fault) => (fault.type === "edit" ? [annotationIn(fault.pointer)] : []));
    const lost = changes.filter(
      ({ by, type, object, previous }) =>
        by === "operator" &&
        type === "updated" &&
        names.some((name) => name && previous?.metadata.annotations?.[name] && !object.metadata.annotations?.[name]),
    );
    return [
      ...new Set(
        lost.map(
          ({ resource, name }) => `the operator removed the annotation of another client from ${resource}/${name}`,
        ),
      ),
    ];
  },
};

/** The name of the annotation that a JSON pointer points to, if it points to one. */
function annotationIn(pointer: string): string | undefined {
  return /^\/metadata\/annotations\/([^/]+)$/.exec(pointer)?.[1]?.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** A Job that has run to its end has had its effect: the same one again is a migration or a backup that runs twice. */
export const repeatedEffectOracle: Oracle = {
  name: "effect repeated",
  meaning:
    "A Job that had completed was created and completed again for the same owner, with the same pods: its effect was repeated.",
  check: (run, reference) => {
    const usual = completions(reference);
    return [...completions(run)]
      .filter(([key, uids]) => uids.size > 1 && uids.size > (usual.get(key)?.size ?? 0))
      .map(([, uids]) => `the operator ran ${[...uids.values()][0]} again, which had completed`);
  },
};

/** The Jobs that completed, as names by UID, of each owner and template. */
function completions({ changes }: ExploredRun): Map<string, Map<string, string>> {
  const made = new Set(
    changes.flatMap(({ type, by, object }) => (type === "created" && by === "operator" ? [object.metadata.uid] : [])),
  );
  const found = new Map<string, Map<string, string>>();
  for (const { resource, name, object } of changes) {
    const { uid = "", ownerReferences = [] } = object.metadata;
    if (resource !== "jobs.batch" || !made.has(uid) || !hasCompleted(object)) continue;
    const owner = ownerReferences.find(({ controller }) => controller)?.uid;
    const key = JSON.stringify([name, owner, containersOf(object)]);
    found.set(key, (found.get(key) ?? new Map<string, string>()).set(uid, `Job ${name}`));
  }
  return found;
}

function hasCompleted(job: AnyObject): boolean {
  const { conditions = [] } = (job["status"] ?? {}) as { conditions?: { type?: string; status?: string }[] };
  return conditions.some(({ type, status }) => type === "Complete" && status === "True");
}

function containersOf(job: AnyObject): unknown {
  const { template } = (job["spec"] ?? {}) as { template?: { spec?: { containers?: unknown } } };
  return template?.spec?.containers;
}
