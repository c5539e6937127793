import { isAlreadyExists, isNotFound, type KindRef, type KubeObject } from "@konverge/core";
import { ConfigMap, type PersistentVolumeClaim } from "@konverge/kinds";
import type { TestEnvironment } from "@konverge/testing";
import { App } from "./app.ts";
import type { Reconciliation } from "./reconciler.ts";

type Context = Pick<Reconciliation, "client" | "namespace">;

/** Runs a write; that the object exists already, or not any more, is fine. */
export async function tolerant(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isAlreadyExists(error) && !isNotFound(error)) throw error;
  }
}

/** Reports in the status of an App what is true of it. */
export async function setStatus(
  { client, namespace }: Context,
  app: App,
  status: NonNullable<App["status"]>,
): Promise<void> {
  const isSame = Object.entries(status).every(([name, value]) => app.status?.[name as keyof typeof status] === value);
  if (isSame) return;
  await client.patchStatus(App, `${namespace}/${app.metadata.name}`, { merge: { status } });
}

/** A ConfigMap of an App. */
export function configMap(app: App, name: string, data: Record<string, string>, more: object = {}) {
  return {
    metadata: { name, namespace: app.metadata.namespace, ...labelsOf(app), ...more },
    data,
  } as unknown as ConfigMap;
}

/** A volume claim of an App. */
export function claim(app: App, name: string, more: object = {}) {
  return {
    metadata: { name, namespace: app.metadata.namespace, ...labelsOf(app), ...more },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  } as unknown as PersistentVolumeClaim;
}

/** The metadata with which an App controls an object. */
export function ownedBy(app: App): object {
  const { name, uid } = app.metadata;
  return {
    ownerReferences: [
      { apiVersion: "example.com/v1", kind: "App", name, uid, controller: true, blockOwnerDeletion: true },
    ],
  };
}

function labelsOf({ metadata: { name } }: App) {
  return { labels: { app: name } };
}

/** Waits until the status of an App has this phase. */
export function reaches(environment: TestEnvironment, name: string, phase: string): Promise<void> {
  return environment.until(`${name} is ${phase}`, async () => {
    const found = await environment.find(App, name);
    return found?.status?.phase === phase;
  });
}

/** Waits until an object does not exist any more. */
export function untilDeleted(environment: TestEnvironment, kind: KindRef<KubeObject>, name: string): Promise<void> {
  return environment.until(`${kind.kind} ${name} is deleted`, async () => !(await environment.find(kind, name)));
}

/** Changes the spec of an App, as a user does. */
export async function changeSpec(
  environment: TestEnvironment,
  name: string,
  spec: Partial<App["spec"]>,
): Promise<void> {
  await environment.client.patch(App, `${environment.namespace}/${name}`, { merge: { spec } });
}

export async function removeApp(environment: TestEnvironment, name: string): Promise<void> {
  await environment.client.delete(App, `${environment.namespace}/${name}`);
}

/** Applies a ConfigMap. */
export async function applyMap({ client }: Context, draft: ConfigMap): Promise<void> {
  const object = { ...draft, apiVersion: "v1", kind: "ConfigMap" };
  await client.apply(ConfigMap, object as never, { fieldManager: "app-operator", force: true });
}
