import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { blocksOf } from "../docs/blocks.ts";
import { copyDeclarations } from "./declarations.ts";
import { emitDeclarations } from "./emit.ts";
import { published } from "./layout.ts";
import { publishedManifest, stageFolder } from "./stage.ts";

const TSC = resolve("node_modules/.bin/tsc");
const project = mkdtempSync(join(tmpdir(), "konverge-settings-"));
const modules = join(project, "node_modules");

/** A project with the README's files, on the declarations that are published. */
before(() => {
  const targets = published.filter(({ name }) => name === "konverge" || name === "@konverge/dev");
  const emitted = join(project, "emitted");
  emitDeclarations(targets, emitted);
  const libraries = new Set(["@types/node"]);
  for (const target of targets) {
    const root = stageFolder(target, modules);
    copyDeclarations(target, root, emitted);
    const manifest = publishedManifest(target);
    writeFileSync(join(root, "package.json"), JSON.stringify(manifest));
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) libraries.add(name);
  }
  for (const name of libraries) {
    if (name === "konverge" || name.startsWith("@konverge/")) continue;
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(resolve("node_modules", name), join(modules, name));
  }
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  for (const { info, text } of blocksOf(readFileSync("README.md", "utf8"))) {
    const file = /file=(\S+\.ts)/.exec(info)?.[1];
    if (file) writeFileSync(join(project, file), text);
  }
});

after(() => rmSync(project, { recursive: true, force: true }));

const SETTINGS: Readonly<Record<string, Readonly<Record<string, boolean>>>> = {
  strict: {},
  exactOptionalPropertyTypes: { exactOptionalPropertyTypes: true },
  noUncheckedIndexedAccess: { noUncheckedIndexedAccess: true },
  "the strictest settings, declarations of libraries included": {
    skipLibCheck: false,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    noImplicitReturns: true,
    isolatedModules: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
  },
};

for (const [name, settings] of Object.entries(SETTINGS)) {
  test(`the README's example compiles from the published types with ${name}`, () => {
    const compilerOptions = {
      target: "esnext",
      module: "nodenext",
      types: ["node"],
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      ...settings,
    };
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
    const { stdout, status } = spawnSync(TSC, ["-p", project], { encoding: "utf8" });
    assert.equal(status, 0, stdout);
  });
}
