import { type KubeObject, parseJson, stringifyJson } from "@konverge/core";
import { nameOf, planned } from "../apply/child.ts";
import type { ReconcileOutput } from "../observe/observer.ts";
import { type RecordedChild, type RecordedResult, recordedError } from "./recording.ts";

/** The output of a controller function as it is recorded: only what JSON can express. */
export function recordedResult(answer: ReconcileOutput, owner: KubeObject): RecordedResult {
  if ("error" in answer) return { error: recordedError(answer.error) };
  if ("unfinished" in answer) return asJson({ ...answer.unfinished });
  const { children, ...rest } = answer.result;
  if (!children) return asJson(rest);
  const byName: Record<string, RecordedChild> = {};
  for (const { draft, options } of children.map(planned)) {
    const { after, onImmutable, initially } = options;
    byName[nameOf(draft, owner)] = {
      draft,
      ...(after && { after: after.map((other) => nameOf(other, owner)) }),
      ...(onImmutable && { onImmutable }),
      ...(initially && { initially }),
    };
  }
  return asJson({ ...rest, children: byName });
}

/** A value as it comes back from a file. */
export function asJson<T>(value: T): T {
  return value === undefined ? value : (parseJson(stringifyJson(value)) as T);
}
