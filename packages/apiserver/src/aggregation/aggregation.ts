/**
 * Other API servers behind this one.
 *
 * An APIService says that a version of a group is served elsewhere: behind a Service. {@link Aggregation} watches those
 * objects. A request to such a group is handed on ({@link proxied}) with headers that say who asks; before that it has been
 * authenticated and authorized here like any other. Whether the other server can be used is found out again and again
 * (availability.ts) and written into the object's condition; what it serves (foreign-documents.ts) becomes part of this
 * server's discovery and OpenAPI.
 *
 * It promises: a server that is down delays no requests but those for its group; no client reaches another server with an
 * identity other than its own, whatever headers it sends.
 */
import type { ApiRequest, ApiResponse, Clock, Timer, Transport } from "@konverge/core";
import type { User } from "../auth/user.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { Registry } from "../resources/registry.ts";
import type { Store } from "../storage/store.ts";
import { API_SERVICE_STORAGE, ApiServices, byVersionPriority, type RemoteService } from "./api-services.ts";
import { publishAuthentication } from "./authentication-config.ts";
import { checkAvailability, DISCOVERY_TIMEOUT } from "./availability.ts";
import { withDeadline } from "./deadline.ts";
import { type AggregationOptions, type CallExtension, noExtensions } from "./extension-call.ts";
import { type ForeignDocuments, fetchDocuments, type SwaggerPart, staleDiscovery } from "./foreign-documents.ts";
import {
  DISCOVERED_FORM,
  type DiscoveredGroup,
  mergeGroups,
  type Order,
  PLAIN_FORM,
  type PlainGroup,
} from "./merged-groups.ts";
import { proxied } from "./proxy.ts";
import { registerCustomGroups } from "./registrations.ts";
import { ADDRESS_STORAGES } from "./service-address.ts";

/** How long an answer about a server is believed, at most; failures are tried again sooner, then less and less often. */
const RECHECK = 30_000;
const FIRST_RETRY = 5;

/** What aggregation works with. */
export interface AggregationParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: Clock;
  /** Reaches this server itself, with its own identity. */
  readonly self: Transport;
  readonly options?: AggregationOptions;
}

/** What is known of a remote service besides its object. */
interface Followed {
  documents?: ForeignDocuments;
  failures: number;
  checking: boolean;
  /** Something changed while it was being checked. */
  again: boolean;
  timer?: Timer;
}

/** Follows the APIServices: hands on requests, and knows what others serve. */
export class Aggregation {
  readonly #parts: AggregationParts;
  readonly #call: CallExtension;
  readonly #services: ApiServices;
  readonly #followed = new Map<string, Followed>();
  /** The newest revision that has been looked at, and the registry's state then. */
  #observed = { revision: -1, epoch: -1, registry: -1 };
  #documentChanges = 0;
  #closed = false;

  constructor(parts: AggregationParts) {
    this.#parts = parts;
    this.#call = parts.options?.call ?? noExtensions;
    this.#services = new ApiServices(parts.store);
    const { frontProxy } = parts.options ?? {};
    if (frontProxy) publishAuthentication(parts.store, parts.registry, parts.clock, frontProxy);
  }

  /** Grows when what others serve has changed. */
  get generation(): number {
    return this.#documentChanges + this.#services.changes;
  }

  /** Answers a request that another server is responsible for; undefined when this one is. */
  answer(request: ApiRequest, info: RequestInfo, user: User): Promise<ApiResponse> | undefined {
    if (this.#services.remote().size === 0) return undefined;
    const remote = this.#responsible(info);
    if (!remote) return undefined;
    const { clock, store } = this.#parts;
    const hand = (signal?: AbortSignal) =>
      proxied(this.#call, store, remote, { request: { ...request, ...(signal && { signal }) }, info, user });
    return info.isResource ? hand(request.signal) : withDeadline(clock, DISCOVERY_TIMEOUT, hand, request.signal);
  }

  #responsible({ path, group, version }: RequestInfo): RemoteService | undefined {
    const remote = this.#services.remote();
    if (group !== "") return remote.get(`${group}/${version}`);
    const document = /^\/openapi\/v3\/apis\/([^/]+)\/([^/]+)$/.exec(path);
    return document ? remote.get(`${document[1]}/${document[2]}`) : undefined;
  }

  /** Takes notice of what has been written: called after each request, and costs next to nothing when there is nothing. */
  settle(): void {
    const { store, registry, clock } = this.#parts;
    const { revision, epoch } = store;
    if (this.#observed.revision === revision && this.#observed.registry === registry.generation) return;
    const isNew = this.#observed.epoch !== epoch;
    const changed = (storage: string) =>
      isNew || store.collection(storage).changesAfter(this.#observed.revision)?.length !== 0;
    const servicesChanged = changed(API_SERVICE_STORAGE);
    const addressesChanged = this.#services.remote().size > 0 && ADDRESS_STORAGES.some(changed);
    if (servicesChanged || this.#observed.registry !== registry.generation)
      registerCustomGroups(store, registry, clock);
    this.#observed = { revision: store.revision, epoch, registry: registry.generation };
    if (servicesChanged || addressesChanged) this.#follow();
  }

  #follow(): void {
    const names = new Set<string>();
    for (const remote of this.#services.remote().values()) {
      names.add(remote.name);
      let followed = this.#followed.get(remote.name);
      if (!followed) {
        followed = { failures: 0, checking: false, again: false };
        this.#followed.set(remote.name, followed);
      }
      void this.#check(remote.name, followed);
    }
    for (const [name, { timer }] of this.#followed) {
      if (names.has(name)) continue;
      timer?.cancel();
      this.#followed.delete(name);
    }
  }

  async #check(name: string, followed: Followed): Promise<void> {
    if (followed.checking) {
      followed.again = true;
      return;
    }
    followed.timer?.cancel();
    followed.checking = true;
    try {
      do {
        followed.again = false;
        await this.#checkOnce(name, followed);
      } while (followed.again && !this.#closed);
    } finally {
      followed.checking = false;
    }
    if (this.#closed || this.#followed.get(name) !== followed) return;
    const { clock } = this.#parts;
    const wait = followed.failures === 0 ? RECHECK : Math.min(RECHECK, FIRST_RETRY * 2 ** followed.failures);
    followed.timer = clock.after(wait, () => void this.#check(name, followed), {
      background: true,
      label: `availability of APIService ${name}`,
    });
  }

  async #checkOnce(name: string, followed: Followed): Promise<void> {
    const remote = this.#remoteNamed(name);
    if (!remote) return;
    const { store, clock, self } = this.#parts;
    const available = await checkAvailability({ store, clock, self, call: this.#call }, remote).catch(() => false);
    followed.failures = available ? 0 : followed.failures + 1;
    const before = followed.documents;
    const documents = available
      ? await fetchDocuments(this.#call, clock, store, remote)
      : { ...NO_DOCUMENTS, discovery: staleDiscovery(remote.version, before?.discovery) };
    if (JSON.stringify(before) === JSON.stringify(documents)) return;
    followed.documents = documents;
    this.#documentChanges++;
  }

  #remoteNamed(name: string): RemoteService | undefined {
    for (const remote of this.#services.remote().values()) if (remote.name === name) return remote;
    return undefined;
  }

  /** The groups of plain discovery, with those of others. */
  plainGroups(groups: readonly PlainGroup[]): PlainGroup[] {
    const foreign = this.#foreign(({ group, version }) => ({ groupVersion: `${group}/${version}`, version }));
    return mergeGroups(groups, foreign, this.#order, PLAIN_FORM);
  }

  /** The groups of aggregated discovery, with those of others. */
  discoveredGroups(groups: readonly DiscoveredGroup[]): DiscoveredGroup[] {
    const foreign = this.#foreign(
      ({ name, version }) => this.#followed.get(name)?.documents?.discovery ?? staleDiscovery(version),
    );
    return mergeGroups(groups, foreign, this.#order, DISCOVERED_FORM);
  }

  /** The addresses of others' OpenAPI 3 documents, by the name under which the index lists them. */
  openApi3(): Map<string, string> {
    const found = new Map<string, string>();
    for (const { name, group, version } of this.#services.remote().values()) {
      const url = this.#followed.get(name)?.documents?.openApi3;
      if (url) found.set(`apis/${group}/${version}`, url);
    }
    return found;
  }

  /** The parts of others' OpenAPI 2 documents that are about what they serve here. */
  openApi2(): SwaggerPart[] {
    const parts: SwaggerPart[] = [];
    for (const { name } of this.#services.remote().values()) {
      const part = this.#followed.get(name)?.documents?.openApi2;
      if (part) parts.push(part);
    }
    return parts;
  }

  #foreign<V>(form: (remote: RemoteService) => V): { group: string; version: V }[] {
    return [...this.#services.remote().values()]
      .filter(({ group }) => group !== "")
      .map((remote) => ({ group: remote.group, version: form(remote) }));
  }

  readonly #order: Order = {
    groupPriority: (group) => this.#services.groupPriority(group),
    compareVersions: (group, a, b) => byVersionPriority(this.#services.rank(group, a), this.#services.rank(group, b)),
  };

  close(): void {
    this.#closed = true;
    for (const { timer } of this.#followed.values()) timer?.cancel();
  }
}

const NO_DOCUMENTS = { openApi3: undefined, openApi2: undefined };
