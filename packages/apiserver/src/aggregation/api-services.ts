import { parseJson } from "@konverge/core";
import type { APIService } from "@konverge/kinds";
import { compareVersions } from "../resources/version-order.ts";
import type { Entry } from "../storage/entry.ts";
import type { Store } from "../storage/store.ts";

export const API_SERVICES = { group: "apiregistration.k8s.io", version: "v1", plural: "apiservices" };
export const API_SERVICE_STORAGE = `${API_SERVICES.group}/${API_SERVICES.plural}`;

/** A version of a group that another server serves. */
export interface RemoteService {
  readonly name: string;
  readonly uid: string;
  readonly group: string;
  readonly version: string;
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number };
  readonly caBundle?: string;
  readonly insecureSkipTLSVerify: boolean;
  /** Its condition says that it can be used. */
  readonly available: boolean;
  readonly condition: { readonly status: string; readonly reason?: string; readonly message?: string } | undefined;
}

/** The APIServices in the store, read once for each of their states. */
export class ApiServices {
  readonly #store: Store;
  readonly #read = new WeakMap<Entry, APIService>();
  #revision = -1;
  #epoch = -1;
  #remote: ReadonlyMap<string, RemoteService> = new Map();
  #priorities: ReadonlyMap<string, number> = new Map();
  #versionPriorities: ReadonlyMap<string, number> = new Map();
  #changes = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Counts how often they have been read again. */
  get changes(): number {
    this.#refresh();
    return this.#changes;
  }

  /** Those that name a service, by `group/version`. */
  remote(): ReadonlyMap<string, RemoteService> {
    this.#refresh();
    return this.#remote;
  }

  /** How early a group comes in lists; the highest of what its versions ask for. */
  groupPriority(group: string): number {
    this.#refresh();
    return this.#priorities.get(group) ?? 0;
  }

  /** A version of a group with the priority that its object gives it. */
  rank(group: string, version: string): { version: string; versionPriority: number } {
    this.#refresh();
    return { version, versionPriority: this.#versionPriorities.get(`${group}/${version}`) ?? 0 };
  }

  #refresh(): void {
    const { epoch, revision } = this.#store;
    const collection = this.#store.collection(API_SERVICE_STORAGE);
    if (this.#epoch === epoch && collection.changesAfter(this.#revision)?.length === 0) return;
    this.#epoch = epoch;
    this.#revision = revision;
    this.#changes++;
    const remote = new Map<string, RemoteService>();
    const priorities = new Map<string, number>();
    const versionPriorities = new Map<string, number>();
    for (const entry of collection.scan("")) {
      const object = this.#objectOf(entry);
      const { group = "", version = "", groupPriorityMinimum, versionPriority } = object.spec ?? {};
      priorities.set(group, Math.max(priorities.get(group) ?? 0, groupPriorityMinimum ?? 0));
      versionPriorities.set(`${group}/${version}`, versionPriority ?? 0);
      const one = remoteOf(object);
      if (one) remote.set(`${group}/${version}`, one);
    }
    this.#remote = remote;
    this.#priorities = priorities;
    this.#versionPriorities = versionPriorities;
  }

  #objectOf(entry: Entry): APIService {
    let object = this.#read.get(entry);
    if (!object) {
      object = parseJson(entry.text) as APIService;
      this.#read.set(entry, object);
    }
    return object;
  }
}

function remoteOf({ metadata, spec, status }: APIService): RemoteService | undefined {
  const { name: serviceName, namespace, port = 443 } = spec?.service ?? {};
  if (!spec?.service || !serviceName || !namespace) return undefined;
  const condition = status?.conditions?.find(({ type }) => type === "Available");
  return {
    name: metadata?.name ?? "",
    uid: metadata?.uid ?? "",
    group: spec.group ?? "",
    version: spec.version ?? "",
    service: { namespace, name: serviceName, port },
    ...(spec.caBundle && { caBundle: spec.caBundle }),
    insecureSkipTLSVerify: spec.insecureSkipTLSVerify ?? false,
    available: condition?.status === "True",
    condition,
  };
}

/** The order of a group's versions: as their priorities say, then as Kubernetes ranks version names. */
export function byVersionPriority(
  a: { readonly version: string; readonly versionPriority: number },
  b: { readonly version: string; readonly versionPriority: number },
): number {
  return b.versionPriority - a.versionPriority || compareVersions(a.version, b.version);
}
