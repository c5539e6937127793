import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { ownImports } from "./api-files.ts";
import { admissionConstant, controllerConstant, fileName } from "./names.ts";

/** The file that lists the kinds, controllers and webhooks of a project. */
export const LIST = "src/apis.ts";

/** Kinds by what the list has of them. */
export interface ApiList {
  /** Kinds with controllers. */
  readonly kinds: readonly string[];
  /** Kinds with admission webhooks. */
  readonly admissions: readonly string[];
}

/** The text of the list. */
export function apiList({ kinds, admissions }: ApiList): string {
  const [all, admitted] = [sorted(kinds), sorted(admissions)];
  const imports = ownImports(
    ...all.map((kind) => [`${kind}, ${controllerConstant(kind)}`, fileName(kind)] as const),
    ...admitted.map((kind) => [admissionConstant(kind), `${fileName(kind)}-admission`] as const),
  );
  // Nothing says what an empty list is of.
  const types = all.length === 0 ? `import type { AnyKind, Controller } from "konverge";\n` : "";
  const [kindsType, controllersType] = all.length === 0 ? [": AnyKind[]", ": Controller[]"] : ["", ""];
  return `// Kinds, controllers and webhooks of this operator. \`npx konverge create\` adds to it.
${types}import type { AdmissionWebhook } from "konverge/webhooks";
${imports}
export const kinds${kindsType} = [${all.join(", ")}];
export const controllers${controllersType} = [${all.map(controllerConstant).join(", ")}];
export const admissions: AdmissionWebhook[] = [${admitted.map(admissionConstant).join(", ")}];
`;
}

const sorted = (kinds: readonly string[]) => kinds.toSorted((a, b) => (fileName(a) < fileName(b) ? -1 : 1));

/** What a list has. */
export function listedApis(text: string): ApiList {
  const imported = [...text.matchAll(/^import \{ ([A-Z]\w*), \w+Controller \} from /gm)].map(([, kind]) => kind!);
  const between = (name: string) =>
    new RegExp(`^export const ${name}: \\w+\\[\\] = \\[(.*)\\];$`, "m").exec(text)?.[1] ?? "";
  const names = (part: string) =>
    part
      .split(",")
      .map((one) => one.trim())
      .filter(Boolean);
  const admitted = names(between("admissions"));
  return {
    kinds: imported,
    admissions: imported.filter((kind) => admitted.includes(admissionConstant(kind))),
  };
}

const CONSTANTS: Readonly<Record<keyof ApiList, (kind: string) => string>> = {
  kinds: (kind) => `${kind} to kinds and ${controllerConstant(kind)} to controllers`,
  admissions: (kind) => `${admissionConstant(kind)} of ./${fileName(kind)}-admission.ts to admissions`,
};

/** Adds a kind to one part of the list. Returns what became of it: one that a person has changed is kept, and says what to add. */
export function addToList(path: string, part: keyof ApiList, kind: string): string {
  const text = existsSync(path) ? readFileSync(path, "utf8") : undefined;
  const listed = text === undefined ? { kinds: [], admissions: [] } : listedApis(text);
  if (listed[part].includes(kind)) return `${LIST} unchanged`;
  if (text !== undefined && text !== apiList(listed)) {
    return `${LIST} kept: it was changed by hand. Import ./${fileName(kind)}.ts there, and add ${CONSTANTS[part](kind)}`;
  }
  writeFileSync(path, apiList({ ...listed, [part]: [...listed[part], kind] }));
  return `${LIST} written`;
}
