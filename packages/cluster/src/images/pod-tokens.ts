import type { Client } from "@konverge/client";
import type { Clock } from "@konverge/core";
import type { Pod } from "@konverge/kinds";

/** The requested token. */
export interface RequestedToken {
  readonly audience?: string | undefined;
  readonly expirationSeconds?: number | undefined;
}

/** The default lifetime that nodes request, in seconds. */
const LIFETIME = 3607;
/** The part of its life after which a token is replaced. */
const RENEW_AFTER = 0.8;

/** The tokens of a pod's service account: requested once, and renewed before they expire. */
export class PodTokens {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #pod: Pod;
  readonly #known = new Map<string, { token: string; renewAt: number }>();

  constructor(client: Client, clock: Clock, pod: Pod) {
    this.#client = client;
    this.#clock = clock;
    this.#pod = pod;
  }

  async token({ audience, expirationSeconds = LIFETIME }: RequestedToken): Promise<string> {
    const id = `${audience ?? ""} ${expirationSeconds}`;
    const known = this.#known.get(id);
    if (known && this.#clock.now() < known.renewAt) return known.token;
    const { name, namespace = "default", uid = "" } = this.#pod.metadata;
    const account = `${namespace}/${this.#pod.spec?.serviceAccountName || "default"}`;
    const { token } = await this.#client.requestToken(account, {
      expirationSeconds,
      ...(audience && { audiences: [audience] }),
      boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid },
    });
    this.#known.set(id, { token, renewAt: this.#clock.now() + expirationSeconds * 1000 * RENEW_AFTER });
    return token;
  }
}
