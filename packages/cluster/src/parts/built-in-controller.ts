import { isConflict, type KindRef, type KubeObject, keyOf, type ObjectKey } from "@konverge/core";
import { type Controller, type ControllerOptions, controller, ExternalError } from "@konverge/runtime";

/** The waits after a failure, in milliseconds: they double. */
const WAIT = { initial: 5, longest: 1_000_000 };

/**
 * A controller that behaves as one of kube-controller-manager: it reports by itself, in the status and events that
 * Kubernetes knows, so the framework adds neither conditions nor events of its own; what fails is tried again after
 * waits as short as there.
 */
export function builtInController<T extends KubeObject>(kind: KindRef<T>, options: ControllerOptions<T>): Controller {
  const failures = new Map<ObjectKey, number>();
  const guarded =
    <R>(work: (object: T, ...rest: never[]) => R | Promise<R>) =>
    async (object: T, ...rest: unknown[]): Promise<R> => {
      const key = keyOf(object);
      try {
        const result = await work(object, ...(rest as never[]));
        failures.delete(key);
        return result;
      } catch (error) {
        if (isConflict(error) || error instanceof ExternalError) throw error;
        const count = failures.get(key) ?? 0;
        failures.set(key, count + 1);
        const after = Math.min(WAIT.initial * 2 ** Math.min(count, 30), WAIT.longest);
        const message = error instanceof Error ? error.message : String(error);
        throw new ExternalError("SyncFailed", message, { requeueAfter: after, cause: error });
      }
    };
  const { reconcile, cleanup } = options;
  return controller(unreported(kind), {
    ...options,
    logErrorsOnly: true,
    reconcile: guarded(reconcile.bind(options) as never),
    ...(cleanup && { cleanup: guarded(cleanup.bind(options) as never) }),
  } as ControllerOptions<T>);
}

/** The kind without what the framework would report by itself: it does so where a kind's schema has room for it. */
function unreported<T extends KubeObject>(kind: KindRef<T>): KindRef<T> {
  return { ...kind, schema: { type: "object" } } as KindRef<T>;
}
