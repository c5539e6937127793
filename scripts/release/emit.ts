import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { published } from "./layout.ts";

/** Where the compiled code of all packages is put. */
export const emitted = "dist/emitted";

/** One compilation of everything that is published: JavaScript, declarations and source maps. */
export function emit(): void {
  rmSync("dist", { recursive: true, force: true });
  mkdirSync(emitted, { recursive: true });
  const folders = published.flatMap(({ folder, contains }) => [folder, ...contains]);
  const config = {
    extends: join("..", "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      sourceMap: true,
      inlineSources: true,
      declarationMap: false,
      rootDir: "../packages",
      outDir: "emitted",
    },
    include: folders.map((folder) => `../packages/${folder}/src`),
    exclude: ["../**/*.test.ts", "../**/testdata", "../**/node_modules"],
  };
  writeFileSync("dist/tsconfig.json", JSON.stringify(config));
  execFileSync("tsc", ["-p", "dist/tsconfig.json"], { stdio: "inherit" });
}
