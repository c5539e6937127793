import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { foldersOf, type PublishedPackage, published } from "./layout.ts";

/** Where the declarations of all packages are put. */
export const emitted = "dist/emitted";

/** One compilation of everything that is published, to declarations. */
export function emit(): void {
  rmSync("dist", { recursive: true, force: true });
  emitDeclarations(published, emitted);
}

/** Puts the declarations of packages into a folder. */
export function emitDeclarations(targets: readonly PublishedPackage[], folder: string): void {
  mkdirSync(folder, { recursive: true });
  const config = {
    extends: resolve("tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      noCheck: true,
      rootDir: resolve("."),
      outDir: resolve(folder),
      typeRoots: [resolve("node_modules/@types")],
    },
    include: targets.flatMap(foldersOf).map((one) => resolve(one, "src")),
    exclude: ["**/*.test.ts", "**/testdata", "**/node_modules"].map((pattern) => resolve(pattern)),
  };
  const file = `${folder}.tsconfig.json`;
  writeFileSync(file, JSON.stringify(config));
  execFileSync("tsc", ["-p", file], { stdio: "inherit" });
}
