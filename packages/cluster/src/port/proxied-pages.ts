import { promisify } from "node:util";
import { deflateRaw, gunzip, gzip, inflateRaw } from "node:zlib";
import { type ApiResponse, type HeaderMap, headerOf, own } from "@konverge/core";

/** Where a proxied answer comes from, and under which path its reader sees it. */
export interface ProxiedFrom {
  /** `/api/v1/namespaces/default/services/web/proxy`. */
  readonly prefix: string;
  /** The hosts under which the one who answers knows itself: its address, and the one that the request named. */
  readonly address: string;
  readonly requested: string;
}

/** Which attributes of which elements are links. */
const LINKS: Readonly<Record<string, readonly string[]>> = {
  a: ["href"],
  applet: ["codebase"],
  area: ["href"],
  audio: ["src"],
  base: ["href"],
  blockquote: ["cite"],
  body: ["background"],
  button: ["formaction"],
  command: ["icon"],
  del: ["cite"],
  embed: ["src"],
  form: ["action"],
  frame: ["longdesc", "src"],
  head: ["profile"],
  html: ["manifest"],
  iframe: ["longdesc", "src"],
  img: ["longdesc", "src", "usemap"],
  input: ["src", "usemap", "formaction"],
  ins: ["cite"],
  link: ["href"],
  object: ["classid", "codebase", "data", "usemap"],
  q: ["cite"],
  script: ["src"],
  source: ["src"],
  video: ["poster", "src"],
};

/** Comments, which are left alone; elements whose content is no markup, of which the opening tag is looked at; and tags. */
const PIECES =
  /<!--[\s\S]*?-->|(<(script|style|textarea|title)\b(?:[^"'>]|"[^"]*"|'[^']*')*>)([\s\S]*?<\/\2\s*>)|<([a-zA-Z][^\s/>]*)(?:[^"'>]|"[^"]*"|'[^']*')*>/gi;
const ATTRIBUTES = /([^\s"'<>/=]+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/g;

/**
 * Lets an answer be read where the proxy shows it: a redirection, or the links of a page, that mean the host behind the
 * proxy lead through the proxy again. All other answers pass as they come.
 */
export async function throughProxy(response: ApiResponse, from: ProxiedFrom): Promise<ApiResponse> {
  const headers = withoutCors(response.headers);
  const location = headerOf(headers, "location");
  if (location) return { ...response, headers: { ...headers, location: proxiedLink(location, from) } };
  const type = headerOf(headers, "content-type")?.split(";")[0]?.trim();
  const coding = own(CODINGS, headerOf(headers, "content-encoding") ?? "");
  if (type !== "text/html" || !coding) return { ...response, headers };
  const page = (await coding.decode(await whole(response.body))).toString("utf8");
  return { ...response, headers, body: await coding.encode(Buffer.from(rewrittenPage(page, from))) };
}

/** A page in which the links to its own host lead through the proxy. */
export function rewrittenPage(page: string, from: ProxiedFrom): string {
  return page.replaceAll(PIECES, (piece, opening?: string, raw?: string, content?: string, name?: string) => {
    if (opening && raw) return rewrittenTag(opening, raw, from) + content;
    return name ? rewrittenTag(piece, name, from) : piece;
  });
}

function rewrittenTag(tag: string, name: string, from: ProxiedFrom): string {
  const links = own(LINKS, name.toLowerCase());
  if (!links) return tag;
  return tag.replaceAll(ATTRIBUTES, (whole, attribute: string, equals: string, value: string) => {
    if (!links.includes(attribute.toLowerCase())) return whole;
    const quote = value.startsWith("'") ? "'" : '"';
    const link = /^["']/.test(value) ? value.slice(1, -1) : value;
    return `${attribute}${equals}${quote}${proxiedLink(link, from)}${quote}`;
  });
}

/** An absolute path of the host behind the proxy, as a path through the proxy; any other link as it is. */
export function proxiedLink(link: string, { prefix, address, requested }: ProxiedFrom): string {
  const [, scheme = "", host, rest = ""] = /^([a-zA-Z][\w+.-]*:)?(?:\/\/([^/?#]*))?(.*)$/s.exec(link) ?? [];
  const isElsewhere = host !== undefined && host !== address && host !== requested;
  if (isElsewhere || !rest.startsWith("/") || (scheme !== "" && host === undefined)) return link;
  const origin = host !== undefined && host === requested ? `${scheme}//${host}` : "";
  return origin + (rest.startsWith(prefix) ? rest : prefix + rest);
}

interface Coding {
  decode(body: Buffer): Promise<Buffer>;
  encode(body: Buffer): Promise<Buffer>;
}

const CODINGS: Readonly<Record<string, Coding>> = {
  "": { decode: async (body) => body, encode: async (body) => body },
  gzip: { decode: promisify<Buffer, Buffer>(gunzip), encode: promisify<Buffer, Buffer>(gzip) },
  deflate: { decode: promisify<Buffer, Buffer>(inflateRaw), encode: promisify<Buffer, Buffer>(deflateRaw) },
};

async function whole(body: ApiResponse["body"]): Promise<Buffer> {
  if (typeof body === "string" || body instanceof Uint8Array) return Buffer.from(body as string);
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(Buffer.from(chunk as string));
  return Buffer.concat(chunks);
}

/** Who may read the API server's answers in a browser is for the API server to say. */
function withoutCors(headers: HeaderMap): HeaderMap {
  const said = /^access-control-allow-(credentials|headers|methods|origin)$/;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !said.test(name)));
}
