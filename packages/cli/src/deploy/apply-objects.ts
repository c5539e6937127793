import type { Client } from "@konverge/client";
import { isNotFound, type KindRef, type KubeObject } from "@konverge/core";
import { clearingUrls } from "./webhook-address.ts";

/** Who owns the fields that installations set. It is not the operators' own manager: they may add to what is installed. */
export const INSTALLER = "konverge-install";

export interface ApplyOptions {
  /** Ask the server what would happen, and change nothing. */
  readonly dryRun?: boolean;
  /** Called with the result for each object, and with anything else that is worth knowing. */
  tell(text: string, change?: ObjectChange): void;
}

/** What became of an object. */
export interface ObjectChange {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly change: "created" | "configured" | "unchanged" | "deleted";
}

/** Applies objects one after the other; the order is the caller's. */
export async function applyObjects(client: Client, objects: readonly KubeObject[], options: ApplyOptions) {
  for (const object of objects) {
    const kind = await kindOf(client, object);
    const { name, namespace } = object.metadata;
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    const before = await maybe(client, kind, key);
    const after = await client
      .apply(kind, clearingUrls(object, before) as never, {
        fieldManager: INSTALLER,
        force: true,
        dryRun: options.dryRun ?? false,
      })
      .catch((error: unknown) => {
        // In a dry run the namespace that the rest would be in does not exist.
        if (options.dryRun && isNotFound(error)) return undefined;
        throw error;
      });
    const change = !before ? "created" : unchanged(before, after) ? "unchanged" : "configured";
    options.tell(`${nameOf(kind, name)} ${change}${options.dryRun ? " (dry run)" : ""}`, changeOf(object, change));
  }
}

/** Deletes objects that may be gone already. */
export async function deleteObjects(client: Client, objects: readonly KubeObject[], options: ApplyOptions) {
  for (const object of objects) {
    const kind = await kindOf(client, object);
    const { name, namespace } = object.metadata;
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    if (!(await maybe(client, kind, key))) continue;
    await client.delete(kind, key, { dryRun: options.dryRun ?? false }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    options.tell(`${nameOf(kind, name)} deleted${options.dryRun ? " (dry run)" : ""}`, changeOf(object, "deleted"));
  }
}

export function changeOf(object: KubeObject, change: ObjectChange["change"]): ObjectChange {
  const { apiVersion = "", kind = "", metadata } = object;
  const { name, namespace } = metadata;
  return { apiVersion, kind, ...(namespace !== undefined && { namespace }), name, change };
}

export async function maybe(client: Client, kind: KindRef<KubeObject>, key: string): Promise<KubeObject | undefined> {
  return client.get(kind, key).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

function kindOf(client: Client, { apiVersion = "", kind = "" }: KubeObject): Promise<KindRef<KubeObject>> {
  return client.mapper.resolve({ apiVersion, kind });
}

/** As kubectl names it: `deployment.apps/web`. */
function nameOf({ kind, group }: KindRef<KubeObject>, name: string): string {
  return `${kind.toLowerCase()}${group ? `.${group}` : ""}/${name}`;
}

/** A dry run answers with the version that is stored, so what is in the object decides. */
function unchanged(before: KubeObject, after: KubeObject | undefined): boolean {
  return after !== undefined && content(before) === content(after);
}

function content({ metadata, ...rest }: KubeObject): string {
  const { managedFields: _, resourceVersion: _v, generation: _g, ...kept } = metadata;
  return JSON.stringify({ kept, ...rest });
}
