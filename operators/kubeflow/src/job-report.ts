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

/** Something to tell the users of a job. */
export interface Told {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/**
 * What one look at a job has found: the status to be, and what there is to tell. It begins with what was reported
 * before; what is found again changes nothing, and is not reported again.
 */
export class JobReport {
  readonly #kind: string;
  readonly #before: JobStatus;
  readonly #time: string;
  readonly #said = new Map<string, Told>();
  readonly #told: Told[] = [];
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

  /** The first call sets the job's clock going. */
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

  failed(message: string, type: Told["type"] = "Normal", reason = `${this.#kind}Failed`): void {
    this.#completionTime ??= this.#time;
    this.#set("Failed", "True", reason, message, type);
  }

  suspended(message: string): void {
    if (holds(this.#conditions, "Running")) this.#set("Running", "False", `${this.#kind}Suspended`, message);
    if (!holds(this.#conditions, "Suspended")) this.#state("Suspended", message, "Normal");
  }

  /** The job's deadline starts again. */
  resumed(message: string): void {
    this.#startTime = this.#time;
    this.#set("Suspended", "False", `${this.#kind}Resumed`, message, "Normal");
  }

  replicas(statuses: Readonly<Record<string, ReplicaStatus>>): void {
    this.#replicaStatuses = statuses;
  }

  /** The job cannot go on by itself. */
  troubled(problem: WorkloadProblem | undefined): void {
    if (!problem || this.#problem) return;
    this.#problem = problem;
    this.#said.set(`${STALLED} ${problem.message}`, { type: "Warning", ...problem });
  }

  /** Whether the same trouble was reported before. */
  knows({ reason, message }: WorkloadProblem): boolean {
    const said = { type: STALLED, status: "True" as const, reason, message };
    return this.#before.conditions?.some((known) => saysTheSame(known, said)) ?? false;
  }

  /** Tells something that is no condition. */
  tell(type: Told["type"], reason: string, message: string): void {
    this.#told.push({ type, reason, message });
  }

  /** Whether all of it was reported before, apart from what keeps the job from going on. */
  get isStored(): boolean {
    const withoutStalled = ({ conditions = [], ...rest }: JobStatus) => ({
      ...rest,
      conditions: conditions.filter(({ type }) => type !== STALLED),
    });
    return deepEqual(withoutStalled(this.status), withoutStalled(this.#before));
  }

  /** All that is new. */
  get told(): readonly Told[] {
    const now = this.status.conditions ?? [];
    const isNew = (one: JobCondition) => !this.#before.conditions?.some((known) => saysTheSame(known, one));
    const changes = now.filter(isNew).flatMap(({ type, message }) => this.#said.get(`${type} ${message}`) ?? []);
    const isTold = (one: Told) =>
      this.#told.some(({ reason, message }) => reason === one.reason && message === one.message);
    return [...this.#told, ...changes.filter((one) => !isTold(one))];
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

  #state(type: ConditionType, message: string, told?: Told["type"]): void {
    this.#set(type, "True", `${this.#kind}${type}`, message, told);
  }

  #set(type: ConditionType, status: "True" | "False", reason: string, message: string, told?: Told["type"]): void {
    this.#conditions = withStatement(this.#conditions, { type, status, reason, message }, this.#time);
    if (told) this.#said.set(`${type} ${message}`, { type: told, reason, message });
  }
}
