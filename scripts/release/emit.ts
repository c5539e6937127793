import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { foldersOf, published } from "./layout.ts";

/** Where the declarations of all packages are put. */
export const emitted = "dist/emitted";

/** One compilation of everything that is published, to declarations. */
export function emit(): void {
  rmSync("dist", { recursive: true, force: true });
  mkdirSync(emitted, { recursive: true });
  const config = {
    extends: join("..", "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: "..",
      outDir: "emitted",
    },
    include: published.flatMap(foldersOf).map((folder) => `../${folder}/src`),
    exclude: ["../**/*.test.ts", "../**/testdata", "../**/node_modules"],
  };
  writeFileSync("dist/tsconfig.json", JSON.stringify(config));
  execFileSync("tsc", ["-p", "dist/tsconfig.json"], { stdio: "inherit" });
}
