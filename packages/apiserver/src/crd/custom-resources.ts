/**
 * Custom resources: what a CustomResourceDefinition makes of the server.
 *
 * A CRD is an object like any other, stored by the ordinary verbs under a separate strategy ({@link crdStrategy}), which
 * judges it: names, versions, structural schemas, rules in CEL and their cost, conversion. {@link CustomResources} follows
 * the stored ones. It grants names (the first to ask has them), says in conditions what it did, puts a resource definition
 * for each into the registry and takes it out again; deletion waits until the instances are deleted.
 *
 * From then on instances are served by the same verbs as built-in kinds. What differs is in their codec (pruned by the
 * schema, keys by the alphabet), in their strategy (judged by the schema and its rules, leniently where an update leaves
 * alone what was wrong before) and in conversion, which asks a webhook where the CRD names one.
 *
 * Promises: what follows from a write to a CRD has happened when its answer goes out, so that the next request finds the
 * resource; objects stored under an older schema are read by today's; a webhook cannot change an object's identity.
 */
import { deepEqual, isNotFound, parseJson, resourcePath } from "@konverge/core";
import type { Call, Services } from "../call/call.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import { PLAIN } from "../http/form.ts";
import { requestInfo } from "../http/request-info.ts";
import type { ResourceDefinition, ResourceVersion } from "../resources/definition.ts";
import type { Entry } from "../storage/entry.ts";
import { deleteObject } from "../verbs/delete.ts";
import { updateObject } from "../verbs/update.ts";
import type { CallWebhook } from "../webhook-call.ts";
import { approvalOf } from "./approval.ts";
import { conditionOf, isTrueOf, setCondition } from "./conditions.ts";
import { conversionFor } from "./conversion.ts";
import type { CustomResourceDefinition } from "./custom-resource-definition.ts";
import { resourceOf, storageVersionOf } from "./definition.ts";
import { grantNames, hasItsNames, usedNames } from "./names.ts";
import { CLEANUP_FINALIZER } from "./strategy.ts";

const CRDS = { group: "apiextensions.k8s.io", version: "v1", plural: "customresourcedefinitions" };
const STORAGE = `${CRDS.group}/${CRDS.plural}`;
/** What a real server calls itself when it writes to itself. */
const SELF = { name: "system:apiserver", groups: ["system:masters", "system:authenticated"] };

const CONFORMANT = "KubernetesAPIApprovalPolicyConformant";

/** Milliseconds after which instances that could not be deleted with their CRD are tried again. */
const DELETION_RETRY = 5_000;

/** What is served of a CRD, and of which of its states. */
interface Served {
  readonly entry: Entry;
  readonly definition: ResourceDefinition;
}

/**
 * Follows the CRDs in the store: grants them their names, serves what they define, and takes it away again.
 *
 * Guarantees: when the response to a write of a CRD is sent, the CRD is in effect. The writes that this takes (conditions,
 * granted names) come after the write itself, as from the controllers of a real server, and watchers see each of them.
 */
export class CustomResources {
  readonly #services: Services;
  readonly #callWebhook: CallWebhook;
  readonly #served = new Map<string, Served>();
  readonly #terminating = new Set<string>();
  #observed = -1;
  #epoch = -1;
  #work: Promise<void> = Promise.resolve();

  constructor(services: Services, callWebhook: CallWebhook) {
    this.#services = services;
    this.#callWebhook = callWebhook;
    for (const entry of this.#entries()) this.#serve(entry, crdOf(entry));
  }

  /** Resolves when all that has been written to CRDs is in effect. Costs next to nothing when there is nothing to do. */
  async settle(): Promise<void> {
    if (!this.#isBehind()) return;
    const work = this.#work.then(() => this.#reconcile());
    this.#work = work.catch(() => {});
    await work;
  }

  #isBehind(): boolean {
    const { store } = this.#services;
    if (this.#epoch !== store.epoch) return true;
    if (store.collection(STORAGE).changesAfter(this.#observed)?.length !== 0) return true;
    for (const name of this.#terminating) if (this.#instancesOf(name) === 0) return true;
    return false;
  }

  async #reconcile(): Promise<void> {
    const { store } = this.#services;
    while (this.#isBehind()) {
      this.#epoch = store.epoch;
      this.#observed = store.revision;
      const entries = this.#entries();
      for (const entry of entries) await this.#follow(entry);
      const names = new Set(entries.map(({ key }) => key));
      for (const name of this.#served.keys()) if (!names.has(name)) this.#withdraw(name);
    }
  }

  #entries(): Entry[] {
    return [...this.#services.store.collection(STORAGE).scan("")];
  }

  async #follow(entry: Entry): Promise<void> {
    const crd = crdOf(entry);
    if (await this.#approve(crd)) return;
    if (await this.#name(crd)) return;
    this.#serve(entry, crd);
    if (await this.#establish(crd)) return;
    await this.#finalize(crd);
  }

  /** Says of a CRD in one of Kubernetes' own groups whether it may be there; true when that changed it. */
  async #approve(crd: CustomResourceDefinition): Promise<boolean> {
    const approval = approvalOf(crd);
    if (!approval) return false;
    const { status, reason, message } = approval;
    const before = conditionOf(crd, CONFORMANT);
    if (before?.status === status && before.reason === reason && before.message === message) return false;
    setCondition(crd, this.#services.clock, [CONFORMANT, status, reason, message]);
    await this.#updateStatus(crd);
    return true;
  }

  /** Grants names; true when that changed the CRD. */
  async #name(crd: CustomResourceDefinition): Promise<boolean> {
    if (hasItsNames(crd)) return false;
    const others = this.#entries()
      .filter(({ key }) => key !== crd.metadata.name)
      .map(crdOf);
    const { accepted, conflict } = grantNames(crd, usedNames(others, crd.spec.group));
    const condition = conditionOf(crd, "NamesAccepted");
    const reason = conflict?.reason ?? "NoConflicts";
    if (condition?.reason === reason && deepEqual(accepted, crd.status.acceptedNames)) return false;
    crd.status.acceptedNames = accepted;
    const { clock } = this.#services;
    const message = conflict?.message ?? "no conflicts found";
    setCondition(crd, clock, ["NamesAccepted", conflict ? "False" : "True", reason, message]);
    if (!isTrueOf(crd, "Established")) {
      if (!conflict) {
        setCondition(crd, clock, ["Established", "False", "Installing", "the initial names have been accepted"]);
      } else if (!conditionOf(crd, "Established")) {
        setCondition(crd, clock, ["Established", "False", "NotAccepted", "not all names are accepted"]);
      }
    }
    await this.#updateStatus(crd);
    return true;
  }

  async #establish(crd: CustomResourceDefinition): Promise<boolean> {
    if (!isTrueOf(crd, "NamesAccepted") || isTrueOf(crd, "Established")) return false;
    const message = "the initial names have been accepted";
    setCondition(crd, this.#services.clock, ["Established", "True", "InitialNamesAccepted", message]);
    await this.#updateStatus(crd);
    return true;
  }

  /** Deletes the instances of a CRD that is being deleted, and releases it after the last. */
  async #finalize(crd: CustomResourceDefinition): Promise<void> {
    const { name, deletionTimestamp, finalizers = [] } = crd.metadata;
    if (deletionTimestamp === undefined || !finalizers.includes(CLEANUP_FINALIZER)) {
      this.#terminating.delete(name);
      return;
    }
    const { clock } = this.#services;
    const isEstablished = isTrueOf(crd, "Established");
    if (conditionOf(crd, "Terminating")?.reason === "InstanceDeletionPending") {
      const message = "CustomResource deletion is in progress";
      setCondition(crd, clock, ["Terminating", "True", "InstanceDeletionInProgress", message]);
      await this.#updateStatus(crd);
      if (isEstablished && crd.spec.conversion?.strategy === "Webhook") this.#deleteBeside(name);
      else if (isEstablished) await this.#deleteInstances(name);
      this.#terminating.add(name);
      return;
    }
    this.#terminating.add(name);
    if (isEstablished && this.#instancesOf(name) > 0) return;
    setCondition(
      crd,
      clock,
      isEstablished
        ? ["Terminating", "False", "InstanceDeletionCompleted", "removed all instances"]
        : ["Terminating", "False", "NeverEstablished", "resource was never established"],
    );
    crd.metadata.finalizers = finalizers.filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
    await this.#updateStatus(crd);
    this.#terminating.delete(name);
  }

  #instancesOf(name: string): number {
    const served = this.#served.get(name);
    return served ? this.#services.store.collection(served.definition.storage).size : 0;
  }

  /** Deletes instances of which a webhook may have to convert older ones: in the background, retried until it succeeds. */
  #deleteBeside(crdName: string): void {
    const again = () => {
      const { clock } = this.#services;
      clock.after(DELETION_RETRY, () => this.#deleteBeside(crdName), { label: "instances of CRDs", background: true });
    };
    this.#deleteInstances(crdName)
      .then(() => this.settle())
      .catch(again);
  }

  async #deleteInstances(crdName: string): Promise<void> {
    const served = this.#served.get(crdName);
    if (!served) return;
    const { definition, entry } = served;
    // As they are stored, they need no conversion: the webhook may no longer be there, and the version need not be served.
    const version = storageVersionOf(crdOf(entry));
    for (const { key } of [...this.#services.store.collection(definition.storage).scan("")]) {
      const slash = key.indexOf("/");
      const place = { namespace: slash < 0 ? "" : key.slice(0, slash), name: key.slice(slash + 1) };
      const path = resourcePath({ ...definition, version: version.version }, place);
      const call = { ...this.#call("DELETE", path, definition, version), admission: UNASKED };
      await deleteObject(call, {}).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    }
  }

  async #updateStatus(crd: CustomResourceDefinition): Promise<void> {
    const path = resourcePath(CRDS, { name: crd.metadata.name, subresource: "status" });
    const definition = this.#services.registry.get(CRDS.group, CRDS.plural)!;
    try {
      await updateObject(this.#call("PUT", path, definition, definition.versions.get(CRDS.version)!), () => crd);
    } catch (error) {
      // It was written or deleted meanwhile: the next round reads the current state.
      if (!isNotFound(error) && (error as { reason?: string }).reason !== "Conflict") throw error;
    }
  }

  /** A request that the server makes to itself. */
  #call(method: string, path: string, definition: ResourceDefinition, version: ResourceVersion): Call {
    const request = { method, path, headers: { "user-agent": "kube-apiserver/v1" } };
    return {
      ...this.#services,
      request,
      info: requestInfo(request),
      definition,
      version,
      user: SELF,
      form: PLAIN,
      dryRun: false,
      warn: () => {},
    };
  }

  #serve(entry: Entry, crd: CustomResourceDefinition): void {
    const { name } = crd.metadata;
    const before = this.#served.get(name);
    if (before?.entry === entry) return;
    if (!isTrueOf(crd, "NamesAccepted") && !isTrueOf(crd, "Established")) {
      this.#withdraw(name);
      return;
    }
    const { registry, store, clock } = this.#services;
    const terminating = isTrueOf(crd, "Terminating");
    const serves = before && servesSame(before.entry, crd) ? before.definition : undefined;
    const conversion = conversionFor(crd, clock, this.#callWebhook);
    const definition =
      serves?.terminating === terminating
        ? serves
        : { ...(serves ?? resourceOf(crd, store.revision, conversion)), terminating };
    this.#served.set(name, { entry, definition });
    // Watchers get an event for each object that is deleted with its definition.
    if (definition !== serves) registry.set(definition, { keepWatches: serves !== undefined });
  }

  #withdraw(name: string): void {
    const served = this.#served.get(name);
    if (!served) return;
    this.#services.registry.delete(served.definition.group, served.definition.plural);
    this.#served.delete(name);
    this.#terminating.delete(name);
  }
}

/** Admission has no say in what the server does to clean up. */
const UNASKED: Services["admission"] = {
  mutate: async (_call, object) => object,
  validate: async () => {},
};

function crdOf(entry: Entry): CustomResourceDefinition {
  return parseJson(entry.text) as CustomResourceDefinition;
}

function servesSame(entry: Entry, crd: CustomResourceDefinition): boolean {
  const before: WorkingObject = crdOf(entry);
  return (
    deepEqual(before["spec"], crd.spec) &&
    deepEqual((before as CustomResourceDefinition).status.acceptedNames, crd.status.acceptedNames)
  );
}
