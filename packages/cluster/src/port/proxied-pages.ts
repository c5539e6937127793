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

/** Elements whose content is no markup: their opening tags are looked at. */
const RAW: ReadonlySet<string> = new Set(["script", "style", "textarea", "title"]);
const TAG_NAME = /<([a-zA-Z][^\s/>]*)/y;
/** The lookbehind keeps a long word from being tried from each of its letters on. */
const ATTRIBUTES = /(?<![^\s"'<>/=])([^\s"'<>/=]+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/g;
/** Larger pages pass as they come. */
const LONGEST_PAGE = 4 * 1024 * 1024;

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
  const body = await collected(response.body);
  if (!Buffer.isBuffer(body)) return { ...response, headers, body };
  const page = await coding.decode(body).catch(() => undefined);
  if (page === undefined) return { ...response, headers, body };
  return { ...response, headers, body: await coding.encode(Buffer.from(rewrittenPage(page.toString("utf8"), from))) };
}

/**
 * A page in which the links to its own host lead through the proxy. It is scanned once, since a pod can serve anything as a
 * page: after an unterminated tag, nothing is rewritten.
 */
export function rewrittenPage(page: string, from: ProxiedFrom): string {
  let [result, copied] = ["", 0];
  const endless = new Set<string>();
  for (let at = page.indexOf("<"); at >= 0; at = page.indexOf("<", at)) {
    if (page.startsWith("<!--", at)) {
      const end = endless.has("-->") ? -1 : page.indexOf("-->", at + 4);
      if (end < 0) endless.add("-->");
      at = end < 0 ? at + 1 : end + 3;
      continue;
    }
    TAG_NAME.lastIndex = at;
    const [opening, name] = TAG_NAME.exec(page) ?? [];
    if (opening === undefined || name === undefined) {
      at++;
      continue;
    }
    const end = endOfTag(page, at + opening.length);
    if (end < 0) break;
    result += page.slice(copied, at) + rewrittenTag(page.slice(at, end), name, from);
    copied = end;
    at = endOfContent(page, end, name.toLowerCase(), endless);
  }
  return result + page.slice(copied);
}

/** The index after the tag; below zero if there is none. What is quoted does not end it. */
function endOfTag(page: string, start: number): number {
  for (let at = start; at < page.length; at++) {
    const character = page[at];
    if (character === ">") return at + 1;
    if (character !== '"' && character !== "'") continue;
    at = page.indexOf(character, at + 1);
    if (at < 0) return -1;
  }
  return -1;
}

/** Where markup goes on after an opening tag. `endless` has what was not found up to the end of the page. */
function endOfContent(page: string, start: number, name: string, endless: Set<string>): number {
  if (!RAW.has(name) || endless.has(name)) return start;
  const closing = new RegExp(`</${name}\\s*>`, "gi");
  closing.lastIndex = start;
  if (closing.test(page)) return closing.lastIndex;
  endless.add(name);
  return start;
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

/** A few kilobytes could be gigabytes. */
const UNZIPPED = { maxOutputLength: LONGEST_PAGE };
const unzip = promisify<Buffer, typeof UNZIPPED, Buffer>(gunzip);
const inflate = promisify<Buffer, typeof UNZIPPED, Buffer>(inflateRaw);

const CODINGS: Readonly<Record<string, Coding>> = {
  "": { decode: async (body) => body, encode: async (body) => body },
  gzip: { decode: (body) => unzip(body, UNZIPPED), encode: promisify<Buffer, Buffer>(gzip) },
  deflate: { decode: (body) => inflate(body, UNZIPPED), encode: promisify<Buffer, Buffer>(deflateRaw) },
};

/** The whole body; or, if it is longer than a page is, a stream of it. */
async function collected(body: ApiResponse["body"]): Promise<Buffer | AsyncIterable<string | Uint8Array>> {
  if (typeof body === "string" || body instanceof Uint8Array) return Buffer.from(body as string);
  const chunks: Buffer[] = [];
  let size = 0;
  const iterator = body[Symbol.asyncIterator]();
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    const chunk = Buffer.from(next.value as string);
    chunks.push(chunk);
    size += chunk.length;
    if (size > LONGEST_PAGE) return continued(chunks, iterator);
  }
  return Buffer.concat(chunks);
}

async function* continued(
  chunks: readonly Buffer[],
  iterator: AsyncIterator<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array, void, void> {
  try {
    yield* chunks;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}

/** Only the API server decides which pages may read its responses (CORS). */
function withoutCors(headers: HeaderMap): HeaderMap {
  const said = /^access-control-allow-(credentials|headers|methods|origin)$/;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !said.test(name)));
}
