import type { ApiRequest, ApiResponse } from "@konverge/core";

/** Where another API server is, and how it is known. */
export interface ExtensionTarget {
  /** A name or an address. */
  readonly host: string;
  readonly port: number;
  /** What its certificate must be for: `NAME.NAMESPACE.svc`. */
  readonly serverName: string;
  /** PEM certificates in base64; the machine's own are trusted when it is empty. */
  readonly caBundle?: string;
  readonly insecureSkipTLSVerify: boolean;
}

/**
 * Carries a request to another API server over HTTPS and brings its answer back as it comes. It is injected, so that the
 * server itself opens no connections; it shows the front proxy's client certificate, and rejects with what went wrong.
 */
export type CallExtension = (target: ExtensionTarget, request: ApiRequest) => Promise<ApiResponse>;

/** How other API servers recognize this one; it is published for them in `extension-apiserver-authentication`. */
export interface FrontProxy {
  /** Signs the client certificate with which this server calls them, PEM. */
  readonly ca: string;
  /** The common names that such a certificate may have. */
  readonly names: readonly string[];
  /** Signs the certificates of this server's own clients, PEM. */
  readonly clientCa?: string;
}

/** What a server needs to hand requests on to others. */
export interface AggregationOptions {
  readonly call: CallExtension;
  readonly frontProxy?: FrontProxy;
}

/** Stands in where no other servers can be reached. */
export const noExtensions: CallExtension = async () => {
  throw new Error("this server has been given no way to reach others: pass aggregation.call when it is made");
};
