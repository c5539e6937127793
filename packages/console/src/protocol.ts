/**
 * What the server and the page exchange. The page imports only types and pure functions of this package, so this file has no
 * imports.
 */

/** An object, named so that it can be requested from the API server. */
export interface ObjectName {
  /** Its UID; for objects that a recording knows without one, their kind and key. */
  readonly id: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name: string;
}

export type ObjectState = "ready" | "done" | "progressing" | "failed" | "terminating" | "paused";

/** What an object may refer to: a field's name without `Ref` or `Name`, or a kind, in lower case; and the name in it. */
export interface ObjectReference {
  readonly kind: string;
  /** Default: that of the object. */
  readonly namespace?: string;
  readonly name: string;
}

/** What lists and trees show of an object. */
export interface ObjectSummary extends ObjectName {
  /** UIDs of its owners, its controller first. */
  readonly owners: readonly string[];
  readonly references?: readonly ObjectReference[];
  /** Milliseconds since 1970. */
  readonly created?: number;
  readonly state: ObjectState;
  /** The state in words. */
  readonly message: string;
  /** Why it does not become ready, if that is known: Unschedulable, a missing image, a quota. */
  readonly problem?: string;
  /** Replicas that are ready, and those that are requested. */
  readonly replicas?: { readonly ready: number; readonly desired: number };
  /** Short facts: a role, a phase, a node. */
  readonly badges: readonly string[];
  /** For pods. */
  readonly pod?: { readonly phase: string; readonly gpus: number; readonly containers: readonly string[] };
  /** For nodes. */
  readonly node?: { readonly ready: boolean; readonly gpus: number };
  /** The name of the operator that it runs: for pods and Deployments of operators. */
  readonly operator?: string;
  /** The field manager that applies its status: the controller that reconciles it. */
  readonly statusManager?: string;
}

/** A field that differs between two versions of an object. */
export interface FieldDiff {
  /** `spec.replicas`, `status.conditions[Ready].status`. */
  readonly path: string;
  readonly before?: string;
  readonly after?: string;
}

interface EntryBase {
  readonly id: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** An object changed. */
export interface ChangeEntry extends EntryBase {
  readonly type: "change";
  readonly object: ObjectName;
  readonly change: "created" | "changed" | "deleted";
  /** The field manager that wrote it. */
  readonly by?: string;
  readonly diff: readonly FieldDiff[];
  /** Fields that differ, besides those in `diff`. */
  readonly more?: number;
}

/** A write of a reconcile. */
export interface WriteRecord {
  readonly text: string;
  /** Id of the object, if it is known. */
  readonly object?: string;
  readonly diff?: readonly FieldDiff[];
  readonly error?: string;
}

/** A reconcile. */
export interface ReconcileEntry extends EntryBase {
  readonly type: "reconcile";
  readonly controller: string;
  readonly operator?: string;
  /** `namespace/name` of the object. */
  readonly key: string;
  /** Id of the object, if it is known. */
  readonly object?: string;
  readonly kind?: string;
  readonly triggers: readonly string[];
  readonly outcome: string;
  readonly error?: string;
  readonly failures: number;
  /** Milliseconds. */
  readonly waited?: number;
  readonly duration?: number;
  /** Milliseconds until the next reconcile, if one is planned. */
  readonly next?: number;
  readonly reads: readonly string[];
  readonly writes: readonly WriteRecord[];
  /** What the reconcile did besides, in order: external calls, events, what it returned. */
  readonly notes: readonly string[];
}

/** A Kubernetes Event. */
export interface EventEntry extends EntryBase {
  readonly type: "event";
  readonly object: ObjectName;
  readonly warning: boolean;
  readonly reason: string;
  readonly message: string;
}

/** Something that an operator's process reports about itself: it starts, gets its lease, stops. */
export interface OperatorEntry extends EntryBase {
  readonly type: "operator";
  readonly operator: string;
  readonly pod: string;
  readonly level: "info" | "warn" | "error";
  readonly message: string;
}

/** A step of a run that the fault explorer recorded. Its time is counted from the start of the run. */
export interface StepEntry extends EntryBase {
  readonly type: "step";
  /** Which finding of the exploration it belongs to, from 0. */
  readonly finding: number;
  /** `read`, `write`, `event`, `change`, `fault`, `process`, `wait`, `watch`. */
  readonly step: string;
  /** `operator #1`, `user`, `cluster`, `explorer`. */
  readonly who: string;
  readonly what: string;
  /** The newest resource version in the cluster. */
  readonly revision: number;
  readonly result?: string;
  /** The resource version that was read, written or delivered. */
  readonly version?: string;
  /** Only if that was an older version: the one that the object had by then, or `deleted`. */
  readonly live?: string;
}

export type Entry = ChangeEntry | ReconcileEntry | EventEntry | OperatorEntry | StepEntry;

/** Something that the fault explorer found wrong. */
export interface FindingSummary {
  readonly oracle: string;
  readonly message: string;
  readonly seed: number;
  readonly faults: readonly string[];
}

/** A table of a benchmark's result, as text. */
export interface ResultTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** What a benchmark measured. */
export interface BenchmarkResult {
  /** The name of the file it is from. */
  readonly file: string;
  readonly title: string;
  /** Paragraphs and tables, in their order. */
  readonly parts: readonly (string | ResultTable)[];
}

/** What a controller did since the sample before. */
export interface ControllerSample {
  readonly operator: string;
  readonly controller: string;
  /** The pod in which it runs; absent if its metrics cannot be read. */
  readonly pod?: string;
  /** Whether this replica is the leader; absent without leader election. */
  readonly leads?: boolean;
  /** Reconciles, errors and retries per second. */
  readonly rate: number;
  readonly errors: number;
  readonly retries: number;
  readonly writes: number;
  /** Keys in the queue and workers at work; absent if its metrics cannot be read. */
  readonly depth?: number;
  readonly working?: number;
  /** Seconds; absent if nothing was reconciled. */
  readonly p50?: number;
  readonly p95?: number;
  /** Since the process started, or since the console did. */
  readonly total: number;
  readonly totalErrors: number;
}

/** The load of an object that is sized by an SLA, and the size that follows from it. */
export interface SizeSample {
  /** `namespace/name` */
  readonly name: string;
  /** Requests per second. */
  readonly load: number;
  /** Replicas that the SLA requires, and those that are ready. */
  readonly wanted?: number;
  readonly ready?: number;
  /** GPUs of its pods. */
  readonly gpus: number;
}

/** The numbers of a moment. */
export interface Sample {
  readonly at: number;
  readonly controllers: readonly ControllerSample[];
  readonly pods: Readonly<Record<string, number>>;
  readonly gpus: { readonly used: number; readonly total: number };
  readonly nodes: { readonly ready: number; readonly total: number };
  /** Changes of objects per second. */
  readonly changes: number;
  /** As the metrics of operators report it. */
  readonly sizes: readonly SizeSample[];
}

/** A state of an embedded cluster that was kept, or a cluster that was started from one. */
export interface KeptState {
  readonly id: number;
  /** Milliseconds since 1970, of the cluster. */
  readonly at: number;
  readonly objects: number;
}

/** What can be done with an embedded cluster besides what its API server offers. */
export interface ControlsState {
  /** The time of the cluster, or why it cannot be changed. */
  readonly time:
    | { readonly now: number; readonly speed: number; readonly jumpsTo?: number }
    | { readonly unavailable: string };
  /** Milliseconds that each request through the cluster's port waits. */
  readonly requestDelay: number;
  readonly snapshots: readonly KeptState[];
  /** `url` opens its console. */
  readonly forks: readonly (KeptState & { readonly url: string })[];
}

/** What the page requests of an embedded cluster. Times are in milliseconds, ids those of snapshots and forks. */
export type ControlRequest =
  | { readonly action: "speed"; readonly speed: number }
  | { readonly action: "jump"; readonly ms: number }
  | { readonly action: "delay requests"; readonly ms: number }
  | { readonly action: "crash pod"; readonly pod: string }
  | { readonly action: "snapshot" }
  | { readonly action: "restore" | "forget" | "stop fork"; readonly id: number }
  | { readonly action: "fork"; readonly id?: number };

/** The first message to the page. */
export interface Hello {
  readonly mode: "cluster" | "recording" | "exploration" | "results";
  readonly title: string;
  readonly readOnly: boolean;
  readonly user?: string;
  readonly version?: string;
  /** Kinds that the user has no permission to watch. */
  readonly hidden: readonly string[];
  /** Only of an embedded cluster in the process of the console, for its administrators. */
  readonly controls?: ControlsState;
  /** Only of an exploration. */
  readonly findings?: readonly FindingSummary[];
  /** Only of results. */
  readonly results?: readonly BenchmarkResult[];
}

/** A message of the stream. All parts are optional: what has not changed is left out. */
export interface StreamMessage {
  readonly hello?: Hello;
  /** Forget everything: the whole state follows in this message. */
  readonly reset?: true;
  readonly objects?: readonly ObjectSummary[];
  readonly removed?: readonly string[];
  readonly entries?: readonly Entry[];
  readonly samples?: readonly Sample[];
}
