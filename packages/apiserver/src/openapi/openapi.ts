/**
 * OpenAPI, as kubectl reads it: /openapi/v3 lists the documents with a digest each, one document for each version of a
 * group describes its paths and schemas. Built-in kinds come from the facts, without prose; custom ones from their CRDs.
 * /openapi/v2 has all of it in one document, as JSON or as protobuf: kubectl asks there about kinds that v3 does not know.
 */
import { createHash } from "node:crypto";
import { type ApiRequest, type ApiResponse, headerOf, own, stringifyJson } from "@konverge/core";
import type { SwaggerPart } from "../aggregation/foreign-documents.ts";
import { type ServedVersion, servedGroups } from "../discovery/api-groups.ts";
import { parseAccept } from "../http/media-types.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { Registry } from "../resources/registry.ts";
import { openApiDocument, serverDocument } from "./document.ts";
import { encodeSwagger, PROTOBUF_TYPE } from "./protobuf-2.ts";
import { type Paths, serverDocuments } from "./server-documents.ts";
import { type SwaggerDocument, swaggerDocument } from "./version-2.ts";

const ROOT = "/openapi/v3";
const SWAGGER = "/openapi/v2";

/** What a client may call the forms of the v2 document, and what each is answered as. */
const SWAGGER_TYPES: Record<string, string> = {
  "application/json": "application/json",
  "application/*": "application/json",
  "*/*": "application/json",
  [PROTOBUF_TYPE]: PROTOBUF_TYPE,
  "application/com.github.proto-openapi.spec.v2@v1.0+protobuf": PROTOBUF_TYPE,
};

/** What other servers describe of what they serve under this one's name. */
export interface ForeignOpenApi {
  /** Grows when any of it changes. */
  readonly generation: number;
  /** The addresses of version 3 documents, by the names under which they are listed. */
  openApi3(): ReadonlyMap<string, string>;
  /** Parts of version 2 documents. */
  openApi2(): readonly SwaggerPart[];
}

const NOTHING_FOREIGN: ForeignOpenApi = { generation: 0, openApi3: () => new Map(), openApi2: () => [] };

/** Serves the documents of a registry; each is made when it is first asked for, and kept until the registry changes. */
export class OpenApi {
  readonly #registry: Registry;
  readonly #foreign: ForeignOpenApi;
  #generation = "";
  #served = new Map<string, ServedVersion>();
  /** The description of the server. */
  #own = new Map<string, Paths>();
  #texts = new Map<string, { text: string; hash: string }>();

  readonly #swaggers = new Map<string, { body: string | Uint8Array; hash: string }>();

  constructor(registry: Registry, foreign: ForeignOpenApi = NOTHING_FOREIGN) {
    this.#registry = registry;
    this.#foreign = foreign;
  }

  answer(request: ApiRequest, { path }: RequestInfo): ApiResponse | undefined {
    if (path === SWAGGER) return this.#swagger(request);
    if (path !== ROOT && !path.startsWith(`${ROOT}/`)) return undefined;
    this.#refresh();
    if (path === ROOT) return json(this.#index());
    const document = this.#document(path.slice(ROOT.length + 1));
    if (!document) return undefined;
    const headers = { "content-type": "application/json", etag: `"${document.hash}"`, vary: "Accept" };
    if (headerOf(request.headers, "if-none-match") === headers.etag) return { status: 304, headers, body: "" };
    return { status: 200, headers, body: document.text };
  }

  #swagger(request: ApiRequest): ApiResponse {
    this.#refresh();
    const asked = parseAccept(headerOf(request.headers, "accept")).find(({ type }) => own(SWAGGER_TYPES, type));
    if (!asked) return { status: 406, headers: { "content-type": "text/plain; charset=utf-8" }, body: "" };
    const type = own(SWAGGER_TYPES, asked.type)!;
    let document = this.#swaggers.get(type);
    if (!document) {
      const { facts } = this.#registry;
      const documents = [
        ...[...this.#served.values()].map((served) => openApiDocument(served, facts)),
        ...[...this.#own.values()].map((paths) => serverDocument(paths, facts)),
      ];
      const own = swaggerDocument(documents, facts.version);
      const swagger = withParts(own, this.#foreign.openApi2());
      const body = type === PROTOBUF_TYPE ? encodeSwagger(swagger) : stringifyJson(swagger);
      document = { body, hash: digest(body) };
      this.#swaggers.set(type, document);
    }
    const headers = { "content-type": type, etag: `"${document.hash}"`, vary: "Accept" };
    if (headerOf(request.headers, "if-none-match") === headers.etag) return { status: 304, headers, body: "" };
    return { status: 200, headers, body: document.body };
  }

  #refresh(): void {
    const generation = `${this.#registry.generation} ${this.#foreign.generation}`;
    if (this.#generation === generation) return;
    this.#generation = generation;
    this.#texts.clear();
    this.#swaggers.clear();
    this.#served.clear();
    const groups = servedGroups(this.#registry);
    this.#own = serverDocuments(groups);
    for (const { versions } of groups) {
      for (const served of versions) {
        const { group, version } = served;
        this.#served.set(group === "" ? `api/${version}` : `apis/${group}/${version}`, served);
      }
    }
  }

  #index(): object {
    const addresses = new Map<string, string>();
    for (const name of [...this.#served.keys(), ...this.#own.keys()])
      addresses.set(name, `${ROOT}/${name}?hash=${this.#document(name)!.hash}`);
    for (const [name, address] of this.#foreign.openApi3()) addresses.set(name, address);
    const sorted = [...addresses].sort(([a], [b]) => (a < b ? -1 : 1));
    return { paths: Object.fromEntries(sorted.map(([name, serverRelativeURL]) => [name, { serverRelativeURL }])) };
  }

  #document(name: string): { text: string; hash: string } | undefined {
    const served = this.#served.get(name);
    const own = this.#own.get(name);
    if (!served && !own) return undefined;
    let document = this.#texts.get(name);
    if (!document) {
      const { facts } = this.#registry;
      const text = stringifyJson(served ? openApiDocument(served, facts) : serverDocument(own!, facts));
      document = { text, hash: digest(text) };
      this.#texts.set(name, document);
    }
    return document;
  }
}

/** A version 2 document with parts of others'; where both define the same name, our own stays. */
function withParts(own: SwaggerDocument, parts: readonly SwaggerPart[]): SwaggerDocument {
  let { paths, definitions } = own;
  for (const part of parts) {
    paths = { ...paths, ...part.paths };
    definitions = { ...part.definitions, ...definitions };
  }
  return { ...own, paths, definitions };
}

function digest(body: string | Uint8Array): string {
  return createHash("sha512").update(body).digest("hex").toUpperCase();
}

function json(body: object): ApiResponse {
  return { status: 200, headers: { "content-type": "application/json" }, body: stringifyJson(body) };
}
