import type { Clock } from "@konverge/core";
import type { InlineOrFile } from "../config/connection-config.ts";
import { RenewedMaterial } from "../config/renewed-material.ts";
import { bearer, type CredentialSource } from "./credential-source.ts";

/** Kubelets replace a pod's token when four fifths of its life are over: there is time to notice. */
const TOKEN_PERIOD = 10_000;

/** A bearer token, perhaps from a file that is replaced before the token in it expires. */
export function tokenCredential(clock: Clock, token: InlineOrFile): CredentialSource {
  const material = new RenewedMaterial(clock, token, TOKEN_PERIOD);
  return {
    get: async () => ({ authorization: bearer((await material.get()).trim()) }),
    async renew(rejected) {
      const authorization = bearer((await material.reread()).trim());
      return authorization === rejected.authorization ? undefined : { authorization };
    },
  };
}
