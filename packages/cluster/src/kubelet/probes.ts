import type { Clock, Timer } from "@konverge/core";
import type { Container, Probe } from "@konverge/kinds";
import type { EventSink } from "@konverge/runtime";

/** What the probes of a container need. */
export interface ProbeHost {
  readonly clock: Clock;
  readonly events: EventSink;
  /** Runs a probe once; returns the failure, or undefined when it succeeds. */
  check(probe: Probe): Promise<string | undefined>;
  /** Whether it has started, or is ready, is different from before. */
  changed(): void;
  /** The container must be restarted. */
  unhealthy(kind: "startup" | "liveness", probe: Probe): void;
}

type Kind = "startup" | "readiness" | "liveness";
const PROBE_NAMES: Readonly<Record<Kind, string>> = {
  startup: "Startup",
  readiness: "Readiness",
  liveness: "Liveness",
};

/**
 * The probes of one run of a container that is a program: they really ask it. The others wait until the startup probe is
 * content, and none asks again before its last answer has come.
 */
export class Probes {
  readonly #host: ProbeHost;
  readonly #spec: Container;
  readonly #timers = new Map<Kind, Timer>();
  #started: boolean;
  #ready: boolean;
  #stopped = false;

  constructor(host: ProbeHost, spec: Container) {
    this.#host = host;
    this.#spec = spec;
    this.#started = spec.startupProbe === undefined;
    this.#ready = spec.readinessProbe === undefined;
    if (spec.startupProbe) this.#follow("startup", spec.startupProbe);
    else this.#goOn();
  }

  get started(): boolean {
    return this.#started;
  }

  get ready(): boolean {
    return this.#started && this.#ready;
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers.values()) timer.cancel();
  }

  #goOn(): void {
    const { readinessProbe, livenessProbe } = this.#spec;
    if (readinessProbe) this.#follow("readiness", readinessProbe);
    if (livenessProbe) this.#follow("liveness", livenessProbe);
  }

  #follow(kind: Kind, probe: Probe): void {
    const { periodSeconds = 10, successThreshold = 1, failureThreshold = 3, initialDelaySeconds = 0 } = probe;
    const counts = { good: 0, bad: 0 };
    const ask = async () => {
      const wrong = await this.#host
        .check(probe)
        .catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
      if (this.#stopped) return;
      counts.good = wrong === undefined ? counts.good + 1 : 0;
      counts.bad = wrong === undefined ? 0 : counts.bad + 1;
      if (wrong !== undefined) this.#host.events.warning("Unhealthy", `${PROBE_NAMES[kind]} probe failed: ${wrong}`);
      const isOver =
        (counts.good >= successThreshold && this.#well(kind)) ||
        (counts.bad >= failureThreshold && this.#ill(kind, probe));
      if (!isOver) this.#plan(kind, periodSeconds * 1000, ask);
    };
    this.#plan(kind, initialDelaySeconds * 1000, ask);
  }

  #plan(kind: Kind, after: number, ask: () => Promise<void>): void {
    if (this.#stopped) return;
    const options = { background: true, label: `kubelet: ${kind} probe` };
    this.#timers.set(
      kind,
      this.#host.clock.after(after, () => void ask(), options),
    );
  }

  /** True when this probe has nothing more to do. */
  #well(kind: Kind): boolean {
    if (kind === "startup") {
      this.#started = true;
      this.#goOn();
      this.#host.changed();
      return true;
    }
    if (kind === "readiness" && !this.#ready) {
      this.#ready = true;
      this.#host.changed();
    }
    return false;
  }

  #ill(kind: Kind, probe: Probe): boolean {
    if (kind !== "readiness") {
      this.stop();
      this.#host.unhealthy(kind, probe);
      return true;
    }
    if (this.#ready) {
      this.#ready = false;
      this.#host.changed();
    }
    return false;
  }
}
