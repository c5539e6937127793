import { readFile } from "node:fs/promises";
import { readText } from "@konverge/core";
import type { InlineOrFile } from "../config/connection-config.ts";
import { ConnectionPool } from "../transport/connection-pool.ts";
import { exchange } from "../transport/exchange.ts";
import { proxyFor } from "../transport/proxy.ts";
import type { ProviderFetch } from "./oidc-credential.ts";

/** Requests to an identity provider whose certificate the given authority signs, or one that Node trusts. */
export async function providerFetch(ca: InlineOrFile | undefined): Promise<ProviderFetch> {
  const authority = ca && ("value" in ca ? ca.value : await readFile(ca.file, "utf8"));
  return async (address, init) => {
    const url = new URL(address);
    const pool = new ConnectionPool(url, { proxy: proxyFor(url, undefined, process.env), http2: false });
    try {
      const connection = pool.with({ ...(authority && { ca: authority }), rejectUnauthorized: true });
      const request = { method: "GET", headers: {}, ...init, path: url.pathname + url.search };
      const response = await exchange(connection, url.origin, request, () => {});
      return { status: response.status, body: await readText(response.body) };
    } finally {
      await pool.close();
    }
  };
}
