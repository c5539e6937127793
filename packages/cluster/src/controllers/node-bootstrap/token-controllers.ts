import { deepEqual, keyOf } from "@konverge/core";
import { ConfigMap, Secret } from "@konverge/kinds";
import { watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { controllersComponent } from "../../parts/part.ts";
import { detachedSignature, expirationOf, signingToken, TOKEN_NAMESPACE, TOKEN_TYPE } from "./bootstrap-token.ts";
import { CLUSTER_INFO, CLUSTER_INFO_NAMESPACE } from "./join-objects.ts";

const SIGNATURE = "jws-kubeconfig-";
const CLUSTER_INFO_KEY = `${CLUSTER_INFO_NAMESPACE}/${CLUSTER_INFO}`;
const TOKENS = { namespaces: [TOKEN_NAMESPACE], fieldSelector: `type=${TOKEN_TYPE}` };

/** Signs what new nodes read about the cluster with each token, so that a node with a token can trust it. */
export const bootstrapSigner = controllersComponent("bootstrap-signer-controller", [Secret], () => [
  builtInController(ConfigMap, {
    name: "bootstrap-signer-controller",
    namespaces: [CLUSTER_INFO_NAMESPACE],
    fieldSelector: `metadata.name=${CLUSTER_INFO}`,
    watches: [watchKind<Secret, ConfigMap>(Secret, { ...TOKENS, to: () => [CLUSTER_INFO_KEY] })],
    async reconcile(info, { client, cache, clock }) {
      const content = info.data?.["kubeconfig"];
      if (content === undefined) return undefined;
      const unsigned = Object.entries(info.data ?? {}).filter(([key]) => !key.startsWith(SIGNATURE));
      const signatures = cache.list(Secret, TOKEN_NAMESPACE).flatMap((secret) => {
        const token = signingToken(secret, clock.now());
        return token ? [[`${SIGNATURE}${token.id}`, detachedSignature(content, token)] as const] : [];
      });
      const data = Object.fromEntries([...unsigned, ...signatures]);
      // Direct writes: users own the object, which gets signatures for the tokens there are; expired tokens are
      // deleted.
      if (!deepEqual(data, info.data)) await client.update(ConfigMap, { ...info, data });
      return undefined;
    },
  }),
]);

/** Deletes tokens that have expired. */
export const tokenCleaner = controllersComponent("token-cleaner-controller", [Secret], () => [
  builtInController(Secret, {
    name: "token-cleaner-controller",
    ...TOKENS,
    async reconcile(secret, { client, clock }) {
      const expiration = expirationOf(secret);
      if (expiration === undefined) return undefined;
      const left = expiration - clock.now();
      if (left > 0) return { requeueAfter: left };
      await client.delete(Secret, keyOf(secret), { preconditions: { uid: secret.metadata.uid! } });
      return undefined;
    },
  }),
]);
