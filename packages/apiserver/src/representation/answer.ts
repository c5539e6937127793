import { type ApiResponse, parseJson, stringifyJson } from "@konverge/core";
import { printYaml } from "@konverge/schema";
import { type Call, requestVersion } from "../call/call.ts";
import { knownKind } from "../call/known-kinds.ts";
import { readEntry, textOf, textsOf } from "../call/stored.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import { type Form, notAcceptable, PLAIN } from "../http/form.ts";
import { convertTo } from "../resources/stored-object.ts";
import type { Entry } from "../storage/entry.ts";
import { type ListMetadata, partialMetadata, partialMetadataList } from "./partial-metadata.ts";
import { tableOf } from "./table.ts";

/** A JSON body in the form that was asked for. */
export function bodyResponse(
  status: number,
  body: unknown,
  form: Form = PLAIN,
  headers: Record<string, string | string[]> = {},
): ApiResponse {
  return textResponse(status, `${stringifyJson(body)}\n`, form, headers);
}

function textResponse(
  status: number,
  text: string,
  form: Form,
  headers: Record<string, string | string[]> = {},
): ApiResponse {
  if (form.media === "yaml") {
    const body = printYaml(parseJson(text));
    return { status, headers: { "content-type": "application/yaml", ...headers }, body };
  }
  const body = form.pretty ? stringifyJson(parseJson(text), 2) : text;
  return { status, headers: { "content-type": "application/json", ...headers }, body };
}

/** A stored object, in the version and form asked for. */
export async function entryResponse(call: Call, entry: Entry, status = 200): Promise<ApiResponse> {
  await call.store.durable();
  if (call.form.target === "object") return textResponse(status, `${await textOf(call, entry)}\n`, call.form);
  return objectResponse(call, await readEntry(call, entry), status);
}

/** An object that is not (or not yet) stored, in the version and form asked for. */
export async function objectResponse(call: Call, object: WorkingObject, status = 200): Promise<ApiResponse> {
  const { form, definition, version } = call;
  const converted = await convertTo(definition, object, requestVersion(call));
  switch (form.target) {
    case "object":
      return bodyResponse(status, version.codec.canonical(converted), form);
    case "Table":
      return bodyResponse(status, tableOf(call, [converted], { resourceVersion: versionOf(converted) }), form);
    case "PartialObjectMetadata":
      return bodyResponse(status, partialMetadata(converted, form.apiVersion), form);
    case "PartialObjectMetadataList":
      throw notAcceptable(
        `you requested PartialObjectMetadataList, but the requested object is not a list (${goTypeOf(call, version.kind)})`,
      );
  }
}

/** A list of stored objects, in the version and form asked for. */
export async function listResponse(
  call: Call,
  metadata: ListMetadata,
  entries: readonly Entry[],
): Promise<ApiResponse> {
  const { form } = call;
  if (form.target === "object") {
    return textResponse(200, listText(call, metadata, itemTexts(call, await textsOf(call, entries))), form);
  }
  const objects = await Promise.all(entries.map((entry) => readEntry(call, entry)));
  switch (form.target) {
    case "Table":
      return bodyResponse(200, tableOf(call, objects, metadata), form);
    case "PartialObjectMetadataList":
      return bodyResponse(200, partialMetadataList(objects, metadata, form.apiVersion), form);
    case "PartialObjectMetadata":
      throw notAcceptable(
        `you requested PartialObjectMetadata, but the requested object is a list (${goTypeOf(call, call.version.listKind)})`,
      );
  }
}

/** Go writes structs in the order of their fields, and maps by key. */
function listText(call: Call, metadata: ListMetadata, items: string): string {
  const apiVersion = JSON.stringify(requestVersion(call));
  const kind = JSON.stringify(call.version.listKind);
  const meta = JSON.stringify(call.definition.custom ? { continue: "", ...metadata } : metadata);
  return call.definition.custom
    ? `{"apiVersion":${apiVersion},"items":[${items}],"kind":${kind},"metadata":${meta}}\n`
    : `{"kind":${kind},"apiVersion":${apiVersion},"metadata":${meta},"items":[${items}]}\n`;
}

/** The items of a built-in kind's list do not repeat what kind they are of; those of custom resources do. */
function itemTexts(call: Call, texts: readonly string[]): string {
  if (call.definition.custom) return texts.join(",");
  const head = `{"kind":${JSON.stringify(call.version.kind)},"apiVersion":${JSON.stringify(requestVersion(call))},`;
  return texts.map((text) => `{${text.slice(head.length)}`).join(",");
}

function versionOf(object: WorkingObject): string {
  return object.metadata.resourceVersion ?? "";
}

/** What Go calls the type of the objects: `*core.ConfigMap`. */
function goTypeOf(call: Call, kind: string): string {
  const { definition, version, registry } = call;
  if (definition.custom) return kind === version.kind ? "*unstructured.Unstructured" : "*unstructured.UnstructuredList";
  const known = knownKind({ group: definition.group, version: version.version, kind: version.kind }, registry.facts);
  return `*${known?.internal ?? definition.group}.${kind}`;
}
