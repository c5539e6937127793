import { type Clock, headerOf, readText } from "@konverge/core";
import type { Store } from "../storage/store.ts";
import type { RemoteService } from "./api-services.ts";
import { DISCOVERY_TIMEOUT } from "./availability.ts";
import { withDeadline } from "./deadline.ts";
import type { CallExtension } from "./extension-call.ts";
import { AGGREGATOR, identityHeaders } from "./identity-headers.ts";
import { targetOf } from "./service-address.ts";

/** What a version of a group has, in the form of aggregated discovery. */
export interface VersionDiscovery {
  readonly version: string;
  readonly resources?: readonly object[];
  readonly freshness: "Current" | "Stale";
}

/** What another server says about itself. */
export interface ForeignDocuments {
  readonly discovery: VersionDiscovery;
  /** The address of its OpenAPI 3 document, relative to the server; undefined when it has none. */
  readonly openApi3: string | undefined;
  /** The part of its OpenAPI 2 document that is about this version. */
  readonly openApi2: SwaggerPart | undefined;
}

/** Paths and definitions of an OpenAPI 2 document. */
export interface SwaggerPart {
  readonly paths: Record<string, Record<string, unknown>>;
  readonly definitions: Record<string, Record<string, unknown>>;
}

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** Asks a server for its documents. What it does not have or cannot say is left out. */
export async function fetchDocuments(
  call: CallExtension,
  clock: Clock,
  store: Store,
  remote: RemoteService,
): Promise<ForeignDocuments> {
  const ask: Ask = (path, accept) =>
    withDeadline(clock, DISCOVERY_TIMEOUT, async (signal) => {
      const headers = { ...identityHeaders(AGGREGATOR), accept };
      const response = await call(targetOf(store, remote), { method: "GET", path, headers, signal });
      const text = await readText(response.body);
      if (response.status !== 200) return undefined;
      return { type: headerOf(response.headers, "content-type") ?? "", body: JSON.parse(text) };
    });
  const [discovery, openApi3, openApi2] = await Promise.all([
    discoveryOf(ask, remote),
    openApi3Of(ask, remote).catch(() => undefined),
    openApi2Of(ask, remote).catch(() => undefined),
  ]);
  return { discovery, openApi3, openApi2 };
}

/** What stands in while a server does not say what it has. */
export function staleDiscovery(version: string, before?: VersionDiscovery): VersionDiscovery {
  return { version, ...(before?.resources && { resources: before.resources }), freshness: "Stale" };
}

interface Answer {
  readonly type: string;
  readonly body: unknown;
}

/** A document, parsed; undefined when the server does not have it. */
type Ask = (path: string, accept: string) => Promise<Answer | undefined>;

/** The aggregated form has everything at once; servers without it are asked for the plain list of this version. */
async function discoveryOf(ask: Ask, { group, version }: RemoteService): Promise<VersionDiscovery> {
  try {
    const all = await ask("/apis", AGGREGATED);
    if (all?.type.includes("as=APIGroupDiscoveryList")) {
      const { items = [] } = all.body as { items?: { metadata?: { name?: string }; versions?: VersionDiscovery[] }[] };
      const found = items
        .find(({ metadata }) => metadata?.name === group)
        ?.versions?.find((candidate) => candidate.version === version);
      return { ...found, version, freshness: "Current" };
    }
    const plain = await ask(`/apis/${group}/${version}`, "application/json");
    if (!plain) return staleDiscovery(version);
    const { resources = [] } = plain.body as { resources?: PlainResource[] };
    return { version, resources: aggregatedForm(resources), freshness: "Current" };
  } catch {
    return staleDiscovery(version);
  }
}

interface PlainResource {
  readonly name: string;
  readonly singularName?: string;
  readonly namespaced?: boolean;
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** The plain list of a version's resources, with each subresource under its resource. */
export function aggregatedForm(resources: readonly PlainResource[]): object[] {
  // A list that does not repeat its own group and version leaves them out here too.
  const kindOf = ({ group = "", version = "", kind }: PlainResource) => ({ group, version, kind });
  return resources
    .filter(({ name }) => !name.includes("/"))
    .map((resource) => {
      const prefix = `${resource.name}/`;
      const subresources = resources
        .filter(({ name }) => name.startsWith(prefix))
        .map((one) => ({
          subresource: one.name.slice(prefix.length),
          responseKind: kindOf(one),
          verbs: one.verbs ?? [],
        }));
      return {
        resource: resource.name,
        responseKind: kindOf(resource),
        scope: resource.namespaced ? "Namespaced" : "Cluster",
        singularResource: resource.singularName ?? "",
        verbs: resource.verbs ?? [],
        ...(resource.shortNames?.length && { shortNames: resource.shortNames }),
        ...(resource.categories?.length && { categories: resource.categories }),
        ...(subresources.length > 0 && { subresources }),
      };
    });
}

async function openApi3Of(ask: Ask, { group, version }: RemoteService): Promise<string | undefined> {
  const index = await ask("/openapi/v3", "application/json");
  const { paths = {} } = (index?.body ?? {}) as { paths?: Record<string, { serverRelativeURL?: string }> };
  return paths[`apis/${group}/${version}`]?.serverRelativeURL;
}

async function openApi2Of(ask: Ask, { group, version }: RemoteService): Promise<SwaggerPart | undefined> {
  const document = await ask("/openapi/v2", "application/json");
  if (!document) return undefined;
  const { paths = {}, definitions = {} } = document.body as Partial<SwaggerPart>;
  const prefix = `/apis/${group}/${version}/`;
  const own = Object.entries(paths).filter(([path]) => `${path}/`.startsWith(prefix));
  return { paths: Object.fromEntries(own), definitions };
}
