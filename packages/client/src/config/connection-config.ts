import type { ImpersonatedUser } from "../impersonation.ts";

/** Something that is given as it is, or in a file that may change while it is used. */
export type InlineOrFile = { value: string } | { file: string };

/** A program that is asked for credentials (client.authentication.k8s.io). */
export interface ExecPlugin {
  apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  /** A name to be found on the PATH, or an absolute path. */
  command: string;
  args: readonly string[];
  env: readonly { name: string; value: string }[];
  /** What to tell a user who does not have it. */
  installHint?: string;
  provideClusterInfo: boolean;
  interactiveMode: "Never" | "IfAvailable" | "Always";
  /** Handed to the plugin: the cluster's `client.authentication.k8s.io/exec` extension. */
  clusterConfig?: unknown;
}

/** An OpenID Connect provider whose tokens are renewed with a refresh token. */
export interface OidcProvider {
  issuerUrl: string;
  clientId: string;
  clientSecret?: string;
  idToken?: string;
  refreshToken?: string;
  /** The provider's certificate authority, PEM. */
  ca?: InlineOrFile;
  /** Told new tokens: providers may accept a refresh token only once. */
  onRenewed?: (tokens: { idToken: string; refreshToken?: string }) => Promise<void>;
}

/** How a client shows who it is, besides its certificate. */
export type CredentialConfig =
  | { token: InlineOrFile }
  | { username: string; password: string }
  | { exec: ExecPlugin }
  | { oidc: OidcProvider };

/** All that is needed to reach a cluster. */
export interface ConnectionConfig {
  /** `https://host:port`, perhaps with a path before the API's own. */
  server: string;
  /** The namespace of keys that name none. */
  namespace?: string;
  /** Who signs the server's certificate, PEM. Default: the authorities that Node trusts. */
  ca?: InlineOrFile;
  /** The name on the server's certificate, where it is not the host's. */
  tlsServerName?: string;
  /** Believe any certificate. For experiments only. */
  insecureSkipTlsVerify?: boolean;
  /** Client certificate and its key, PEM. */
  cert?: InlineOrFile;
  key?: InlineOrFile;
  credentials?: CredentialConfig;
  /** Impersonate another user. */
  impersonate?: ImpersonatedUser;
  /** `http://`, `https://` or `socks5://`. Default: what the environment says (HTTPS_PROXY, NO_PROXY). */
  proxyUrl?: string;
  /** Ask for large answers to be compressed. Default: false. */
  compression?: boolean;
  /**
   * Share few connections among many requests (HTTP/2): pays off with about fifty requests at a time and more. Default:
   * false, a connection for each request under way.
   */
  http2?: boolean;
}

/** A configuration that cannot be used, and where it is wrong. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
