import type { Clock } from "@konverge/core";
import type { Fault } from "./fault.ts";
import { type DescribedRequest, meetsWebhooks, resourceOf } from "./request-words.ts";

/** What the operator may see at most, of one resource or of all, until when. */
export interface View {
  readonly revision: number;
  readonly until: number;
  readonly resource: string | undefined;
}

/** How long a fault lasts, and what it does meanwhile to requests: an old view, no connection, refused writes. */
export class Disturbances {
  readonly #clock: Clock;
  readonly #revision: () => number;
  #view: View | undefined;
  #disconnectedUntil = 0;
  /** Watches from before this resource version have expired. */
  #compacted = 0;
  #webhooksDownUntil = 0;
  #refused: { readonly resource: string; readonly by: "quota" | "webhook"; readonly until: number } | undefined;

  constructor(clock: Clock, revision: () => number) {
    this.#clock = clock;
    this.#revision = revision;
  }

  /** The operator sees nothing newer than this revision. */
  showOld(revision: number, ms: number, resource?: string): void {
    this.#view = { revision, until: this.#clock.monotonic() + ms, resource };
  }

  /** No request arrives; watches cannot resume from before the end of it if they have `expired` by then. */
  disconnect({ ms, expired }: Fault & { type: "missed events" }): void {
    this.#disconnectedUntil = this.#clock.monotonic() + ms;
    if (!expired) return;
    this.#clock.after(ms, () => {
      this.#compacted = this.#revision();
    });
  }

  stopWebhooks(ms: number): void {
    this.#webhooksDownUntil = this.#clock.monotonic() + ms;
  }

  /** Writes of the resource of a request are refused. */
  refuse({ by, ms }: Fault & { type: "refused" }, request: DescribedRequest | undefined): void {
    if (!request?.target) return;
    this.#refused = { resource: resourceOf(request.target), by, until: this.#clock.monotonic() + ms };
  }

  get isDisconnected(): boolean {
    return this.#clock.monotonic() < this.#disconnectedUntil;
  }

  hasExpired(version: string): boolean {
    return Number(version) > 0 && Number(version) < this.#compacted;
  }

  failsInWebhook(request: DescribedRequest): boolean {
    return meetsWebhooks(request) && this.#clock.monotonic() < this.#webhooksDownUntil;
  }

  /** What refuses a request: a quota refuses only that something is created, a webhook all but deletions. */
  refusedBy({ type, target, what }: DescribedRequest): "quota" | "webhook" | undefined {
    const refused = this.#refused;
    if (!refused || !target || type !== "write" || target.subresource === "status") return undefined;
    if (this.#clock.monotonic() >= refused.until || resourceOf(target) !== refused.resource) return undefined;
    const isRefused = refused.by === "quota" ? what.startsWith("create ") : !what.startsWith("delete");
    return isRefused ? refused.by : undefined;
  }

  /** The old view that the operator has of a resource, if it has one. */
  viewOf(resource: string | undefined): View | undefined {
    if (this.#view && this.#clock.monotonic() >= this.#view.until) this.#view = undefined;
    return this.#view?.resource === undefined || this.#view.resource === resource ? this.#view : undefined;
  }
}
