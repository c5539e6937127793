import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";

const PATIENCE = 600_000;

/**
 * Goes the way of a new user in an empty folder, with packed packages: `npm create konverge`, the first run, another kind, type
 * check, lint, tests, a version, a webhook, manifests. Adding the kind again must keep what was changed by hand.
 */
export function tryProject(dist: string): void {
  const folder = mkdtempSync(join(tmpdir(), "konverge-project-"));
  const project = join(folder, "cache-operator");
  const env = { ...process.env, PATH: dirname(process.execPath) + delimiter + process.env["PATH"] };
  const run = (cwd: string, command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd, env, encoding: "utf8", timeout: PATIENCE });
  const tarball = (name: string) => `--package=${join(resolve(dist), `${name}-${version()}.tgz`)}`;
  const version = () => (JSON.parse(readFileSync("package.json", "utf8")) as { version: string }).version;
  try {
    const packages = [tarball("create-konverge"), tarball("konverge")];
    const create = ["cache-operator", "--kind", "Cache", "--packages", resolve(dist)];
    run(folder, "npm", "exec", "--yes", "--prefer-offline", ...packages, "--", "create-konverge", ...create);
    expect(run(project, "npm", "start"), "Cache sample has converged");
    const api = ["konverge", "create", "api", "--group", "ml", "--version", "v1alpha1", "--kind", "TrainingJob"];
    expect(run(project, "npx", ...api), "src/training-job.ts written");
    run(project, "npm", "run", "check");
    const formatter = { indentStyle: "space", indentWidth: 2, lineWidth: 120 };
    writeFileSync(join(project, "biome.json"), `${JSON.stringify({ formatter })}\n`);
    run(
      project,
      resolve("node_modules/.bin/biome"),
      "check",
      "--error-on-warnings",
      "src",
      "package.json",
      "tsconfig.json",
    );
    expect(run(project, "npm", "test"), "fail 0");
    const changed = join(project, "src", "training-job.ts");
    writeFileSync(changed, `${readFileSync(changed, "utf8")}// by hand\n`);
    expect(run(project, "npx", ...api), "src/training-job.ts kept");
    expect(readFileSync(changed, "utf8"), "// by hand");
    expect(
      run(project, "npx", "konverge", "create", "version", "--kind", "Cache", "--version", "v1beta1"),
      "src/cache.ts has the version v1beta1 now",
    );
    expect(run(project, "npx", "konverge", "create", "webhook", "--kind", "Cache"), "src/cache-admission.ts written");
    run(project, "npm", "run", "check");
    const added = ["src/cache-conversion.test.ts", "src/cache-admission.test.ts"];
    expect(run(project, process.execPath, "--disable-warning=ExperimentalWarning", "--test", ...added), "fail 0");
    const manifests = ["konverge", "manifests", "--image", "registry.example.com/cache-operator:v1"];
    expect(run(project, "npx", ...manifests), "config/cache-operator/deployment.yaml written");
    console.log(
      "created and tried: a project, its first run, another kind, a version, a webhook, type check, tests, manifests",
    );
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    console.error(`${stdout}${stderr}`);
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function expect(text: string, part: string): void {
  if (!text.includes(part)) throw new Error(`"${part}" is missing in:\n${text}`);
}
