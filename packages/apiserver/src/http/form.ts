import { ApiError, type ApiRequest, headerOf, own } from "@konverge/core";
import { type MediaRange, parseAccept } from "./media-types.ts";

/** In what form an answer about objects is wanted. */
export interface Form {
  readonly media: "json" | "yaml";
  readonly pretty: boolean;
  /** The object itself, or what is made of it. */
  readonly target: "object" | "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
  /** `meta.k8s.io/v1` or `meta.k8s.io/v1beta1`, for what is made of objects. */
  readonly apiVersion: string;
}

export const PLAIN: Form = { media: "json", pretty: false, target: "object", apiVersion: "" };

const MEDIA: Record<string, "json" | "yaml"> = { "application/json": "json", "application/yaml": "yaml" };
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const AVAILABLE = [...Object.keys(MEDIA), PROTOBUF];
const TARGETS = ["Table", "PartialObjectMetadata", "PartialObjectMetadataList"];
const META_VERSIONS = ["v1", "v1beta1"];

/** What a resource can be negotiated about. */
export interface Offer {
  readonly custom: boolean;
  /** The request is for a list, or for a watch. */
  readonly collection: boolean;
  /** It can be shown as a table. */
  readonly tables: boolean;
}

/** The form that a request's Accept header asks for; throws 406 when there is none that will do. */
export function negotiate(request: ApiRequest, query: URLSearchParams, offer: Offer): Form {
  const accept = headerOf(request.headers, "accept");
  const pretty = wantsPretty(request, query);
  if (!accept) return { ...PLAIN, pretty };
  const ranges = parseAccept(accept);
  if (!offer.custom && !ranges.some(({ type }) => type === "*/*" || AVAILABLE.includes(type))) throw noRoute(offer);
  for (const range of ranges) {
    const form = formOf(range);
    if (form?.target === "Table" && !offer.tables) continue;
    if (form) return { ...form, pretty: pretty || range.parameters.pretty === "1" };
  }
  // Protobuf is read here and not written: a client that accepts nothing else gets the list of supported types.
  const there = ranges.every(({ type }) => type === PROTOBUF) ? Object.keys(MEDIA) : AVAILABLE;
  throw notAcceptable(`only the following media types are accepted: ${there.join(", ")}`);
}

/** The form of an error: the requested one, if possible, and never a table or another representation. */
export function errorForm(request: ApiRequest, query: URLSearchParams): Form {
  const accept = headerOf(request.headers, "accept");
  const form = accept
    ? parseAccept(accept)
        .map(formOf)
        .find((found) => found !== undefined)
    : undefined;
  return { ...PLAIN, media: form?.media ?? "json", pretty: wantsPretty(request, query) };
}

export function notAcceptable(message: string): ApiError {
  return new ApiError({ code: 406, reason: "NotAcceptable", message });
}

/** The paths of built-in resources are routed by media type before anything else looks at it. */
function noRoute({ collection }: Offer): ApiError {
  const streams = collection ? ["application/json;stream=watch", `${PROTOBUF};stream=watch`] : [];
  const message = `406: Not Acceptable\n\nAvailable representations: ${[...AVAILABLE, ...streams].join(", ")}`;
  return new ApiError({ code: 406, reason: "NotAcceptable", message, details: {} });
}

function formOf({ type, parameters }: MediaRange): Form | undefined {
  const media = type === "*/*" || type === "application/*" ? "json" : own(MEDIA, type);
  if (!media) return undefined;
  if (parameters.stream !== undefined && parameters.stream !== "" && parameters.stream !== "watch") return undefined;
  const { as, g, v } = parameters;
  if (as === undefined && g === undefined && v === undefined) return { ...PLAIN, media };
  if (!as || g !== "meta.k8s.io" || !v || !META_VERSIONS.includes(v) || !TARGETS.includes(as)) return undefined;
  return { media, pretty: false, target: as as Form["target"], apiVersion: `${g}/${v}` };
}

/** People read JSON with line breaks: when they ask for it, or come with a browser or curl. */
export function wantsPretty(request: ApiRequest, query: URLSearchParams): boolean {
  const asked = query.get("pretty");
  if (asked) return ["1", "t", "T", "true", "TRUE", "True"].includes(asked);
  return /^(curl|Wget|Mozilla\/5\.0)/.test(headerOf(request.headers, "user-agent") ?? "");
}
