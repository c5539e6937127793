import { ApiError, type ApiRequest, headerOf } from "@konverge/core";
import { type MediaRange, parseAccept } from "../http/media-types.ts";

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
const TARGETS = ["Table", "PartialObjectMetadata", "PartialObjectMetadataList"];
const META_VERSIONS = ["v1", "v1beta1"];

/** The form that a request's Accept header asks for; throws 406 when there is none that will do. */
export function negotiate(request: ApiRequest, query: URLSearchParams): Form {
  const accept = headerOf(request.headers, "accept");
  const pretty = wantsPretty(request, query);
  if (!accept) return { ...PLAIN, pretty };
  for (const range of parseAccept(accept)) {
    const form = formOf(range);
    if (form) return { ...form, pretty: pretty || range.parameters.pretty === "1" };
  }
  throw new ApiError({
    code: 406,
    reason: "NotAcceptable",
    message: `only the following media types are accepted: ${[...Object.keys(MEDIA), PROTOBUF].join(", ")}`,
  });
}

function formOf({ type, parameters }: MediaRange): Form | undefined {
  const media = type === "*/*" || type === "application/*" ? "json" : MEDIA[type];
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
