import type { ImpersonatedUser } from "../impersonation.ts";

/** A value, or a file that is read again when it changes. */
export type InlineOrFile = { value: string } | { file: string };

/** A credential plugin (client.authentication.k8s.io). */
export interface ExecPlugin {
  apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  /** A program on the PATH, or an absolute path. */
  command: string;
  args: readonly string[];
  env: readonly { name: string; value: string }[];
  /** The message for users who have not installed it. */
  installHint?: string;
  provideClusterInfo: boolean;
  interactiveMode: "Never" | "IfAvailable" | "Always";
  /** Passed to the plugin: the cluster's `client.authentication.k8s.io/exec` extension. */
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
  /** Called with new tokens: a provider can accept a refresh token only once. */
  onRenewed?: (tokens: { idToken: string; refreshToken?: string }) => Promise<void>;
}

/** How a client authenticates, other than by its certificate. */
export type CredentialConfig =
  | { token: InlineOrFile }
  | { username: string; password: string }
  | { exec: ExecPlugin }
  | { oidc: OidcProvider };

/** The address of a cluster, and how to authenticate. */
export interface ConnectionConfig {
  /** `https://host:port`, perhaps with a path before the API's own. */
  server: string;
  /** The namespace of keys without one. */
  namespace?: string;
  /** The certificate authority of the server, PEM. Default: the authorities that Node trusts. */
  ca?: InlineOrFile;
  /** The name in the server's certificate, if it differs from the host. */
  tlsServerName?: string;
  /** Accept any certificate. For experiments only. */
  insecureSkipTlsVerify?: boolean;
  /** Client certificate and its key, PEM. */
  cert?: InlineOrFile;
  key?: InlineOrFile;
  credentials?: CredentialConfig;
  /** Impersonate another user. */
  impersonate?: ImpersonatedUser;
  /** `http://`, `https://` or `socks5://`. Default: from the environment (HTTPS_PROXY, NO_PROXY). */
  proxyUrl?: string;
  /** Request compression of large responses. Default: false. */
  compression?: boolean;
  /**
   * Use HTTP/2, which shares few connections among many requests: faster from about fifty concurrent requests. Default:
   * false, a connection for each concurrent request.
   */
  http2?: boolean;
}

/** A configuration with an error; the message names the place. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
