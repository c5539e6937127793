import { deepEqual, isNotFound } from "@konverge/core";
import { Namespace } from "@konverge/kinds";
import { KeyWorker } from "../../parts/key-worker.ts";
import type { ComponentContext, ControlPlaneComponent } from "../../parts/part.ts";
import { deletionConditions } from "./conditions.ts";
import { deleteContents } from "./contents.ts";

const FINALIZER = "kubernetes";

/**
 * Empties namespaces that are being deleted, and lets them go when nothing is left. What remains, and what holds it, is
 * reported in the conditions.
 */
class NamespaceController {
  readonly #context: ComponentContext;
  readonly #worker: KeyWorker;

  constructor(context: ComponentContext) {
    const { clock, log } = context;
    this.#context = context;
    this.#worker = new KeyWorker({ clock, log, name: "namespace-controller", work: (name) => this.#empty(name) });
    context.cache.use(Namespace).subscribe(({ type, object }) => {
      if (type !== "deleted" && object.metadata.deletionTimestamp) this.#worker.add(object.metadata.name);
    });
  }

  async stop(): Promise<void> {
    await this.#worker.stop();
  }

  /** Returns the milliseconds after which to retry. */
  async #empty(name: string): Promise<number | undefined> {
    const { client, kinds, clock } = this.#context;
    let namespace = await client.get(Namespace, name).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (!namespace?.metadata.deletionTimestamp || !namespace.spec?.finalizers?.includes(FINALIZER)) return undefined;
    if (namespace.status?.phase !== "Terminating") {
      // Direct writes: the phases of a deletion are stored one after the other, and the finalizer is not in the
      // metadata.
      namespace = await client.updateStatus(Namespace, {
        ...namespace,
        status: { ...namespace.status, phase: "Terminating" },
      });
    }
    const remains = await deleteContents(client, kinds.all(), name);
    const known = namespace.status?.conditions ?? [];
    const conditions = deletionConditions(known, remains, clock);
    if (!deepEqual(known, conditions)) {
      const status = { ...namespace.status, phase: "Terminating" as const, conditions };
      namespace = await client.updateStatus(Namespace, { ...namespace, status });
    }
    if (remains.errors.length > 0) throw new Error(remains.errors.join("; "));
    if (remains.resources.size > 0) return (Math.floor(remains.estimate / 2) + 1) * 1000;
    const finalizers = (namespace.spec?.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
    const { uid, resourceVersion } = namespace.metadata;
    await client.update(
      Namespace,
      { ...namespace, metadata: { ...namespace.metadata, uid, resourceVersion }, spec: { finalizers } },
      { subresource: "finalize" },
    );
    return undefined;
  }
}

/** Empties namespaces that are being deleted. */
export const namespaces: ControlPlaneComponent = {
  name: "namespace-controller",
  startsWith: [Namespace],
  start: async (context) => new NamespaceController(context),
};
