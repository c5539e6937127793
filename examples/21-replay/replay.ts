// Record what an operator sees and does, and put it to a new version of the code before that goes anywhere.
import { cacheKind, controller, defineKind, z } from "konverge";
import { ConfigMap, Secret } from "konverge/kinds";

export const Site = defineKind({
  group: "examples.konverge.dev",
  kind: "Site",
  versions: {
    v1: {
      spec: z.object({ title: z.string(), password: z.string() }),
      status: z.object({ url: z.string().optional() }),
    },
  },
});

export const sites = (scheme: "http" | "https") =>
  controller(Site, {
    name: "sites",
    owns: [ConfigMap],
    watches: [cacheKind(Secret)],
    reconcile({ metadata, spec }, { cache }) {
      const login = cache.get(Secret, `${metadata.namespace}/${spec.password}`)?.data?.["password"] ?? "";
      const url = `${scheme}://${metadata.name}.example.com`;
      const data = { url, auth: Buffer.from(login, "base64").toString() };
      return {
        children: [ConfigMap.draft({ metadata: { name: metadata.name }, data })],
        status: { url },
      };
    },
  });
