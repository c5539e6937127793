import { valueText } from "../explorer/field-differences.ts";
import type { Effect } from "./effects.ts";
import type { EffectiveWrite, RefusedWrite, WrittenField } from "./operator-writes.ts";
import type { RehearsalFinding, RehearsalFindingType, RehearsalLoad } from "./rehearsal.ts";
import type { RehearsedRun } from "./rehearsed-run.ts";
import { nameText } from "./stored-object.ts";

/** A field that is written this often is written without end, if the operator had to be stopped. */
const OFTEN = 5;
/** The factor, and the number of requests, by which a new version makes more to be reported. */
const MUCH = { factor: 2, requests: 100, idleRequests: 30 };
/** What clients retry, or follows from another client's write. */
const EXPECTED = new Set([404, 409]);
const VOLUMES = new Set(["persistentvolumeclaims", "persistentvolumes"]);

/** What happens in the run of the new version and not in that of the old one; without an old version, all that happens. */
export function comparedRuns(now: RehearsedRun, before: RehearsedRun | undefined): RehearsalFinding[] {
  const findings = new FindingGroups();
  if (now.failure !== undefined) findings.add("failure", "", "", now.failure);
  addUnending(findings, now, before);
  addEffects(findings, now, before);
  addRefused(findings, now.refused, before?.refused ?? []);
  addLoad(findings, now, before);
  addWrites(findings, now.writes, before?.writes ?? []);
  return findings.all();
}

/** Findings of the same kind are one, with all objects. */
class FindingGroups {
  readonly #groups = new Map<
    string,
    { type: RehearsalFindingType; resource: string; objects: Set<string>; message: string }
  >();

  /** `same`: what makes it the same finding; the message is that of the first object. */
  add(type: RehearsalFindingType, resource: string, object: string, message: string, same = message): void {
    const id = JSON.stringify([type, resource, same]);
    const group = this.#groups.get(id) ?? { type, resource, objects: new Set<string>(), message };
    this.#groups.set(id, group);
    if (object !== "") group.objects.add(object);
  }

  all(): RehearsalFinding[] {
    return [...this.#groups.values()].map((group) => ({ ...group, objects: [...group.objects].sort() }));
  }
}

function addWrites(findings: FindingGroups, now: readonly EffectiveWrite[], before: readonly EffectiveWrite[]): void {
  const [made, known] = [netWrites(now), netWrites(before)];
  for (const [object, { write, types, fields }] of made) {
    const old = known.get(object);
    const { resource, key } = write;
    const whole = WHOLE[types.join(" ")] ?? (types.includes("delete") ? "it is deleted" : undefined);
    if (whole && old?.types.join() !== types.join()) {
      findings.add("write", resource, key, whole);
      continue;
    }
    for (const [path, { before: was, after }] of fields) {
      const other = old?.fields.get(path);
      if (other && text(other.after) === text(after)) continue;
      const where = path === "" ? "it" : path;
      if (text(was) === text(after))
        findings.add("write", resource, key, `${topOf(where)} changes for a while, and is as before in the end`);
      else findings.add("write", resource, key, `${where}: ${fieldText(was)} becomes ${fieldText(after)}`, where);
    }
  }
}

/** What becomes of a whole object, by its first write and its last. */
const WHOLE: Readonly<Record<string, string>> = {
  create: "it is created",
  "delete create": "it is deleted and created again",
};

/** `status` of `status.conditions[Ready].reason`. */
const topOf = (path: string) => path.split(/[.[]/, 1)[0]!;
const text = (value: unknown) => JSON.stringify(value);

interface NetWrite {
  readonly write: EffectiveWrite;
  /** In their order, those that create or delete it. */
  readonly types: EffectiveWrite["type"][];
  readonly fields: Map<string, WrittenField>;
}

/** What all writes to an object come to: of each field, the first value and the last. */
function netWrites(writes: readonly EffectiveWrite[]): Map<string, NetWrite> {
  const net = new Map<string, NetWrite>();
  for (const write of writes) {
    const id = nameText(write);
    const known: NetWrite = net.get(id) ?? { write, types: [], fields: new Map<string, WrittenField>() };
    net.set(id, known);
    if (write.type !== "change") known.types.push(write.type);
    for (const field of write.fields) {
      const first = known.fields.get(field.path);
      known.fields.set(field.path, { ...field, before: first ? first.before : field.before });
    }
  }
  return net;
}

function addUnending(findings: FindingGroups, now: RehearsedRun, before: RehearsedRun | undefined): void {
  const known = new Set(before ? [...endless(before).keys()] : []);
  for (const [id, { write, path, values, times }] of endless(now)) {
    if (known.has(id)) continue;
    const changes = values.map(fieldText).join(", ");
    const when = now.isHalted ? "until it was stopped" : `in the last ${now.idle.ms / 60_000} minutes`;
    findings.add(
      "unending",
      write.resource,
      write.key,
      `${path} is written again and again, ${times} times ${when}: ${changes}`,
      path,
    );
  }
}

interface Endless {
  readonly write: EffectiveWrite;
  readonly path: string;
  readonly values: unknown[];
  times: number;
}

/** The fields that an operator still writes when it should be idle. */
function endless(run: RehearsedRun): Map<string, Endless> {
  const found = new Map<string, Endless>();
  for (const write of run.isHalted ? run.writes : run.idle.writes) {
    const fields = write.fields.length > 0 ? write.fields : [{ path: write.type, after: undefined }];
    for (const { path, after } of fields) {
      const id = `${nameText(write)} ${path}`;
      const known = found.get(id) ?? { write, path, values: [], times: 0 };
      found.set(id, known);
      known.times++;
      if (known.values.length < 3) known.values.push(after);
    }
  }
  const least = run.isHalted ? OFTEN : 1;
  return new Map([...found].filter(([, { times }]) => times >= least));
}

function addEffects(findings: FindingGroups, now: RehearsedRun, before: RehearsedRun | undefined): void {
  const known = new Set(before?.effects.map((effect) => `${effect.type} ${nameText(effect)}`));
  for (const effect of now.effects) {
    if (known.has(`${effect.type} ${nameText(effect)}`)) continue;
    findings.add(findingType(effect), effect.resource, effect.key, effect.message, effect.type);
  }
}

function findingType({ type, resource }: Effect): RehearsalFindingType {
  if (type === "restarted") return "restart";
  if (type === "unready") return "unready";
  if (VOLUMES.has(resource)) return "volume";
  return type === "deleted" ? "deletion" : "recreation";
}

function addRefused(findings: FindingGroups, now: readonly RefusedWrite[], before: readonly RefusedWrite[]): void {
  const known = new Set(before.map(refusal));
  for (const write of now) {
    if (EXPECTED.has(write.code) || known.has(refusal(write))) continue;
    const isImmutable = write.code === 422 && /immutable|updates to .* for fields other than/.test(write.message);
    const message = `${write.verb} is refused: ${write.message}`;
    findings.add(
      isImmutable ? "immutable" : "refused",
      write.resource,
      write.key,
      message,
      `${write.verb} ${write.code}`,
    );
  }
}

const refusal = (write: RefusedWrite) => `${write.verb} ${write.code} ${nameText(write)}`;

function addLoad(findings: FindingGroups, now: RehearsedRun, before: RehearsedRun | undefined): void {
  if (!before || now.isHalted) return;
  const [load, old] = [loadOf(now), loadOf(before)];
  if (load.requests > MUCH.factor * old.requests && load.requests - old.requests > MUCH.requests)
    findings.add("load", "", "", `it makes ${load.requests} requests, the old version ${old.requests}`);
  if (load.idleRequests > MUCH.factor * old.idleRequests && load.idleRequests - old.idleRequests > MUCH.idleRequests)
    findings.add(
      "load",
      "",
      "",
      `without work it makes ${load.idleRequests} requests in ${load.idleMinutes} minutes, the old version ${old.idleRequests}`,
    );
}

/** The load that a run was for the API server. */
export function loadOf({ requests, idle }: RehearsedRun): RehearsalLoad {
  const total = Object.values(requests).reduce((sum, one) => sum + one, 0);
  return { requests: total, verbs: requests, idleRequests: idle.requests, idleMinutes: idle.ms / 60_000 };
}

const fieldText = (value: unknown) => (value === undefined ? "nothing" : valueText(value));
