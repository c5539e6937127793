import { type Clock, deepEqual, parseJson } from "@konverge/core";
import type { Registry } from "../resources/registry.ts";
import type { Store } from "../storage/store.ts";
import type { FrontProxy } from "./extension-call.ts";
import { putSystemObject } from "./system-objects.ts";

const NAMESPACE = "kube-system";
const NAME = "extension-apiserver-authentication";
const KEY = `${NAMESPACE}/${NAME}`;

/** Publishes how other API servers recognize this one and its clients: they read it when they start. */
export function publishAuthentication(store: Store, registry: Registry, clock: Clock, frontProxy: FrontProxy): void {
  const data = authenticationData(frontProxy);
  const before = store.collection("/configmaps").get(KEY);
  if (before && deepEqual((parseJson(before.text) as { data?: unknown }).data, data)) return;
  const owned = Object.fromEntries(Object.keys(data).map((key) => [`f:${key}`, {}]));
  putSystemObject(store, registry, clock, {
    group: "",
    plural: "configmaps",
    key: KEY,
    object: { kind: "ConfigMap", apiVersion: "v1", metadata: { name: NAME, namespace: NAMESPACE }, data },
    fields: { "f:data": { ".": {}, ...owned } },
  });
}

/** Lists are JSON, as extension servers expect. */
function authenticationData({ ca, names, clientCa }: FrontProxy): Record<string, string> {
  return {
    ...(clientCa && { "client-ca-file": clientCa }),
    "requestheader-allowed-names": JSON.stringify(names),
    "requestheader-client-ca-file": ca,
    "requestheader-extra-headers-prefix": JSON.stringify(["X-Remote-Extra-"]),
    "requestheader-group-headers": JSON.stringify(["X-Remote-Group"]),
    "requestheader-uid-headers": JSON.stringify(["X-Remote-Uid"]),
    "requestheader-username-headers": JSON.stringify(["X-Remote-User"]),
  };
}
