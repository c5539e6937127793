import {
  type AnyObject,
  ApiError,
  type ApiRequest,
  type ApiResponse,
  type Clock,
  methodNotAllowed,
  realClock,
  type Transport,
  toFetch,
} from "@konverge/core";
import { Discovery } from "./discovery/index.ts";
import { serverPath } from "./discovery/server-paths.ts";
import { readObject } from "./http/bodies.ts";
import { type RequestInfo, requestInfo } from "./http/request-info.ts";
import { registerBuiltins } from "./resources/builtin.ts";
import { CustomResources } from "./resources/custom.ts";
import { Registry } from "./resources/registry.ts";
import { type Snapshot, Store } from "./storage/store.ts";
import type { Admission, Call, User } from "./verbs/call.ts";
import { decodeInto } from "./verbs/decode.ts";
import { type DeleteOptions, deleteObject } from "./verbs/delete.ts";
import { entryResponse, jsonResponse, objectResponse } from "./verbs/finish.ts";
import { list } from "./verbs/list.ts";
import { patch } from "./verbs/patch.ts";
import { get } from "./verbs/read.ts";
import { watch } from "./verbs/watch.ts";
import { createObject, updateObject, type Written } from "./verbs/write.ts";

export interface ApiServerOptions {
  clock?: Clock;
  /** Start from an earlier state. */
  state?: Snapshot;
}

const ADMIN: User = { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };

/** The embedded API server: a {@link Transport} over a {@link Store}. */
export class ApiServer {
  readonly store: Store;
  readonly clock: Clock;
  readonly registry = new Registry();
  readonly #custom: CustomResources;
  readonly #discovery = new Discovery(this.registry, () => "127.0.0.1:6443");
  readonly #admission: Admission = { mutate: async (_call, object) => object, validate: async () => {} };

  constructor(options: ApiServerOptions = {}) {
    this.clock = options.clock ?? realClock();
    this.store = new Store({ clock: this.clock }, options.state);
    registerBuiltins(this.registry);
    this.#custom = new CustomResources(this.registry, this.store, this.clock);
  }

  /** Answers requests as the cluster's administrator: for code in the same process. */
  readonly transport: Transport = (request) => this.#answer(request, ADMIN);

  readonly fetch = toFetch(this.transport);

  /** The whole state, to start another server from. */
  snapshot(): Snapshot {
    return this.store.snapshot();
  }

  close(): void {
    this.store.close();
  }

  async #answer(request: ApiRequest, user: User): Promise<ApiResponse> {
    const warnings: string[] = [];
    try {
      const response = await this.#route(request, requestInfo(request), user, warnings);
      if (warnings.length > 0) response.headers.warning = warnings.map((text) => `299 - ${JSON.stringify(text)}`);
      return response;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return jsonResponse(error.code, error.status);
    }
  }

  async #route(request: ApiRequest, info: RequestInfo, user: User, warnings: string[]): Promise<ApiResponse> {
    if (!info.isResource) {
      const document = /^\/apis?(\/|$)/.test(info.path) ? this.#discovery.answer(request, info) : serverPath(info);
      if (!document) throw unknownPath();
      return document;
    }
    const found = this.registry.find(info.group, info.version, info.resource);
    if (!found) throw unknownPath();
    const call: Call = {
      store: this.store,
      clock: this.clock,
      admission: this.#admission,
      request,
      info,
      ...found,
      user,
      warn: (text) => warnings.push(text),
    };
    const response = await this.#verb(call);
    this.#custom.afterWrite(call);
    return response;
  }

  #verb(call: Call): Promise<ApiResponse> | ApiResponse {
    const { info, definition, version } = call;
    if (info.subresource !== "" && !version.subresources.has(info.subresource)) throw unknownPath();
    if (definition.namespaced && info.namespace === "" && !["list", "watch"].includes(info.verb)) throw unknownPath();
    switch (info.verb) {
      case "get":
        return get(call);
      case "list":
        return list(call);
      case "watch":
        return watch(call);
      case "create":
        return this.#create(call);
      case "update":
        return this.#update(call);
      case "patch":
        return patch(call);
      case "delete":
        return deleteObject(call, call.request.body ? (readObject(call.request) as DeleteOptions) : {});
      default:
        throw methodNotAllowed(definition, info.verb);
    }
  }

  async #create(call: Call): Promise<ApiResponse> {
    return written(call, await createObject(call, decodeInto(call, readObject(call.request))));
  }

  async #update(call: Call): Promise<ApiResponse> {
    const draft: AnyObject = decodeInto(call, readObject(call.request));
    return written(call, await updateObject(call, () => structuredClone(draft)));
  }
}

async function written(call: Call, { object, entry, created }: Written): Promise<ApiResponse> {
  const status = created ? 201 : 200;
  return entry ? entryResponse(call, entry, status) : objectResponse(call, object, status);
}

function unknownPath(): ApiError {
  return new ApiError({
    code: 404,
    reason: "NotFound",
    message: "the server could not find the requested resource",
    details: {},
  });
}
