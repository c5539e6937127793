import type { ManagedFieldsEntry } from "@konverge/core";
import { decodeFieldSet, orderedSet } from "./decode-fields.ts";
import type { FieldSet } from "./field-set.ts";
import { compareText } from "./path-element.ts";

/** What one manager owns, and in which version of the kind its fields are named. */
export interface OwnedFields {
  readonly manager: string;
  readonly subresource?: string | undefined;
  readonly set: FieldSet;
  readonly apiVersion: string;
  /** Owned by applying rather than by updating. */
  readonly applied: boolean;
  /** When it last changed something; undefined if it never did. */
  readonly time?: string | undefined;
}

/** Who owns what: by {@link managerId}. */
export type Managers = Map<string, OwnedFields>;

/** A field manager. An updater is a different one for each version; an applier is the same in all. */
export interface ManagerInfo {
  manager: string;
  operation: "Apply" | "Update";
  apiVersion: string;
  subresource?: string | undefined;
}

/** The name under which a manager's fields are kept. It sorts as the API server's own does. */
export function managerId({ manager, operation, apiVersion, subresource }: ManagerInfo): string {
  const name = manager === "" ? "" : `"manager":${jsonText(manager)},`;
  const version = operation === "Update" ? `,"apiVersion":${jsonText(apiVersion)}` : "";
  const part = subresource ? `,"subresource":${jsonText(subresource)}` : "";
  return `{${name}"operation":"${operation}"${version}${part}}`;
}

/** A text as JSON. Nearly all that come here have nothing in them to be escaped. */
function jsonText(text: string): string {
  return /^[\w ./:-]*$/.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** What {@link managerId} was made of; the version is missing for appliers. */
export function managerInfo(id: string): ManagerInfo {
  return { manager: "", apiVersion: "", ...(JSON.parse(id) as Partial<ManagerInfo>) } as ManagerInfo;
}

/** Reads an object's managedFields. Throws, with the API server's words, when they make no sense. */
export function decodeManagers(entries: readonly ManagedFieldsEntry[] | undefined | null): Managers {
  const managers: Managers = new Map();
  (entries ?? []).forEach((entry, index) => {
    const { operation, apiVersion, fieldsType } = entry;
    if (operation !== "Apply" && operation !== "Update") throw new Error("operation must be `Apply` or `Update`");
    if (!apiVersion) throw new Error("apiVersion must not be empty");
    if (!fieldsType) throw new Error(`missing fieldsType in managed fields entry ${index}`);
    if (fieldsType !== "FieldsV1") {
      throw new Error(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`);
    }
    const { manager = "", subresource } = entry;
    const owned: OwnedFields = {
      manager,
      subresource: subresource || undefined,
      set: decodeFieldSet(entry.fieldsV1),
      apiVersion,
      applied: operation === "Apply",
      time: entry.time ? normalTime(entry.time) : undefined,
    };
    managers.set(managerId({ manager, operation, apiVersion, subresource }), owned);
  });
  return managers;
}

/** Times are kept to the second, in UTC. */
function normalTime(time: string): string {
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(time)) return time;
  const milliseconds = Date.parse(time);
  if (Number.isNaN(milliseconds)) throw new Error(`cannot parse ${JSON.stringify(time)} as a time`);
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

/** Writes managedFields in the API server's order: appliers first, then by time, name, version and subresource. */
export function encodeManagers(managers: Managers): ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  const entries = Array.from(managers.values(), encodeEntry);
  return entries.length === 1 ? entries : entries.sort(compareEntries);
}

function encodeEntry({ manager, subresource, set, apiVersion, applied, time }: OwnedFields): ManagedFieldsEntry {
  return {
    ...(manager !== "" && { manager }),
    operation: applied ? "Apply" : "Update",
    apiVersion,
    ...(time !== undefined && { time }),
    fieldsType: "FieldsV1",
    fieldsV1: orderedSet(set),
    ...(subresource && { subresource }),
  };
}

function compareEntries(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  return (
    compareText(a.operation!, b.operation!) ||
    compareText(a.time ?? "", b.time ?? "") ||
    compareText(a.manager ?? "", b.manager ?? "") ||
    compareText(a.apiVersion!, b.apiVersion!) ||
    compareText(a.subresource ?? "", b.subresource ?? "")
  );
}

/** What is wrong with an object's managedFields, or undefined: an admission webhook may have broken them. */
export function managedFieldsProblem(entries: readonly ManagedFieldsEntry[] | undefined): string | undefined {
  try {
    decodeManagers(entries);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
