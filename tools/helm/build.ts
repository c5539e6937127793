// npm run helm:build [-- --helm]
// Compiles Helm's template engine to WebAssembly into the cache folder, once for each version of it; with --helm the `helm` command, too,
// which the engine's output is compared with.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { builtEngine, ENGINE_SOURCES, engineCache, HELM_VERSION } from "@konverge/declarative/helm-engine";
import { go } from "@konverge/real/go-module.ts";
import { helmCommand } from "./helm-command.ts";

const { values } = parseArgs({ options: { helm: { type: "boolean", default: false } } });

buildEngine(builtEngine());
if (values.helm) buildHelm(helmCommand());

function buildEngine(file: string): void {
  if (existsSync(file)) {
    console.log(`Helm ${HELM_VERSION}'s engine: ${file}`);
    return;
  }
  inFolder((work) => {
    cpSync(ENGINE_SOURCES, work, { recursive: true });
    const module = join(work, "engine.wasm");
    const flags = ["-mod=readonly", "-trimpath", "-ldflags", "-s -w"];
    console.error(`building Helm ${HELM_VERSION}'s engine …`);
    go(work, ["build", ...flags, "-o", module, "."], { GOOS: "wasip1", GOARCH: "wasm" });
    const bytes = readFileSync(module);
    const packed = gzipSync(bytes, { level: 9 });
    writeFileSync(join(work, "engine.wasm.gz"), packed);
    renameSync(join(work, "engine.wasm.gz"), file);
    const megabytes = (size: number) => (size / 1e6).toFixed(1);
    console.log(`${file}: ${megabytes(bytes.length)} MB, compressed ${megabytes(packed.length)} MB`);
  });
}

function buildHelm(file: string): void {
  if (existsSync(file)) {
    console.log(`helm: ${file}`);
    return;
  }
  inFolder((work) => {
    console.error(`building helm ${HELM_VERSION} …`);
    const name = `helm.sh/helm/v${HELM_VERSION.split(".")[0]}/cmd/helm@v${HELM_VERSION}`;
    go(work, ["install", "-trimpath", "-ldflags", "-s -w", name], { GOBIN: work, GOFLAGS: "-buildvcs=false" });
    renameSync(join(work, "helm"), file);
    console.log(`helm: ${file}`);
  });
}

/** A folder beside the results, so that they can be renamed: complete or absent, also with parallel builds. */
function inFolder(build: (work: string) => void): void {
  mkdirSync(engineCache(), { recursive: true });
  const work = mkdtempSync(join(engineCache(), ".build-"));
  try {
    build(work);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
