import { type Clock, deepCopy, deepEqual, keyOf } from "@konverge/core";
import { putSystemObject, type SystemObject } from "../aggregation/system-objects.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import type { Registry } from "../resources/registry.ts";
import { objectOf } from "../resources/stored-object.ts";
import type { Entry } from "../storage/entry.ts";
import type { Store } from "../storage/store.ts";
import facts from "./objects.json" with { type: "json" };

/** Where a server says that it is, to those inside the cluster. */
export interface AdvertisedAddress {
  readonly ip: string;
  readonly port: number;
}

const NAME = "kubernetes";
const NAMESPACE = "default";
const KEY = `${NAMESPACE}/${NAME}`;

/**
 * Says in the cluster where its API server is: the Service `kubernetes`, and the Endpoints and the EndpointSlice behind it.
 * They are restored when they are deleted, and the endpoints also when another client changes their addresses.
 */
export class OwnService {
  readonly #store: Store;
  readonly #registry: Registry;
  readonly #clock: Clock;
  /** What was found to be right, by collection: it need not be read again. */
  readonly #checked = new Map<string, Entry>();
  #address: AdvertisedAddress | undefined;
  #unfollow: (() => void)[] = [];
  #posted = false;

  constructor(store: Store, registry: Registry, clock: Clock) {
    this.#store = store;
    this.#registry = registry;
    this.#clock = clock;
  }

  /** Where the server is from now on. */
  advertise(address: AdvertisedAddress): void {
    this.#address = address;
    this.#checked.clear();
    this.#repair();
    if (this.#unfollow.length > 0) return;
    const resources = this.#objects(address).map(({ group, plural }) => this.#registry.get(group, plural)!.storage);
    this.#unfollow = resources.map((resource) => this.#store.onChange(resource, () => this.#check(resource)));
  }

  close(): void {
    for (const unfollow of this.#unfollow) unfollow();
    this.#unfollow = [];
    this.#address = undefined;
  }

  /** Another write has just been published: what it undid is repaired after it is answered. */
  #check(resource: string): void {
    const checked = this.#checked.get(resource);
    if (this.#posted || (checked && this.#store.collection(resource).get(KEY) === checked)) return;
    this.#posted = true;
    this.#clock.post(() => {
      this.#posted = false;
      this.#repair();
    }, "the Service kubernetes");
  }

  #repair(): void {
    if (!this.#address) return;
    for (const made of this.#objects(this.#address)) {
      const { storage } = this.#registry.get(made.group, made.plural)!;
      const known = this.#store.collection(storage).get(made.key);
      const repaired = !known ? made : isSame(objectOf(known), made) ? undefined : corrected(objectOf(known), made);
      if (repaired) putSystemObject(this.#store, this.#registry, this.#clock, repaired);
      if (made.key === KEY) this.#checked.set(storage, this.#store.collection(storage).get(KEY)!);
    }
  }

  #objects(address: AdvertisedAddress): SystemObject[] {
    return [...ownService(address), ...ownEndpoints(address)];
  }
}

/** The fields that have to be right, by kind; of others it is enough that they are there. */
const KEPT: Readonly<Record<string, readonly string[]>> = {
  Endpoints: ["subsets"],
  EndpointSlice: ["endpoints", "ports"],
};

function isSame(known: WorkingObject, { object }: SystemObject): boolean {
  if (object.kind === "Service") return targetPort(known) === targetPort(object);
  return (KEPT[object.kind ?? ""] ?? []).every((field) => deepEqual(known[field], object[field]));
}

/** A Service keeps what users have added to it. */
function corrected(known: WorkingObject, made: SystemObject): SystemObject {
  if (made.object.kind !== "Service") return made;
  const { ports } = made.object["spec"] as { ports: unknown };
  return { ...made, object: { ...known, spec: { ...(known["spec"] as object), ports } } };
}

function targetPort(service: WorkingObject): unknown {
  const { ports = [] } = (service["spec"] ?? {}) as { ports?: { name?: string; targetPort?: unknown }[] };
  return ports.find(({ name }) => name === "https")?.targetPort;
}

/** The Service and its address, as every cluster begins with. */
function ownService({ port }: AdvertisedAddress): SystemObject[] {
  const made = (group: string, plural: string): SystemObject => {
    const [fact] = (facts as unknown as Record<string, WorkingObject[]>)[`${group}/${plural}`]!;
    const object = deepCopy(fact!);
    const fields = object.metadata.managedFields?.[0]?.fieldsV1 ?? {};
    return { group, plural, key: keyOf(object), object, fields };
  };
  const service = made("", "services");
  (service.object["spec"] as { ports: { targetPort: number }[] }).ports[0]!.targetPort = port;
  return [made("networking.k8s.io", "ipaddresses"), service];
}

function ownEndpoints({ ip, port }: AdvertisedAddress): SystemObject[] {
  const ports = [{ name: "https", port, protocol: "TCP" }];
  const metadata = (labels: Record<string, string>) => ({ name: NAME, namespace: NAMESPACE, labels });
  const labelled = (label: string) => ({ "f:labels": { ".": {}, [`f:${label}`]: {} } });
  const [unmirrored, service] = ["endpointslice.kubernetes.io/skip-mirror", "kubernetes.io/service-name"];
  return [
    {
      group: "",
      plural: "endpoints",
      key: KEY,
      object: {
        kind: "Endpoints",
        apiVersion: "v1",
        metadata: metadata({ [unmirrored]: "true" }),
        subsets: [{ addresses: [{ ip }], ports }],
      } as WorkingObject,
      fields: { "f:metadata": labelled(unmirrored), "f:subsets": {} },
    },
    {
      group: "discovery.k8s.io",
      plural: "endpointslices",
      key: KEY,
      object: {
        kind: "EndpointSlice",
        apiVersion: "discovery.k8s.io/v1",
        metadata: { ...metadata({ [service]: NAME }), generation: 1 },
        addressType: ip.includes(":") ? "IPv6" : "IPv4",
        endpoints: [{ addresses: [ip], conditions: { ready: true } }],
        ports,
      } as WorkingObject,
      fields: { "f:addressType": {}, "f:endpoints": {}, "f:metadata": labelled(service), "f:ports": {} },
    },
  ];
}
