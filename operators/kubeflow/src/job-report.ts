import { deepEqual } from "konverge/objects";
import type { WorkloadProblem } from "konverge/pods";
import {
  type ConditionType,
  foreignConditions,
  holds,
  isFinished,
  jobConditions,
  STALLED,
  saysTheSame,
  settled,
  withStatement,
} from "./job-conditions.ts";
import type { JobCondition, JobStatus, ReplicaStatus } from "./job-fields.ts";

/** An event to record about a job. */
export interface ReportedEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/**
 * The result of one reconcile of a job: its new status, and the events to record. It starts from the previous status: what
 * is found again changes nothing and is not reported again.
 */
export class JobReport {
  readonly #kind: string;
  readonly #before: JobStatus;
  readonly #time: string;
  /** The events for new conditions, by the type and message of the condition. */
  readonly #eventsByCondition = new Map<string, ReportedEvent>();
  readonly #events: ReportedEvent[] = [];
  #conditions: readonly JobCondition[];
  #replicaStatuses: Readonly<Record<string, ReplicaStatus>> | undefined;
  #startTime: string | undefined;
  #completionTime: string | undefined;
  #problem: WorkloadProblem | undefined;

  constructor(kind: string, before: JobStatus, time: string) {
    this.#kind = kind;
    this.#before = before;
    this.#time = time;
    this.#conditions = jobConditions(before);
    this.#replicaStatuses = before.replicaStatuses;
    this.#startTime = before.startTime;
    this.#completionTime = before.completionTime;
  }

  get isFinished(): boolean {
    return isFinished({ conditions: [...this.#conditions] });
  }

  find(type: ConditionType): JobCondition | undefined {
    return this.#conditions.find((one) => one.type === type);
  }

  created(message: string): void {
    if (!this.find("Created")) this.#state("Created", message);
  }

  /** The first call sets the job's start time. */
  started(): void {
    this.#startTime ??= this.#time;
  }

  running(message: string): void {
    this.#state("Running", message);
  }

  restarting(message: string): void {
    this.#state("Restarting", message, "Warning");
  }

  succeeded(message: string): void {
    this.#completionTime ??= this.#time;
    this.#state("Succeeded", message, "Normal");
  }

  failed(message: string, type: ReportedEvent["type"] = "Normal", reason = `${this.#kind}Failed`): void {
    this.#completionTime ??= this.#time;
    this.#set("Failed", "True", reason, message, type);
  }

  suspended(message: string): void {
    if (holds(this.#conditions, "Running")) this.#set("Running", "False", `${this.#kind}Suspended`, message);
    if (!holds(this.#conditions, "Suspended")) this.#state("Suspended", message, "Normal");
  }

  /** The deadline of the job starts again. */
  resumed(message: string): void {
    this.#startTime = this.#time;
    this.#set("Suspended", "False", `${this.#kind}Resumed`, message, "Normal");
  }

  replicas(statuses: Readonly<Record<string, ReplicaStatus>>): void {
    this.#replicaStatuses = statuses;
  }

  /** The job cannot continue without help. */
  stalled(problem: WorkloadProblem | undefined): void {
    if (!problem || this.#problem) return;
    this.#problem = problem;
    this.#eventsByCondition.set(`${STALLED} ${problem.message}`, { type: "Warning", ...problem });
  }

  /** Whether the same problem was reported before. */
  knows({ reason, message }: WorkloadProblem): boolean {
    const stalled = { type: STALLED, status: "True" as const, reason, message };
    return this.#before.conditions?.some((known) => saysTheSame(known, stalled)) ?? false;
  }

  /** Records an event that does not belong to a condition. */
  event(type: ReportedEvent["type"], reason: string, message: string): void {
    this.#events.push({ type, reason, message });
  }

  /** Whether everything but the Stalled condition is already in the stored status. */
  get isStored(): boolean {
    const withoutStalled = ({ conditions = [], ...rest }: JobStatus) => ({
      ...rest,
      conditions: conditions.filter(({ type }) => type !== STALLED),
    });
    return deepEqual(withoutStalled(this.status), withoutStalled(this.#before));
  }

  /** The events to record: those for changed conditions, and all others. */
  get events(): readonly ReportedEvent[] {
    const now = this.status.conditions ?? [];
    const isNew = (one: JobCondition) => !this.#before.conditions?.some((known) => saysTheSame(known, one));
    const changes = now
      .filter(isNew)
      .flatMap(({ type, message }) => this.#eventsByCondition.get(`${type} ${message}`) ?? []);
    const isKnown = (one: ReportedEvent) =>
      this.#events.some(({ reason, message }) => reason === one.reason && message === one.message);
    return [...this.#events, ...changes.filter((one) => !isKnown(one))];
  }

  get status(): JobStatus {
    const all = [...foreignConditions(this.#before), ...this.#stalled(), ...this.#conditions];
    const conditions = settled(all, this.#before.conditions ?? []);
    const { lastReconcileTime } = this.#before;
    return {
      ...(conditions.length > 0 && { conditions }),
      ...(Object.keys(this.#replicaStatuses ?? {}).length > 0 && { replicaStatuses: { ...this.#replicaStatuses } }),
      ...(this.#startTime && { startTime: this.#startTime }),
      ...(this.#completionTime && { completionTime: this.#completionTime }),
      ...(lastReconcileTime && { lastReconcileTime }),
    };
  }

  #stalled(): JobCondition[] {
    if (!this.#problem || this.isFinished) return [];
    const { reason, message } = this.#problem;
    const known = this.#before.conditions?.find(({ type }) => type === STALLED);
    const lastTransitionTime = known?.lastTransitionTime ?? this.#time;
    return [{ type: STALLED, status: "True", reason, message, lastUpdateTime: this.#time, lastTransitionTime }];
  }

  #state(type: ConditionType, message: string, event?: ReportedEvent["type"]): void {
    this.#set(type, "True", `${this.#kind}${type}`, message, event);
  }

  #set(
    type: ConditionType,
    status: "True" | "False",
    reason: string,
    message: string,
    event?: ReportedEvent["type"],
  ): void {
    this.#conditions = withStatement(this.#conditions, { type, status, reason, message }, this.#time);
    if (event) this.#eventsByCondition.set(`${type} ${message}`, { type: event, reason, message });
  }
}
