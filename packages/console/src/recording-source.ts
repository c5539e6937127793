import { type KubeObject, stringifyJson } from "@konverge/core";
import {
  type RecordedCall,
  type RecordedKind,
  type RecordedReconcile,
  type RecordedStep,
  readRecording,
} from "@konverge/runtime";
import type { History } from "./history.ts";
import { objectDiff } from "./object-diff.ts";
import type { ReconcileEntry, WriteRecord } from "./protocol.ts";
import { idOf } from "./summary.ts";

const LONGEST_NOTE = 300;

/**
 * Fills a history from a recording. A recording has objects as reconciles read and wrote them: an object looks as in the last
 * reconcile that saw it.
 */
export async function loadRecording(file: string, history: History): Promise<void> {
  const lines: RecordedReconcile[] = [];
  for await (const line of readRecording(file)) lines.push(line);
  // Files can be joined, and a reconcile is written when it ends.
  lines.sort((a, b) => a.at - b.at);
  for (const line of lines) addReconcile(line, history);
}

function addReconcile(line: RecordedReconcile, history: History): void {
  const { controller, key, at, triggers, failures, steps, end } = line;
  const reads: string[] = [];
  const writes: WriteRecord[] = [];
  const notes: string[] = [];
  let own: { kind: string; id: string } | undefined;
  for (const step of steps) {
    switch (step.step) {
      case "read":
        reads.push(`${step.kind.kind} ${step.key} @ ${step.object?.metadata.resourceVersion ?? "absent"}`);
        see(history, step.kind, step.key, step.object, at);
        break;
      case "list":
        reads.push(`${step.objects.length} × ${step.query.kind.kind}${step.query.children ? " (children)" : ""}`);
        for (const object of step.objects) see(history, step.query.kind, keyOf(object), object, at);
        break;
      case "call":
        if (step.call.verb === "get" || step.call.verb === "list") reads.push(callText(step.call));
        else writes.push(writeOf(step, history, at));
        if (step.call.verb === "get") seeAnswer(history, step, at);
        break;
      case "called":
        own = ownObject(step.object, history);
        break;
      default:
        notes.push(...noteOf(step));
    }
  }
  const entry: Omit<ReconcileEntry, "id"> = {
    type: "reconcile",
    at,
    controller,
    key,
    ...(own && { kind: own.kind, object: own.id }),
    triggers: triggers.map(({ type, kind, key: of, change }) => [type, kind, of, change].filter(Boolean).join(" ")),
    outcome: end.outcome,
    failures,
    ...(end.error && { error: end.error.message }),
    ...(end.next !== undefined && { next: end.next }),
    reads,
    writes,
    notes,
  };
  history.add(entry);
}

function ownObject(object: KubeObject, history: History): { kind: string; id: string } {
  const { namespace, name, uid } = object.metadata;
  const id = uid ?? history.find(object.kind, namespace, name)?.id ?? `${object.kind}/${namespace ?? ""}/${name}`;
  return { kind: object.kind, id };
}

function noteOf(step: RecordedStep): string[] {
  switch (step.step) {
    case "external":
      return [`called ${step.name}: ${step.error ? `failed, ${step.error.message}` : short(step.answer)}`];
    case "event":
      return [`event ${step.reason}: ${step.message}`];
    case "returned": {
      const { children, status, conditions, requeueAfter, waitingFor, error } = step.result;
      return [
        ...(children ? [`desired children: ${Object.keys(children).join(", ") || "none"}`] : []),
        ...(status !== undefined ? [`desired status: ${short(status)}`] : []),
        ...Object.entries(conditions ?? {}).map(([type, state]) => `condition ${type}: ${short(state)}`),
        ...(requeueAfter !== undefined ? [`requeue after ${requeueAfter} ms`] : []),
        ...(waitingFor ? [`cleanup waits for ${waitingFor}`] : []),
        ...(error ? [`threw ${error.name}: ${error.message}`] : []),
      ];
    }
    default:
      return [];
  }
}

function writeOf(step: RecordedStep & { step: "call" }, history: History, at: number): WriteRecord {
  const { call, answer, error } = step;
  const text = callText(call);
  if (error) return { text, error: error.message };
  const kind = call.kind;
  const known = call.key === undefined ? undefined : history.find(kind.kind, ...split(call.key));
  const before = known && history.object(known.id);
  if (call.verb === "delete") {
    if (known) history.forget(known.id, at, { quiet: true });
    return { text, ...(known && { object: known.id }) };
  }
  const after = isKubeObject(answer) ? answer : undefined;
  if (!after) return { text, ...(known && { object: known.id }) };
  history.observe(kind, { ...after, kind: kind.kind }, at, { quiet: true });
  const diff = before ? objectDiff(before, after) : objectDiff({}, withoutServerFields(after));
  return { text, object: after.metadata.uid ?? idOf(kind, after.metadata), diff: diff.slice(0, 60) };
}

function withoutServerFields(object: KubeObject): unknown {
  const { managedFields, uid, resourceVersion, creationTimestamp, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function seeAnswer(history: History, step: RecordedStep & { step: "call" }, at: number): void {
  if (isKubeObject(step.answer)) see(history, step.call.kind, step.call.key ?? "", step.answer, at);
}

function see(history: History, kind: RecordedKind, key: string, object: KubeObject | null, at: number): void {
  if (object) history.observe(kind, { ...object, kind: kind.kind }, at, { quiet: true });
  else {
    const known = history.find(kind.kind, ...split(key));
    if (known) history.forget(known.id, at, { quiet: true });
  }
}

function callText({ verb, kind, key, namespace, subresource }: RecordedCall): string {
  const what = subresource ? `${kind.kind}/${subresource}` : kind.kind;
  return `${verb} ${what} ${key ?? (namespace ? `in ${namespace}` : "")}`.trimEnd();
}

function isKubeObject(value: unknown): value is KubeObject {
  return typeof value === "object" && value !== null && typeof (value as KubeObject).metadata?.name === "string";
}

function split(key: string): [string | undefined, string] {
  const at = key.indexOf("/");
  return at < 0 ? [undefined, key] : [key.slice(0, at), key.slice(at + 1)];
}

const keyOf = ({ metadata: { namespace, name } }: KubeObject) => (namespace ? `${namespace}/${name}` : name);

function short(value: unknown): string {
  const text = typeof value === "string" ? value : stringifyJson(value ?? null);
  return text.length > LONGEST_NOTE ? `${text.slice(0, LONGEST_NOTE)}…` : text;
}
