import type { ApiResource, Client } from "@konverge/client";
import {
  type AnyObject,
  ApiError,
  type Clock,
  groupKindText,
  type KindRef,
  type KubeObject,
  sleep,
} from "@konverge/core";
import { Event } from "@konverge/kinds";
import type { History } from "./history.ts";
import { idOf } from "./summary.ts";

/** Milliseconds between two discoveries. */
const DISCOVERY_PERIOD = 30_000;
/** The same after a CustomResourceDefinition has changed, and for how long: servers list new kinds some seconds later. */
const HURRIED_PERIOD = 1000;
const HURRY = 20_000;
/** Events are entries of the timeline; leases change every few seconds without saying anything. */
const LEFT_OUT = new Set(["Lease.coordination.k8s.io", "Event.events.k8s.io", "Event"]);
/** Kinds whose changes only repeat those of pods. */
const QUIET = new Set(["Endpoints", "EndpointSlice.discovery.k8s.io"]);

/**
 * Fills a history from a cluster: watches every kind that the user has the permission to watch, and Events. What the user
 * cannot watch is left out and named in {@link hidden}.
 */
export class ClusterSource {
  readonly #client: Client;
  readonly #history: History;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #watched = new Map<string, ApiResource>();
  readonly #hidden = new Set<string>();
  #discoverSoon: (() => void) | undefined;
  #hurriedUntil = Number.NEGATIVE_INFINITY;
  /** Called when {@link hidden} has changed. */
  onHidden: (() => void) | undefined;

  /** `clock` is for timers: that of the cluster may be faster. */
  constructor(client: Client, history: History, clock: Clock) {
    this.#client = client;
    this.#history = history;
    this.#clock = clock;
  }

  get hidden(): string[] {
    return [...this.#hidden].sort();
  }

  /** Resolves when all kinds that are served now have been listed. */
  async start(): Promise<void> {
    const listed = await this.#discover();
    void this.#followEvents();
    void this.#keepDiscovering();
    await listed;
  }

  stop(): void {
    this.#stop.abort();
  }

  async #keepDiscovering(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const early = new AbortController();
      this.#discoverSoon = () => early.abort();
      const either = AbortSignal.any([signal, early.signal]);
      const isHurried = this.#clock.monotonic() < this.#hurriedUntil;
      const period = isHurried ? HURRIED_PERIOD : DISCOVERY_PERIOD;
      await sleep(this.#clock, period, { signal: isHurried ? signal : either, background: true }).catch(() => {});
      if (!signal.aborted) await this.#discover().catch(() => {});
    }
  }

  #hurry(): void {
    this.#hurriedUntil = this.#clock.monotonic() + HURRY;
    this.#discoverSoon?.();
  }

  /** Watches kinds that are not watched yet. The promise inside resolves when they have been listed. */
  async #discover(): Promise<Promise<unknown>> {
    const { resources } = await this.#client.mapper.refresh({ signal: this.#stop.signal });
    const found: Promise<void>[] = [];
    for (const resource of resources) {
      const name = groupKindText(resource);
      if (this.#watched.has(name) || LEFT_OUT.has(name)) continue;
      if (!resource.verbs.includes("watch") || !resource.verbs.includes("list")) continue;
      this.#watched.set(name, resource);
      found.push(this.#follow(resource));
    }
    return Promise.all(found);
  }

  /** Resolves after the first listing, or when there is none to expect. */
  #follow(resource: ApiResource): Promise<void> {
    return new Promise((listed) => {
      const ended = () => {
        this.#watched.delete(groupKindText(resource));
        listed();
      };
      this.#watch(resource, listed).then(ended, ended);
    });
  }

  async #watch(resource: ApiResource, listed: () => void): Promise<void> {
    const { clock } = this.#client;
    const history = this.#history;
    const name = groupKindText(resource);
    let missing: Set<string> | undefined;
    let quiet = true;
    for await (const event of this.#client.watch(resource as KindRef<AnyObject>, { signal: this.#stop.signal })) {
      switch (event.type) {
        case "RESET":
          missing = new Set(history.idsOf(resource));
          break;
        case "ADDED":
        case "MODIFIED":
          missing?.delete(event.object.metadata.uid ?? "");
          history.observe(resource, named(resource, event.object), clock.now(), { quiet: quiet || QUIET.has(name) });
          if (resource.kind === "CustomResourceDefinition" && !quiet) this.#hurry();
          break;
        case "DELETED":
          history.forget(event.object.metadata.uid ?? idOf(resource, event.object.metadata), clock.now(), {
            quiet: QUIET.has(name),
          });
          break;
        case "SYNCED":
          for (const id of missing ?? []) history.forget(id, clock.now());
          missing = undefined;
          quiet = false;
          if (this.#hidden.delete(name)) this.onHidden?.();
          listed();
          break;
        case "ERROR":
          if (event.error instanceof ApiError && event.error.code === 403 && !this.#hidden.has(name)) {
            this.#hidden.add(name);
            this.onHidden?.();
          }
          // A kind that was removed: its CustomResourceDefinition may come back.
          if (event.error instanceof ApiError && event.error.code === 404) return;
          listed();
      }
    }
  }

  async #followEvents(): Promise<void> {
    const history = this.#history;
    const since = this.#client.clock.now() - 3_600_000;
    const { signal } = this.#stop;
    try {
      for await (const event of this.#client.watch(Event, { signal })) {
        if (event.type !== "ADDED" && event.type !== "MODIFIED") continue;
        const { involvedObject: of, type, reason = "", message = "", count, series, ...rest } = event.object;
        const at = Date.parse(
          series?.lastObservedTime ?? rest.lastTimestamp ?? rest.eventTime ?? rest.metadata.creationTimestamp ?? "",
        );
        if (Number.isNaN(at) || at < since) continue;
        const group = (of.apiVersion ?? "").includes("/") ? of.apiVersion!.split("/")[0]! : "";
        const kind = [...this.#watched.values()].find((one) => one.kind === of.kind && one.group === group);
        const times = series?.count ?? count ?? 1;
        history.add({
          type: "event",
          at,
          object: {
            id: of.uid ?? "",
            group,
            version: kind?.version ?? "",
            kind: of.kind ?? "",
            plural: kind?.plural ?? "",
            ...(of.namespace && { namespace: of.namespace }),
            name: of.name ?? "",
          },
          warning: type === "Warning",
          reason,
          message: times > 1 ? `${message} (${times} times)` : message,
        });
      }
    } catch {
      this.#hidden.add("Event");
    }
  }
}

/** Items of lists do not name their kind. */
function named({ group, version, kind }: ApiResource, object: AnyObject): KubeObject {
  return { ...object, apiVersion: group ? `${group}/${version}` : version, kind };
}
