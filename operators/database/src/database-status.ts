import {
  type Conditions,
  conditionFalse,
  conditionTrue,
  type EventSink,
  findCondition,
  type ReportedStatus,
} from "konverge";
import { problemConditions, type WorkloadProblem } from "konverge/pods";
import type { Database } from "./database.ts";
import type { DatabaseUpgrade } from "./database-upgrade.ts";
import { DATABASES, type DeclaredFindings, declaredConditions, ROLES } from "./declared-status.ts";
import { type Drill, drillCondition } from "./drill-status.ts";
import type { Engine } from "./engines.ts";
import { failoverCondition } from "./failover-policy.ts";
import { fenceText } from "./fence.ts";
import { isServing, type Member, type Step } from "./leadership.ts";
import { applicationSecretName, certificateName, podName, readServiceName, secretName } from "./names.ts";
import { type ParameterStep, parametersCondition } from "./parameter-rollout.ts";
import { RECOVERABLE, recoverableCondition, windowStatus } from "./recovery-status.ts";
import { followingCondition, replicaStatusOf } from "./replica.ts";
import type { RolloutStep } from "./rollout.ts";
import { serverImage } from "./server-pod.ts";
import type { StorageStep } from "./storage.ts";
import { hasSuperuserAccess } from "./superuser.ts";
import type { Topology } from "./topology.ts";
import { refusedVersion, rolledVersion, upgradeName } from "./version.ts";

/** The inputs of a database's status. */
export interface Findings {
  readonly engine: Engine;
  readonly members: readonly Member[];
  readonly step: Step;
  readonly rollout: RolloutStep;
  readonly parameters: ParameterStep;
  /** It gets the pods of a new version of the operator, or waits for its turn. */
  readonly update: "Waiting" | "Updating" | undefined;
  /** Every server is as it should be and answers. */
  readonly ready: boolean;
  /** Servers are asked how they are doing; otherwise only their pods are known. */
  readonly asked: boolean;
  readonly problem: WorkloadProblem | undefined;
  readonly storage: StorageStep;
  readonly atLimit: boolean;
  readonly capacity: string | undefined;
  readonly lastBackup: string | undefined;
  readonly drills: readonly Drill[];
  /** The passwords of the Database that it follows are there. */
  readonly hasSourceSecret: boolean;
  readonly declared: DeclaredFindings;
  /** The upgrade to the major version that is requested, unless the servers run it. */
  readonly upgrade: DatabaseUpgrade["status"] | undefined;
  /** Why servers are stopped, if they are meant to be. */
  readonly stopped: { readonly reason: string; readonly message: string } | undefined;
}

/** Problems that do not resolve without a change. */
const FATAL = new Set(["ImageCannotBePulled", "ContainerCannotStart", "ContainerCrashes"]);

export type Phase = "Creating" | "Running" | "Failed";

export function phaseOf({ ready, problem, step, members, stopped }: Findings): Phase {
  // Its data are being made: until then there is nothing that could run.
  if (stopped?.reason === "Restoring" || stopped?.reason === "Upgrading") return "Creating";
  if (ready) return "Running";
  // A database whose primary answers runs, whatever its standbys and the other containers of its pods do.
  if (leads(step.topology, members) && (members.length > 1 || problem)) return "Running";
  return problem && FATAL.has(problem.reason) ? "Failed" : "Creating";
}

/** Whether the requested primary accepts writes: as it reports, or if it reports nothing, as its pod is ready. */
export function leads(topology: Topology, members: readonly Member[]): boolean {
  const leader = members.find(({ name }) => name === topology.primary);
  return leader !== undefined && isServing(leader) && isPromoted(topology, members);
}

/** False while the designated primary reports that it does not lead yet: no event follows when it does. */
export function isPromoted({ primary, term }: Topology, members: readonly Member[]): boolean {
  const { report } = members.find(({ name }) => name === primary) ?? {};
  return !report || (report.role === "primary" && report.term >= term);
}

/** Milliseconds for which a server that does not report yet is queried often: it starts when its lease is extended. */
const START = 60_000;

/** Whether the designated primary is about to lead: no event follows when it does, and it may wait for its lease. */
export function isStarting(topology: Topology, members: readonly Member[], now: number): boolean {
  const { pod, report } = members.find(({ name }) => name === topology.primary) ?? {};
  if (report || !pod || members.length < 2) return !isPromoted(topology, members);
  return !pod.ready && pod.node !== undefined && now - (pod.unreadySince ?? now) < START;
}

/** What is not known now stays as last reported. */
export function statusOf(database: Database, findings: Findings): ReportedStatus<Database> {
  const { engine, members, step, capacity, lastBackup } = findings;
  const { metadata, spec, status } = database;
  const { term, primary } = step.topology;
  const leader = members.find(({ name }) => name === primary)?.report;
  const timeline = leader?.timeline ?? status?.timeline;
  const confirming = leader?.role === "primary" ? leader.confirming || undefined : status?.confirming;
  const selfFencing = selfFencingOf(database, findings);
  const replica = replicaStatusOf(database, step.topology, members);
  const lastSwitchover = step.switched === spec.switchoverTo ? step.switched : status?.lastSwitchover;
  return {
    phase: phaseOf(findings),
    engine: engine.name,
    version: rolledVersion(database),
    image: serverImage(database, engine),
    endpoint: `${metadata.name}.${metadata.namespace}.svc:${engine.port}`,
    ...(spec.instances > 1 && {
      readEndpoint: `${readServiceName(database)}.${metadata.namespace}.svc:${engine.port}`,
    }),
    ...(hasSuperuserAccess(database) && { secretName: secretName(database) }),
    ...(spec.application && { applicationSecretName: applicationSecretName(database) }),
    ...(spec.tls?.issuerRef && { certificateName: certificateName(database) }),
    podName: primary || (step.topology.operation?.from ?? podName(database)),
    instances: members.length,
    readyInstances: members.filter(({ pod }) => pod?.ready && !pod.ending).length,
    ...(isKnownToLead(database, findings) && { currentPrimary: primary }),
    term,
    ...(timeline !== undefined && { timeline }),
    ...(step.lostSince !== undefined && { primaryLostSince: new Date(step.lostSince).toISOString() }),
    ...(lastSwitchover !== undefined && { lastSwitchover }),
    ...(confirming !== undefined && { confirming }),
    ...(selfFencing && { selfFencing }),
    ...(members.length > 1 && { servers: members.map((member) => serverStatus(member, primary)) }),
    ...(replica && { replica }),
    ...(findings.update && { update: findings.update }),
    topology: JSON.stringify(step.topology),
    ...(capacity !== undefined && { storage: capacity }),
    ...(lastBackup !== undefined && { lastBackupTime: lastBackup }),
    ...windowStatus(database, members),
    ...(findings.declared.roles.length > 0 && { roles: [...findings.declared.roles] }),
    ...(findings.declared.databases.length > 0 && { databases: [...findings.declared.databases] }),
    ...(findings.drills.length > 0 && { drills: [...findings.drills] }),
  };
}

/** The self-fencing that the primary last reported, and its pod. A server without standbys does not fence itself. */
function selfFencingOf({ status }: Database, { members, step: { topology } }: Findings) {
  if (members.length < 2) return undefined;
  const { pod, report } = members.find(({ name }) => name === topology.primary) ?? {};
  if (!pod || report?.role !== "primary") return status?.selfFencing;
  return report.fencing === undefined ? undefined : { pod: pod.uid, afterSeconds: report.fencing };
}

/** Whether the designated primary accepts writes: as it reports, or else as last known. */
function isKnownToLead({ status }: Database, { members, step: { topology }, asked }: Findings): boolean {
  const { primary, term } = topology;
  const leader = members.find(({ name }) => name === primary);
  if (!leader) return false;
  const { report, pod } = leader;
  if (report) return report.role === "primary" && report.term >= term;
  const isKnown = status?.currentPrimary === primary && status.term === term;
  // The first primary was never anything else.
  return isKnown || ((!asked || term === 1) && pod !== undefined && pod.ready && !pod.ending);
}

function serverStatus({ name, pod, report }: Member, primary: string) {
  const { size, used, behind, pendingRestart = [] } = report ?? {};
  return {
    name,
    role: report?.role ?? (name === primary ? "primary" : "standby"),
    ready: (pod?.ready && !pod.ending) ?? false,
    ...(pod?.node !== undefined && { node: pod.node }),
    ...(behind !== undefined && { behindSeconds: behind }),
    ...(pendingRestart.length > 0 && { pendingRestart: [...pendingRestart] }),
    ...(size && used !== undefined && { usedPercent: Math.round((used * 100) / size) }),
  };
}

export function conditionsOf(database: Database, findings: Findings): Conditions {
  const { ready, problem, step, stopped } = findings;
  const refused = refusedVersion(database);
  const always: Conditions = {
    StorageAsRequested: storageCondition(findings),
    VersionAsRequested: versionCondition(database, findings, refused),
    ParametersAsRequested: parametersCondition(database, findings.parameters),
    ...failoverCondition(database),
    ...followingCondition(database, step.topology, findings.members, findings.hasSourceSecret),
    ...recoverableCondition(database, findings.members),
    ...drillCondition(database, findings.drills),
    ...declaredConditions(findings.declared),
    // The servers may run, and then Ready says so; that this generation will not come about is another matter.
    Stalled: refusal(findings, refused),
  };
  if (stopped && ready) return { ...always, Ready: conditionFalse(stopped.reason, stopped.message) };
  const currentProblem = step.problem ?? problem;
  const switching = currentProblem?.reason === "SwitchoverWaits";
  if (ready && (!currentProblem || switching)) return { ...always, Ready: conditionTrue("Running") };
  if (currentProblem) return { ...always, ...problemConditions(currentProblem) };
  const { members } = findings;
  if (leads(step.topology, members) && members.length > 1) {
    const missing = members.filter(({ pod }) => !pod?.ready).map(({ name }) => name);
    const message =
      missing.length > 0 ? `the primary is ready; not ready yet: ${missing.join(", ")}${fenceText(members)}` : "";
    return { ...always, Ready: conditionTrue("PrimaryRuns", message) };
  }
  const message = stopped ? "servers are being stopped" : "servers are being started";
  return {
    ...always,
    Ready: conditionFalse("ServersNotReady", message),
    Progressing: conditionTrue("ServersNotReady", message),
  };
}

function versionCondition(database: Database, { rollout, upgrade }: Findings, refused: string | undefined) {
  if (refused) return conditionFalse("MajorUpgradeRefused", refused);
  if (upgrade) {
    const name = upgradeName(database);
    if (upgrade.phase !== "Failed")
      return conditionFalse("UpgradingMajorVersion", `DatabaseUpgrade ${name} is ${upgrade.phase ?? "Pending"}`);
    const message = `DatabaseUpgrade ${name} failed, and the servers stay at ${rolledVersion(database)}: ${upgrade.error ?? ""}`;
    return conditionFalse("MajorUpgradeFailed", `${message}; delete it to try again, or set spec.version back`);
  }
  if (rollout.step === "none") return conditionTrue("AsRequested");
  const message = rollout.step === "wait" ? rollout.message : "servers are replaced one at a time";
  return conditionFalse("RollingOut", message);
}

function refusal({ storage }: Findings, version: string | undefined) {
  if (version) return conditionTrue("MajorUpgradeRefused", version);
  return storage.step === "refuse" ? conditionTrue("ShrinkRefused", shrinkRefusal(storage)) : undefined;
}

function storageCondition({ storage, atLimit }: Findings) {
  if (storage.step === "refuse") return conditionFalse("ShrinkRefused", shrinkRefusal(storage));
  if (storage.step === "grow" || storage.step === "growing")
    return conditionFalse("Growing", `the volumes grow to ${storage.to}`);
  if (storage.step === "stuck") return conditionFalse("CannotGrow", storage.message);
  if (atLimit)
    return conditionFalse(
      "LimitReached",
      "a volume is nearly full, and spec.storage.limit does not let it grow further",
    );
  return conditionTrue("AsRequested");
}

export function shrinkRefusal({ has, asked }: { has: string; asked: string }): string {
  return `the volume has ${has} and cannot shrink to ${asked}: it is unchanged`;
}

/** Records an event for each change. */
export function recordEvents(database: Database, findings: Findings, events: EventSink): void {
  const { spec, status } = database;
  const { step, problem, storage, atLimit } = findings;
  const phase = phaseOf(findings);
  const was = (type: string) => findCondition(status?.conditions, type);
  if (status?.phase === undefined) events.normal("Creating", `a server of version ${spec.version} is being made`);
  if (phase === "Running" && status?.phase !== "Running") events.normal("Running", "the server is ready");
  const { parameters } = findings;
  const pending = parametersCondition(database, parameters);
  const isBad = pending?.reason === "Rejected" || pending?.reason === "Refused";
  if (isBad && was("ParametersAsRequested")?.reason !== pending.reason) {
    events.warning(`Parameters${pending.reason}`, pending.message ?? "");
  }
  for (const { name, report } of findings.members) {
    const before = status?.servers?.find((one) => one.name === name)?.role;
    if (report?.role !== "fenced" || before === "fenced") continue;
    events.warning("ServerFenced", `${name} had no contact with the operator or a standby, and has stopped by itself`);
  }
  if (step.event) events[step.event.type](step.event.reason, step.event.message);
  const currentProblem = step.problem ?? problem;
  const isNews =
    currentProblem &&
    was("Degraded")?.reason !== currentProblem.reason &&
    was("Ready")?.reason !== currentProblem.reason;
  const isRoutine = currentProblem?.reason === "SwitchingOver" || currentProblem?.reason === "FailingOver";
  if (isNews && !isRoutine) events.warning(currentProblem.reason, currentProblem.message);
  if (storage.step === "refuse" && was("StorageAsRequested")?.status !== "False") {
    events.warning("ShrinkRefused", shrinkRefusal(storage));
  }
  if (atLimit && was("StorageAsRequested")?.reason !== "LimitReached") {
    events.warning("LimitReached", "a volume is nearly full, and spec.storage.limit does not let it grow further");
  }
  const recoverable = recoverableCondition(database, findings.members)[RECOVERABLE];
  if (recoverable?.reason === "WALMissing" && was(RECOVERABLE)?.reason !== "WALMissing")
    events.warning("WALMissing", recoverable.message ?? "");
  for (const type of [ROLES, DATABASES]) {
    const condition = declaredConditions(findings.declared)[type];
    if (condition?.status === "False" && condition.reason === "Failed" && was(type)?.message !== condition.message)
      events.warning(`${type === ROLES ? "Role" : "Database"}NotApplied`, condition.message ?? "");
  }
  const [drill] = findings.drills;
  if (drill?.result === "Failed" && status?.drills?.[0]?.name !== drill.name)
    events.warning("DrillFailed", `${drill.name}: ${drill.error}`);
  const refused = refusedVersion(database);
  if (refused && was("VersionAsRequested")?.reason !== "MajorUpgradeRefused")
    events.warning("MajorUpgradeRefused", refused);
}
