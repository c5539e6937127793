import type { AnyObject } from "konverge";

/** Without random values: a recreated Secret has other passwords. */
export function withoutPasswords(object: AnyObject): AnyObject {
  if (object.kind !== "Secret") return object;
  const { data = {} } = object as AnyObject & { data?: Record<string, string> };
  return { ...object, data: Object.fromEntries(Object.keys(data).map((key) => [key, ""])) } as AnyObject;
}

/** Jobs carry their own uid in labels. */
export function backupMask(object: AnyObject): AnyObject {
  const text = JSON.stringify(withoutPasswords(object));
  return JSON.parse(text.replaceAll(/"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"/g, '"uid"')) as AnyObject;
}

/** Volumes outlive their database: data and backups. */
export const isKept = ({ kind }: AnyObject) => kind === "PersistentVolumeClaim";

/** The same, and all that is the database's whose backup it is. */
export const isOfDatabase = ({ metadata }: AnyObject) => metadata.name.includes("postgres-ledger");

/** Claims grow and never shrink, and users may set the passwords of a Secret. */
export const isOthers = (object: AnyObject, field?: string) =>
  object.kind === "PersistentVolumeClaim" || (object.kind === "Secret" && (field ?? "").startsWith("/data"));
