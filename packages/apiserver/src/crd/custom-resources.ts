import { type AnyObject, type Clock, parseJson, timestamp } from "@konverge/core";
import type { Registry } from "../resources/registry.ts";
import type { Entry } from "../storage/collection.ts";
import type { Store } from "../storage/store.ts";
import { contentOf } from "../verbs/call.ts";
import { type CrdCondition, type CustomResourceDefinition, resourceOf } from "./definition.ts";

const GROUP = "apiextensions.k8s.io";
const PLURAL = "customresourcedefinitions";
const CRDS = `${GROUP}/${PLURAL}`;

/** Keeps the registry in step with the CRDs in the store. */
export class CustomResources {
  readonly #registry: Registry;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #served = new Map<string, { entry: Entry; group: string; plural: string }>();

  constructor(registry: Registry, store: Store, clock: Clock) {
    this.#registry = registry;
    this.#store = store;
    this.#clock = clock;
    this.sync();
  }

  /** A change of a CRD takes effect before whoever made it sees the answer. */
  sync(): void {
    const entries = [...this.#store.collection(CRDS).scan("")];
    for (const entry of entries) {
      if (this.#served.get(entry.key)?.entry !== entry) this.#serve(entry);
    }
    const names = new Set(entries.map(({ key }) => key));
    for (const [key, { group, plural }] of this.#served) {
      if (names.has(key)) continue;
      this.#registry.delete(group, plural);
      this.#served.delete(key);
    }
  }

  #serve(given: Entry): void {
    let entry = given;
    const crd = parseJson(entry.text) as CustomResourceDefinition;
    if (!crd.status?.conditions?.length) entry = this.#accept(crd);
    const { group, names } = crd.spec;
    this.#served.set(entry.key, { entry, group, plural: names.plural });
    this.#registry.set(resourceOf(crd, this.#store.revision, convertNames));
  }

  #accept(crd: CustomResourceDefinition): Entry {
    const lastTransitionTime = timestamp(this.#clock);
    const condition = (type: string, reason: string, message: string): CrdCondition => ({
      type,
      status: "True",
      lastTransitionTime,
      reason,
      message,
    });
    crd.status = {
      conditions: [
        condition("NamesAccepted", "NoConflicts", "no conflicts found"),
        condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
      ],
      acceptedNames: crd.spec.names,
      storedVersions: [crd.spec.versions.find((version) => version.storage)!.name],
    };
    return this.#store.put(CRDS, crd.metadata.name, contentOf(this.#registry.get(GROUP, PLURAL)!, crd));
  }
}

/** Conversion by strategy None: the name of the version is all that changes. */
function convertNames(objects: readonly AnyObject[], apiVersion: string): AnyObject[] {
  return objects.map((object) => ({ ...object, apiVersion }));
}
