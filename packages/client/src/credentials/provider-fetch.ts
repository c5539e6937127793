import { readFile } from "node:fs/promises";
import { EnvHttpProxyAgent, request } from "undici";
import type { Material } from "../config/connection-config.ts";
import type { ProviderFetch } from "./oidc-credential.ts";

/** Requests to an identity provider whose certificate the given authority signs, or one that Node trusts. */
export async function providerFetch(ca: Material | undefined): Promise<ProviderFetch> {
  const authority = ca && ("value" in ca ? ca.value : await readFile(ca.file, "utf8"));
  const tls = authority ? { ca: authority } : {};
  const dispatcher = new EnvHttpProxyAgent({ connect: tls, requestTls: tls });
  return async (url, init) => {
    const response = await request(url, { dispatcher, ...init });
    return { status: response.statusCode, body: await response.body.text() };
  };
}
