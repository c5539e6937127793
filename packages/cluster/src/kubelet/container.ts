import { type Clock, formatDurationMs } from "@konverge/core";
import type { Container, LifecycleHandler, Pod, Probe } from "@konverge/kinds";
import type { EventSink } from "@konverge/runtime";
import { behaviorOf, type ContainerBehavior } from "../images/behavior.ts";
import { ContainerLog, type LogSpace } from "../images/container-log.ts";
import type { Image } from "../images/image.ts";
import type { ContainerStreams, EndedRun, Run } from "../images/run.ts";
import { ContainerInput } from "./container-input.ts";
import { type PlannedExit, plannedExit, SIGKILL, SIGNALS } from "./planned-exit.ts";
import { Probes } from "./probes.ts";

/** Init containers run one after the other to their end; sidecars start in that order and stay. */
export type Role = "init" | "sidecar" | "main" | "ephemeral";

/** How a run of a container ended. Times are milliseconds since 1970. */
export interface Ended {
  readonly exitCode: number;
  readonly reason: string;
  readonly message?: string;
  readonly signal?: number;
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly id: string;
}

/** What a container needs to know about where it is. */
export interface ContainerHost {
  readonly clock: Clock;
  readonly pod: Pod;
  readonly events: EventSink;
  image(reference: string | undefined): Image | undefined;
  /** Why the container cannot be created: a ConfigMap or Secret is missing. */
  configProblem(container: Container): string | undefined;
  /** Why its program cannot be executed. */
  startProblem(container: Container): string | undefined;
  /** Whether what it runs is carried out in a simulated userland. */
  runsInside(container: Container): boolean;
  /** Runs a program in its place, or what it says in its userland; `ended` is called once. */
  run(container: Container, id: string, streams: ContainerStreams, ended: EndedRun): Run | undefined;
  /** Runs a lifecycle hook; returns the error, or undefined. */
  hook(container: Container, id: string, handler: LifecycleHandler): Promise<string | undefined>;
  /** Runs a probe; returns the failure, or undefined. */
  probe(container: Container, id: string, probe: Probe): Promise<string | undefined>;
  /** Something happened outside the turn of {@link SimulatedContainer.advance}. */
  changed(): void;
}

const NEVER = Number.POSITIVE_INFINITY;
const FIRST_BACKOFF = 10_000;
const LONGEST_BACKOFF = 300_000;
/** The backoff of a container is reset after it has run this long. */
const BACKOFF_RESET = 2 * LONGEST_BACKOFF;
const SIGTERM = 15;
/** The exit code of a container whose program cannot be executed. */
const CANNOT_START = 128;
/** The exit code of a container whose outcome is unknown. */
const LOST = 255;

/**
 * One container, simulated. {@link advance} does what is due and returns when it has to be called
 * again; nothing in here waits.
 */
export class SimulatedContainer {
  readonly role: Role;
  spec: Container;
  /** Its allocated resources: the requested ones, unless a resize is deferred. */
  resources: Container["resources"];
  state: "waiting" | "running" | "terminated" = "waiting";
  reason = "";
  message = "";
  restarts = 0;
  ended: Ended | undefined;
  last: Ended | undefined;
  startedAt = 0;
  id = "";
  ready = false;
  log: ContainerLog | undefined;
  previousLog: ContainerLog | undefined;
  /** The standard input of the present run. */
  input = new ContainerInput({});
  readonly #clock: Clock;
  readonly #logs: LogSpace;
  #startAt: number | undefined;
  #exit: PlannedExit | undefined;
  #backoff = 0;
  #pullBackoff = 0;
  #pulled = false;
  #run: Run | undefined;
  /** The probes of a container whose command really runs; others count as successful. */
  #probes: Probes | undefined;
  #unhealthySince: number | undefined;
  #stopping = false;
  /** Its postStart hook is still running. */
  #isStarting = false;

  constructor(role: Role, spec: Container, clock: Clock, logs: LogSpace) {
    this.#clock = clock;
    this.#logs = logs;
    this.role = role;
    this.spec = spec;
    this.resources = spec.resources;
  }

  /** It has run and need not run again. */
  get succeeded(): boolean {
    return this.state === "terminated" && this.ended?.exitCode === 0;
  }

  /** It runs, and its startup probe has succeeded. */
  get started(): boolean {
    return this.state === "running" && (this.#probes?.started ?? true);
  }

  /** The log of the current run, created on first use. */
  openLog(): ContainerLog {
    this.log ??= new ContainerLog(this.#clock, this.#logs);
    return this.log;
  }

  /** Its pod has changed, and not in its status alone. */
  refreshVolumes(pod: Pod): void {
    this.#run?.refreshVolumes?.(pod);
  }

  /** Its pod is deleted: its logs can no longer be read. */
  releaseLogs(): void {
    this.log?.release();
    this.previousLog?.release();
  }

  /** Does everything that is due; returns the time of the next step. */
  advance(host: ContainerHost): number {
    const now = host.clock.now();
    const image = host.image(this.spec.image);
    const behavior = behaviorOf(host.pod, this.spec, image);
    if (this.state === "terminated") this.#afterEnd(host, now);
    if (this.state === "waiting") this.#whileWaiting(host, behavior, now);
    if (this.state === "running") return this.#whileRunning(host, behavior, now);
    return this.state === "waiting" ? (this.#startAt ?? NEVER) : NEVER;
  }

  /** Stops it within a grace period (milliseconds); returns the time at which it will have stopped. */
  stop(host: ContainerHost, grace: number, reason?: string): number {
    const now = host.clock.now();
    if (this.state === "waiting") this.state = this.last ? "terminated" : "waiting";
    if (this.state !== "running") return now;
    if (!this.#stopping) {
      this.#stopping = true;
      const { stopDuration = 0 } = behaviorOf(host.pod, this.spec, host.image(this.spec.image));
      const preStop = (this.spec.lifecycle?.preStop?.sleep?.seconds ?? 0) * 1000;
      if (this.#run) {
        this.#stopRun(host, this.#run, grace);
        this.#exit = { at: now + grace, code: SIGNALS + SIGKILL, ...(reason && { reason }) };
      } else {
        const needed = preStop + stopDuration;
        // A server ends with 0 on SIGTERM; a task that is interrupted has failed.
        const inTime = host.pod.spec?.restartPolicy === "Always" ? 0 : SIGNALS + SIGTERM;
        const code = needed <= grace ? inTime : SIGNALS + SIGKILL;
        this.#exit = { at: now + Math.min(needed, grace), code, ...(reason && { reason }) };
        if (grace > 0) this.#awaitPreStop(host, this.#exit, now + grace);
      }
    } else if (this.#exit && this.#exit.at > now + grace) this.#exit.at = now + grace;
    if (this.#exit && now >= this.#exit.at) this.#end(now, this.#exit.code, this.#exit.reason, undefined);
    return this.#exit?.at ?? now;
  }

  /** Ends it at once, as SIGKILL does. */
  crash(now: number): void {
    if (this.state === "running") this.#end(now, SIGNALS + SIGKILL, undefined, undefined);
  }

  /** Takes up where an earlier kubelet left off. */
  restore(
    status: {
      restartCount: number;
      running?: number;
      ended?: Ended;
      last?: Ended;
      ready: boolean;
      id: string;
    },
    isProgram: boolean,
  ): void {
    this.restarts = status.restartCount;
    this.id = status.id;
    this.last = status.last;
    this.#pulled = true;
    if (status.running !== undefined && isProgram) {
      // It ended with the process that ran it.
      this.state = "terminated";
      const times = { startedAt: status.running, finishedAt: this.#clock.now() };
      this.ended = { exitCode: LOST, reason: "Unknown", ...times, id: status.id };
    } else if (status.running !== undefined) {
      this.state = "running";
      this.startedAt = status.running;
      this.ready = status.ready;
    } else if (status.ended) {
      this.state = "terminated";
      this.ended = status.ended;
    }
  }

  #whileWaiting(host: ContainerHost, behavior: ContainerBehavior, now: number): void {
    if (this.#startAt !== undefined && now < this.#startAt) return;
    if (behavior.failPull !== undefined && behavior.failPull !== "false" && !this.#pulled) {
      this.#failToPull(host, behavior.failPull, now);
      return;
    }
    const problem = host.configProblem(this.spec);
    if (problem !== undefined) {
      if (this.message !== problem) host.events.warning("Failed", `Error: ${problem}`);
      this.reason = "CreateContainerConfigError";
      this.message = problem;
      this.#startAt = undefined;
      return;
    }
    const { startDelay = 0 } = behavior;
    if (this.#startAt === undefined && startDelay > 0) {
      this.reason = this.role === "init" || this.role === "sidecar" ? "PodInitializing" : "ContainerCreating";
      this.message = "";
      this.#startAt = now + startDelay;
      return;
    }
    this.#create(host, now);
    const error = host.startProblem(this.spec);
    if (error === undefined) this.#start(host, behavior, now);
    else this.#failToStart(host, error, now);
  }

  #failToPull(host: ContainerHost, reason: string, now: number): void {
    const { image = "" } = this.spec;
    const said = reason === "true" ? `failed to pull and unpack image "${image}": not found` : reason;
    if (this.#startAt !== undefined && this.reason === "ErrImagePull") {
      this.reason = "ImagePullBackOff";
      this.message = `Back-off pulling image "${image}": ErrImagePull: ${said}`;
      host.events.normal("BackOff", `Back-off pulling image "${image}"`);
      this.#startAt = now + this.#pullBackoff;
      return;
    }
    host.events.normal("Pulling", `Pulling image "${image}"`);
    host.events.warning("Failed", `Failed to pull image "${image}": ${said}`);
    host.events.warning("Failed", "Error: ErrImagePull");
    this.reason = "ErrImagePull";
    this.message = said;
    this.#pullBackoff = Math.min(this.#pullBackoff * 2 || FIRST_BACKOFF, LONGEST_BACKOFF);
    // The next sync finds it in back-off.
    this.#startAt = now + 1000;
  }

  #create(host: ContainerHost, now: number): void {
    const { image = "" } = this.spec;
    if (!this.#pulled) {
      host.events.normal("Pulled", `Container image "${image}" already present on machine`);
      this.#pulled = true;
    }
    host.events.normal("Created", "Container created");
    this.reason = "";
    this.message = "";
    this.startedAt = now;
    if (this.ended) this.restarts++;
    this.ended = undefined;
    this.ready = false;
    this.#startAt = undefined;
    this.#stopping = false;
    this.#unhealthySince = undefined;
    this.id = `containerd://${hex(host.clock)}`;
    this.previousLog?.release();
    this.previousLog = this.log;
    this.log = undefined;
    this.input = new ContainerInput(this.spec);
  }

  /** It has ended without having been started: its program cannot be executed. */
  #failToStart(host: ContainerHost, message: string, now: number): void {
    host.events.warning("Failed", `Error: ${message}`);
    this.state = "terminated";
    this.ended = { exitCode: CANNOT_START, reason: "StartError", message, startedAt: 0, finishedAt: now, id: this.id };
    this.#afterEnd(host, now);
  }

  #start(host: ContainerHost, behavior: ContainerBehavior, now: number): void {
    const { image = "" } = this.spec;
    host.events.normal("Started", "Container started");
    this.state = "running";
    this.#exit = this.#plan(host, behavior, now);
    if (behavior.logs !== undefined) this.openLog().write(`${behavior.logs.replace(/\n$/, "")}\n`);
    const isProgram = host.image(image)?.run !== undefined;
    if (!isProgram && (this.#exit || !host.runsInside(this.spec))) {
      void this.#sendHook(host, "postStart");
      this.#reportSkippedProbes(host);
      return;
    }
    const { id } = this;
    this.#run = host.run(this.spec, id, { log: this.openLog(), stdin: this.input }, (code, message, reason) => {
      if (this.id !== id || this.state !== "running") return;
      this.#exit = { at: 0, code, ...(message && { message }), ...(reason && { reason }) };
      host.changed();
    });
    this.#afterStart(host);
    this.#probes = new Probes(
      {
        clock: host.clock,
        events: host.events,
        check: (probe) => host.probe(this.spec, id, probe),
        changed: () => host.changed(),
        unhealthy: (kind, probe) => {
          if (this.id === id && this.state === "running") this.#endUnhealthy(host, kind, probe);
        },
      },
      this.spec,
    );
  }

  /** A probe that is not executed says nothing about the workload: an event reports that. */
  #reportSkippedProbes(host: ContainerHost): void {
    const { startupProbe, readinessProbe, livenessProbe, image = "", name } = this.spec;
    const probes = Object.entries({ startup: startupProbe, readiness: readinessProbe, liveness: livenessProbe });
    const kinds = probes.filter(([, probe]) => probe !== undefined).map(([kind]) => kind);
    if (kinds.length === 0 || this.restarts > 0) return;
    const message = `Container ${name} only seems to run: nothing is known of image "${image}". Not executed, taken to succeed: ${kinds.join(", ")} probe${kinds.length > 1 ? "s" : ""}`;
    host.events.normal("ProbesNotExecuted", message);
  }

  #plan(host: ContainerHost, behavior: ContainerBehavior, now: number): PlannedExit | undefined {
    const isProgram = host.image(this.spec.image)?.run !== undefined || host.runsInside(this.spec);
    const plan = plannedExit({ pod: host.pod, container: this.spec, role: this.role, isProgram }, behavior, now);
    if (plan.output) this.openLog().write(plan.output);
    return plan.exit;
  }

  /** A container is not ready before its postStart hook has finished, and is stopped when it fails. */
  #afterStart(host: ContainerHost): void {
    const handler = this.spec.lifecycle?.postStart;
    this.#isStarting = handler !== undefined;
    if (!handler) return;
    const { id } = this;
    void host.hook(this.spec, id, handler).then((problem) => {
      if (this.id !== id || this.state !== "running") return;
      this.#isStarting = false;
      if (problem !== undefined) {
        host.events.warning("FailedPostStartHook", `PostStartHook failed: ${problem}`);
        this.stop(host, (host.pod.spec?.terminationGracePeriodSeconds ?? 30) * 1000);
      }
      host.changed();
    });
  }

  /** Sends the HTTP request of a lifecycle hook, even for a container whose run is only simulated. */
  #sendHook(host: ContainerHost, hook: "postStart" | "preStop"): Promise<unknown> | undefined {
    const httpGet = this.spec.lifecycle?.[hook]?.httpGet;
    return httpGet && host.hook(this.spec, this.id, { httpGet });
  }

  /** Delays the exit until the preStop request is answered. */
  #awaitPreStop(host: ContainerHost, exit: PlannedExit, latest: number): void {
    const { id } = this;
    const sent = this.#sendHook(host, "preStop");
    if (!sent) return;
    this.#exit = { ...exit, at: latest };
    void sent.then(() => {
      if (this.id !== id || this.state !== "running") return;
      this.#exit = exit;
      host.changed();
    });
  }

  /** Runs the preStop hook, then asks the program to stop. */
  #stopRun(host: ContainerHost, run: Run, grace: number): void {
    const handler = grace > 0 ? this.spec.lifecycle?.preStop : undefined;
    if (!handler) {
      run.stop();
      return;
    }
    void host.hook(this.spec, this.id, handler).then((problem) => {
      if (problem !== undefined) host.events.warning("FailedPreStopHook", `PreStopHook failed: ${problem}`);
      run.stop();
    });
  }

  #endUnhealthy(host: ContainerHost, kind: "startup" | "liveness", probe: Probe): void {
    host.events.normal("Killing", `Container ${this.spec.name} failed ${kind} probe, will be restarted`);
    const seconds = probe.terminationGracePeriodSeconds ?? host.pod.spec?.terminationGracePeriodSeconds ?? 30;
    this.stop(host, seconds * 1000);
    host.changed();
  }

  #whileRunning(host: ContainerHost, behavior: ContainerBehavior, now: number): number {
    if (this.#exit && now >= this.#exit.at) {
      const { code, reason, message } = this.#exit;
      this.#end(now, code, reason, message);
      return this.advance(host);
    }
    if (this.#probes) {
      this.ready = this.#probes.ready && behavior.ready !== false && !this.#stopping && !this.#isStarting;
      return this.#exit?.at ?? NEVER;
    }
    const readyAt = this.startedAt + readyDelay(this.spec, behavior);
    const wasReady = this.ready;
    this.ready = now >= readyAt && behavior.ready !== false;
    if (wasReady && !this.ready && this.spec.readinessProbe) {
      host.events.warning("Unhealthy", "Readiness probe failed: the simulated container says it is not ready");
    }
    return Math.min(this.#exit?.at ?? NEVER, now < readyAt ? readyAt : NEVER, this.#checkLiveness(host, behavior, now));
  }

  #checkLiveness(host: ContainerHost, behavior: ContainerBehavior, now: number): number {
    const probe = this.spec.livenessProbe;
    if (behavior.live !== false || !probe || this.#stopping) {
      this.#unhealthySince = undefined;
      return NEVER;
    }
    if (this.#unhealthySince === undefined) {
      this.#unhealthySince = now;
      host.events.warning("Unhealthy", "Liveness probe failed: the simulated container says it is not alive");
    }
    const from = Math.max(this.#unhealthySince, this.startedAt + (probe.initialDelaySeconds ?? 0) * 1000);
    const killAt = from + ((probe.failureThreshold ?? 3) - 1) * (probe.periodSeconds ?? 10) * 1000;
    if (now < killAt) return killAt;
    host.events.normal("Killing", `Container ${this.spec.name} failed liveness probe, will be restarted`);
    return this.stop(
      host,
      (probe.terminationGracePeriodSeconds ?? host.pod.spec?.terminationGracePeriodSeconds ?? 30) * 1000,
    );
  }

  #end(now: number, exitCode: number, reason: string | undefined, message: string | undefined): void {
    this.#run?.kill();
    this.#run = undefined;
    this.#probes?.stop();
    this.#probes = undefined;
    this.input.end();
    this.state = "terminated";
    this.ready = false;
    this.#exit = undefined;
    this.log?.close();
    const fromLog = exitCode !== 0 && this.spec.terminationMessagePolicy === "FallbackToLogsOnError";
    const fallback = message ?? (fromLog ? this.log?.terminationMessage() : undefined);
    this.ended = {
      exitCode,
      reason: reason ?? (exitCode === 0 ? "Completed" : "Error"),
      ...(fallback !== undefined && { message: fallback }),
      startedAt: this.startedAt,
      finishedAt: now,
      id: this.id,
    };
    if (now - this.startedAt >= BACKOFF_RESET) this.#backoff = 0;
  }

  #afterEnd(host: ContainerHost, now: number): void {
    if (!this.ended || !this.#mustRestart(host.pod)) return;
    this.last = this.ended;
    this.state = "waiting";
    if (this.#backoff === 0) {
      // The first restart is at once; from then on they wait.
      this.#backoff = FIRST_BACKOFF;
      this.#startAt = now;
      return;
    }
    const { name, namespace, uid } = host.pod.metadata;
    const where = `${name}_${namespace}(${uid})`;
    this.reason = "CrashLoopBackOff";
    this.message = `back-off ${formatDurationMs(this.#backoff)} restarting failed container=${this.spec.name} pod=${where}`;
    host.events.warning("BackOff", `Back-off restarting failed container ${this.spec.name} in pod ${where}`);
    this.#startAt = this.ended.finishedAt + this.#backoff;
    this.#backoff = Math.min(this.#backoff * 2, LONGEST_BACKOFF);
  }

  #mustRestart(pod: Pod): boolean {
    if (this.role === "ephemeral") return false;
    if (this.role === "sidecar") return true;
    const policy = pod.spec?.restartPolicy ?? "Always";
    if (this.role === "init") return !this.succeeded && policy !== "Never";
    return policy === "Always" || (policy === "OnFailure" && !this.succeeded);
  }
}

/** When the probes of a container that is well are content, in milliseconds from its start. */
function readyDelay(
  { startupProbe, readinessProbe }: Container,
  { readyDelay: scripted, warmUp = 0 }: ContainerBehavior,
): number {
  if (scripted !== undefined) return scripted;
  const probed = Math.max(startupProbe?.initialDelaySeconds ?? 0, readinessProbe?.initialDelaySeconds ?? 0);
  return Math.max(probed * 1000, readinessProbe ? warmUp : 0);
}

function hex({ random }: Clock): string {
  let text = "";
  while (text.length < 64)
    text += random
      .below(2 ** 32)
      .toString(16)
      .padStart(8, "0");
  return text;
}
