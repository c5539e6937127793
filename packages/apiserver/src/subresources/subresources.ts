import type { ServiceAccountTokens } from "../auth/tokens/service-account-tokens.ts";
import type { SubresourceHandler } from "../extensions.ts";
import { approve } from "./approval.ts";
import { evict } from "./eviction.ts";
import { type KubeletApi, toKubelet } from "./kubelet.ts";
import { bindPod, createBinding } from "./pod-binding.ts";
import { issueToken } from "./token.ts";

/** What answers for the subresources of built-in kinds that do something other than show or change their object. */
export function builtinSubresources(
  tokens: ServiceAccountTokens,
  kubelet: KubeletApi | undefined,
): Record<string, SubresourceHandler> {
  return {
    "/pods/eviction": evict,
    "/pods/binding": bindPod,
    "/bindings/": createBinding,
    "/pods/log": toKubelet("log", kubelet),
    "/pods/exec": toKubelet("exec", kubelet),
    "/pods/attach": toKubelet("attach", kubelet),
    "/pods/portforward": toKubelet("portforward", kubelet),
    "/pods/proxy": toKubelet("proxy", kubelet),
    "/serviceaccounts/token": issueToken(tokens),
    "certificates.k8s.io/certificatesigningrequests/approval": approve,
  };
}
