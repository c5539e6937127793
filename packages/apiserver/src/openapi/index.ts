/**
 * OpenAPI, as kubectl reads it: /openapi/v3 lists the documents with a digest each, one document for each version of a
 * group describes its paths and schemas. Built-in kinds come from the facts, without prose; custom ones from their CRDs.
 */
import { createHash } from "node:crypto";
import { type ApiRequest, type ApiResponse, headerOf, stringifyJson } from "@konverge/core";
import { type ServedVersion, servedGroups } from "../discovery/api-groups.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { Registry } from "../resources/registry.ts";
import { openApiDocument } from "./document.ts";

const ROOT = "/openapi/v3";

/** Serves the documents of a registry; each is made when it is first asked for, and kept until the registry changes. */
export class OpenApi {
  readonly #registry: Registry;
  #generation = -1;
  #served = new Map<string, ServedVersion>();
  #texts = new Map<string, { text: string; hash: string }>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  answer(request: ApiRequest, { path }: RequestInfo): ApiResponse | undefined {
    if (path !== ROOT && !path.startsWith(`${ROOT}/`)) return undefined;
    this.#refresh();
    if (path === ROOT) return json(this.#index());
    const document = this.#document(path.slice(ROOT.length + 1));
    if (!document) return undefined;
    const headers = { "content-type": "application/json", etag: `"${document.hash}"`, vary: "Accept" };
    if (headerOf(request.headers, "if-none-match") === headers.etag) return { status: 304, headers, body: "" };
    return { status: 200, headers, body: document.text };
  }

  #refresh(): void {
    if (this.#generation === this.#registry.generation) return;
    this.#generation = this.#registry.generation;
    this.#texts.clear();
    this.#served.clear();
    for (const { versions } of servedGroups(this.#registry)) {
      for (const served of versions) {
        const { group, version } = served;
        this.#served.set(group === "" ? `api/${version}` : `apis/${group}/${version}`, served);
      }
    }
  }

  #index(): object {
    const paths = [...this.#served.keys()]
      .sort()
      .map((name) => [name, { serverRelativeURL: `${ROOT}/${name}?hash=${this.#document(name)!.hash}` }]);
    return { paths: Object.fromEntries(paths) };
  }

  #document(name: string): { text: string; hash: string } | undefined {
    const served = this.#served.get(name);
    if (!served) return undefined;
    let document = this.#texts.get(name);
    if (!document) {
      const text = stringifyJson(openApiDocument(served));
      document = { text, hash: createHash("sha512").update(text).digest("hex").toUpperCase() };
      this.#texts.set(name, document);
    }
    return document;
  }
}

function json(body: object): ApiResponse {
  return { status: 200, headers: { "content-type": "application/json" }, body: stringifyJson(body) };
}
