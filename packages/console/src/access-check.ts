import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Why a request is refused. */
export interface Refusal {
  readonly status: 401 | 403;
  readonly message: string;
}

/**
 * Decides who may use the console.
 *
 * Guarantees
 * - A request for another host than the one that is listened on is refused, so a foreign name that resolves to this machine
 *   (DNS rebinding) leads nowhere.
 * - A request that a page of another origin makes is refused, with or without the cookie. A link there can only open the
 *   page itself, with nothing in it yet.
 * - Everything else takes the token of the link, or the cookie that is set in exchange for it: HttpOnly, SameSite=Strict.
 */
export class AccessCheck {
  readonly #token: string;
  readonly #session: string;
  readonly #cookie: string;
  readonly #hosts: ReadonlySet<string>;

  constructor(secrets: { token: string; session: string }, port: number) {
    this.#token = secrets.token;
    this.#session = secrets.session;
    // Cookies do not distinguish ports: each console on a machine needs another name.
    this.#cookie = `konverge-console-${port}`;
    this.#hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]);
  }

  /** Undefined if the request is in order. */
  refusal(request: IncomingMessage): Refusal | undefined {
    const { host = "", origin, "sec-fetch-site": site } = request.headers;
    const isLink = request.method === "GET" && request.url === "/" && request.headers["sec-fetch-dest"] === "document";
    if (!this.#hosts.has(host)) {
      return { status: 403, message: `this is not ${host}: open the link that the command printed` };
    }
    if (this.hasToken(request)) return undefined;
    if (origin !== undefined && origin !== `http://${host}`) {
      return { status: 403, message: `requests from ${origin} are refused` };
    }
    if (site !== undefined && site !== "same-origin" && site !== "none" && !isLink) {
      return { status: 403, message: "requests from other sites are refused" };
    }
    if (isEqual(cookieOf(request, this.#cookie), this.#session)) return undefined;
    return { status: 401, message: "no valid token: open the link that the command printed" };
  }

  /** Whether the address has the token: the way in, for which the cookie is set. */
  hasToken(request: IncomingMessage): boolean {
    if (request.method !== "GET") return false;
    const { url = "" } = request;
    return url.startsWith("/?") && isEqual(new URLSearchParams(url.slice(2)).get("token") ?? "", this.#token);
  }

  get setCookie(): string {
    return `${this.#cookie}=${this.#session}; Path=/; HttpOnly; SameSite=Strict`;
  }
}

function cookieOf({ headers }: IncomingMessage, name: string): string {
  for (const part of (headers.cookie ?? "").split(";")) {
    const at = part.indexOf("=");
    if (part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return "";
}

/** In a time that says nothing about where they differ. */
function isEqual(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
