import assert from "node:assert/strict";
import { stripTypeScriptTypes } from "node:module";
import { test } from "node:test";
import { editorSnippets } from "./editor-snippets.ts";

interface Snippet {
  readonly prefix: string;
  readonly scope: string;
  readonly body: readonly string[];
}

const snippets = Object.values(JSON.parse(editorSnippets()) as Record<string, Snippet>);

/** As VS Code inserts it, if nothing is filled in. */
function inserted({ body }: Snippet): string {
  const text = body.join("\n");
  const defaults = new Map([...text.matchAll(/\$\{(\d):([^}]*)\}/g)].map(([, at, value]) => [at!, value!]));
  return text.replaceAll(/\$(?:\{(\d)(?::[^}]*)?\}|(\d))/g, (_, named, plain) => defaults.get(named ?? plain) ?? "");
}

test("what a snippet inserts is TypeScript, whether a file or a part of a controller", () => {
  assert.ok(snippets.length >= 5);
  for (const one of snippets) {
    assert.match(one.prefix, /^konverge-/);
    const text = inserted(one);
    assert.doesNotMatch(text, /\$/);
    const whole = text.includes("import ");
    stripTypeScriptTypes(whole ? text : `const options = {\n${text}\n};`);
  }
});

test("a snippet imports what the packages export", async () => {
  for (const text of snippets.map(inserted)) {
    for (const [, names = "", from = ""] of text.matchAll(/import \{ (.*) \} from "(konverge.*|@konverge.*)";/g)) {
      const module = (await import(from)) as Record<string, unknown>;
      for (const name of names.split(", ").filter((one) => !one.startsWith("type "))) assert.ok(name in module, name);
    }
  }
});
