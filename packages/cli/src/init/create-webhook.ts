import { join } from "node:path";
import { importOrder } from "../definition/import-order.ts";
import type { NewFiles } from "./api-files.ts";
import { ownImports } from "./api-files.ts";
import { addToList, LIST } from "./api-list.ts";
import { admissionConstant, checkedKind, fileName } from "./names.ts";
import { writeNewFiles } from "./new-files.ts";
import { projectKind, projectOf } from "./project.ts";

/** What a new webhook does. */
export interface NewWebhook {
  readonly kind: string;
  /** It changes objects before they are stored. */
  readonly defaulting: boolean;
  /** It refuses or warns about objects. */
  readonly validation: boolean;
}

/** Adds an admission webhook for a kind of the project that a folder is in. */
export async function createWebhook(given: NewWebhook, from: string, tell: (text: string) => void): Promise<void> {
  const project = projectOf(from);
  const kind = checkedKind(given.kind);
  const { crd } = await projectKind(project, kind);
  writeNewFiles(project.folder, webhookFiles({ ...given, kind }, crd.spec.group), tell);
  tell(addToList(join(project.folder, LIST), "admissions", kind));
}

function webhookFiles(webhook: NewWebhook, group: string): NewFiles {
  const file = fileName(webhook.kind);
  return new Map([
    [`src/${file}-admission.ts`, source(webhook, group)],
    [`src/${file}-admission.test.ts`, tests(webhook)],
  ]);
}

function source({ kind, defaulting, validation }: NewWebhook, group: string): string {
  const both = defaulting && validation;
  const does = both ? "completes and checks" : defaulting ? "completes" : "checks";
  const mutate = `  mutate(draft, { operation, user }) {
    if (operation !== "CREATE") return;
    draft.metadata.annotations = { ...draft.metadata.annotations, [CREATED_BY]: user.username ?? "" };
  },
`;
  const validate = `  validate({ metadata }) {
    if (metadata.name.length <= LONGEST_NAME) return [];
    return [fieldInvalid("metadata.name", metadata.name, \`must be no more than \${LONGEST_NAME} characters\`)];
  },
`;
  return `import { admissionWebhook${validation ? ", fieldInvalid" : ""} } from "konverge/webhooks";
${ownImports([kind, fileName(kind)])}
${defaulting ? `/** Who created an object. */\nexport const CREATED_BY = "${group}/created-by";\n` : ""}${
  validation ? "/** Names of children are longer than that of their owner. */\nexport const LONGEST_NAME = 50;\n" : ""
}
/**
 * The API server calls it before it stores a ${kind}: it ${does} the object. Values that do not depend on the request are
 * better written as defaults and rules of the definition, which need no webhook.
 */
export const ${admissionConstant(kind)} = admissionWebhook(${kind}, {
${defaulting ? mutate : ""}${validation ? validate : ""}});
`;
}

function tests({ kind, defaulting, validation }: NewWebhook): string {
  const constant = admissionConstant(kind);
  const names = [defaulting && "CREATED_BY", validation && "LONGEST_NAME", constant]
    .filter((name) => name !== false)
    .sort(importOrder)
    .join(", ");
  const mutates = `
test("a new ${kind} says who created it", async () => {
  const draft = object("sample");
  await ${constant}.options.mutate?.(draft, request);
  assert.equal(draft.metadata.annotations?.[CREATED_BY], "ann");
});
`;
  const validates = `
test("a ${kind} with a name that is too long is refused", async () => {
  const errors = async (name: string) => await ${constant}.options.validate?.(object(name), request);
  assert.deepEqual(await errors("a".repeat(LONGEST_NAME)), []);
  assert.match((await errors("a".repeat(LONGEST_NAME + 1)))?.[0]?.message ?? "", /no more than 50 characters/);
});
`;
  return `import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject, Mutable } from "konverge";
import type { AdmissionRequest } from "konverge/webhooks";
${ownImports([kind, fileName(kind)], [names, `${fileName(kind)}-admission`])}
const object = (name: string): Mutable<KubeObject> => ({
  apiVersion: \`\${${kind}.group}/\${${kind}.version}\`,
  kind: ${kind}.kind,
  metadata: { name },
});

const request: AdmissionRequest<KubeObject> = {
  operation: "CREATE",
  old: undefined,
  user: { username: "ann" },
  dryRun: false,
  subresource: undefined,
  warn: () => {},
};
${defaulting ? mutates : ""}${validation ? validates : ""}`;
}
