// Follow another object: whatever changes in a Secret is passed on by those who refer to it.
import { createHash } from "node:crypto";
import { controller, defineKind, watchKind, z } from "konverge";
import { ConfigMap, Secret } from "konverge/kinds";

export const Login = defineKind({
  group: "examples.konverge.dev",
  kind: "Login",
  versions: { v1: { spec: z.object({ secret: z.string() }) } },
});

export const logins = controller(Login, {
  owns: [ConfigMap],
  watches: [watchKind(Secret, { references: ({ metadata, spec }) => [`${metadata.namespace}/${spec.secret}`] })],
  reconcile({ metadata, spec }, { cache }) {
    const secret = cache.get(Secret, `${metadata.namespace}/${spec.secret}`);
    const digest = createHash("sha256")
      .update(JSON.stringify(secret?.data ?? null))
      .digest("hex")
      .slice(0, 16);
    const name = `${metadata.name}-digest`;
    return { children: [ConfigMap.draft({ metadata: { name }, data: { digest } })] };
  },
});
