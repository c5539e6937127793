/** What a client shows the server to prove who it is. */
export interface Credential {
  /** The Authorization header. */
  authorization?: string;
  /** Client certificate and key, PEM. */
  cert?: string;
  key?: string;
}

/** Where credentials come from. */
export interface CredentialSource {
  /** The credential to use now; from memory as long as it is good. */
  get(): Promise<Credential>;
  /** The server did not accept this one: another, or undefined when there is none. */
  renew(rejected: Credential): Promise<Credential | undefined>;
}

export function fixedCredential(credential: Credential): CredentialSource {
  return { get: async () => credential, renew: async () => undefined };
}

export function bearer(token: string): string {
  return `Bearer ${token}`;
}

export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}
