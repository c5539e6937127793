import type { RequestInfo } from "./http/request-info.ts";

/** A request that has not been answered yet. */
export interface Underway {
  readonly user: string;
  readonly verb: string;
  readonly path: string;
}

/** A watch that a client holds open. */
export interface OpenWatch {
  readonly user: string;
  readonly path: string;
  /** Whether the watcher has taken all there is, and waits for more. */
  readonly caughtUp: boolean;
}

/** The number of writers that are remembered: enough for a message, however long the server lives. */
const WRITERS = 500;

/** Requests and watches under way: by them it is known whether a cluster is idle. */
export class Activity {
  /** Requests that have not been answered. Of a watch or another stream: not begun to be answered. */
  readonly underway = new Set<Underway>();
  readonly watches = new Set<OpenWatch>();
  readonly #writers = new Map<string, string>();

  /** A request has come; the function that is returned says that it has been answered. */
  begin(user: string, { verb, path, isResource, resource, namespace = "", name = "" }: RequestInfo): () => void {
    const one: Underway = { user, verb, path };
    this.underway.add(one);
    if (isResource && WRITING.has(verb)) this.#wrote(`${resource} ${namespace}/${name}`, user);
    return () => this.underway.delete(one);
  }

  /** Who last asked for a change of an object, or for a new one in its namespace. */
  lastWriter(resource: string, namespace: string, name: string): string | undefined {
    return this.#writers.get(`${resource} ${namespace}/${name}`) ?? this.#writers.get(`${resource} ${namespace}/`);
  }

  #wrote(what: string, user: string): void {
    this.#writers.delete(what);
    this.#writers.set(what, user);
    if (this.#writers.size > WRITERS) this.#writers.delete(this.#writers.keys().next().value!);
  }
}

const WRITING = new Set(["create", "update", "patch", "delete", "deletecollection"]);
