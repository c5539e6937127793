import { type KubeObject, parseJson, stringifyJson } from "@konverge/core";
import { nameOf, planned } from "../apply/child.ts";
import type { ChildrenOutcome } from "../apply/outcome.ts";
import type { ReconcileResult } from "../definition/definition.ts";
import type { ReconcileOutput } from "../observe/observer.ts";
import { type RecordedChild, type RecordedOutcome, type RecordedResult, recordedError } from "./recording.ts";

/** The output of a controller function as it is recorded: only what JSON can express. */
export function recordedResult(answer: ReconcileOutput, owner: KubeObject): RecordedResult {
  if ("error" in answer) return { error: recordedError(answer.error) };
  if ("unfinished" in answer) {
    const { controllers: cleaning, ...unfinished } = answer.unfinished ?? {};
    return asJson({ ...unfinished, ...recordedControllers(cleaning) });
  }
  const { children, controllers, report: _, ...others } = answer.result;
  const rest = { ...others, ...recordedControllers(controllers) };
  if (!children) return asJson(rest);
  const byName: Record<string, RecordedChild> = {};
  for (const { draft, options } of children.map(planned)) {
    const { after, onImmutable, onRefused, initially, unchanged } = options;
    byName[uniqueName(draft, owner, byName)] = {
      draft,
      ...(after && { after: after.map((other) => nameOf(other, owner)) }),
      ...(onImmutable && { onImmutable }),
      ...(onRefused && { onRefused }),
      ...(initially && { initially }),
      ...(unchanged && { unchanged }),
    };
  }
  return asJson({ ...rest, children: byName });
}

/** The controllers that are to run, by name: what they do is code. */
function recordedControllers(controllers: ReconcileResult["controllers"]): Pick<RecordedResult, "controllers"> {
  if (!controllers) return {};
  return {
    controllers: Object.fromEntries(controllers.map(({ controller, revision }) => [controller.name, revision])),
  };
}

/** Children with a generated name have none yet: `Pod default/web-*`, and `#2` for the next one. */
function uniqueName(draft: KubeObject, owner: KubeObject, known: object): string {
  const { name, generateName } = draft.metadata;
  if (name || !generateName) return nameOf(draft, owner);
  const pattern = nameOf({ ...draft, metadata: { ...draft.metadata, name: `${generateName}*` } }, owner);
  for (let i = 1; ; i++) {
    const unique = i === 1 ? pattern : `${pattern} #${i}`;
    if (!(unique in known)) return unique;
  }
}

/** What became of children, as it is recorded. */
export function recordedOutcome({ created, deleted, refused }: ChildrenOutcome, owner: KubeObject): RecordedOutcome {
  return {
    created: asJson([...created]),
    deleted: asJson([...deleted]),
    refused: refused.map(({ child, error }) => ({ child: nameOf(child, owner), error: recordedError(error) })),
  };
}

/** A value as it comes back from a file. */
export function asJson<T>(value: T): T {
  return value === undefined ? value : (parseJson(stringifyJson(value)) as T);
}
