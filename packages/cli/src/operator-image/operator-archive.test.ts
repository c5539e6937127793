import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { archiveNames } from "../image/archive-names.ts";
import { operatorCatalog } from "./catalog.ts";
import { writeOperatorArchive } from "./operator-archive.ts";

const OPERATOR = `
import { readFileSync } from "node:fs";
export const mine = {
  name: "mine-operator", description: readFileSync(new URL("words", import.meta.url), "utf8"), kinds: [], settings: [],
  create: () => ({ controllers: [] }),
};
`;

test("the image of operators has the Node of this machine and their code, and runs them as another user", {
  skip: process.platform !== "linux" && "it is made on Linux, where real nodes run",
}, async (t) => {
  const project = realpathSync(mkdtempSync(join(tmpdir(), "konverge-project-")));
  const folder = mkdtempSync(join(tmpdir(), "konverge-archive-"));
  t.after(() => {
    for (const one of [project, folder]) rmSync(one, { recursive: true, force: true });
  });
  mkdirSync(join(project, "src"), { mode: 0o700 });
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", type: "module" }));
  writeFileSync(join(project, "src", "operator.ts"), OPERATOR);
  writeFileSync(join(project, "src", "words"), "My own.", { mode: 0o600 });
  writeFileSync(join(project, ".env"), "PASSWORD=secret");
  const catalog = await operatorCatalog({ names: "mine-operator", folder: project });

  const archive = await writeOperatorArchive(catalog, {
    image: "docker.io/example/operators:v1",
    folder,
    cwd: project,
  });

  assert.deepEqual(await archiveNames(archive), ["docker.io/example/operators:v1"]);
  const layer = join(folder, "layer.tar");
  const files = execFileSync("tar", ["-tf", layer], { encoding: "utf8", maxBuffer: 1 << 26 }).split("\n");
  assert.ok(files.includes(`${project.slice(1)}/src/operator.ts`));
  assert.ok(!files.some((file) => file.endsWith(".env")), "nothing of a project that is no code");
  assert.ok(!files.some((file) => file.includes("/node_modules/typescript/")), "no package that nothing depends on");

  if (process.getuid?.() !== 0) return t.diagnostic("its program was not run: that takes root");
  const root = join(folder, "root");
  mkdirSync(root);
  execFileSync("tar", ["-xf", layer, "-C", root]);
  const manifest = JSON.parse(execFileSync("tar", ["-xOf", archive, "config.json"], { encoding: "utf8" }));
  const { Entrypoint, WorkingDir, User } = manifest.config;
  const [user, group] = User.split(":");
  const other = [`--root=${root}`, `--wd=${WorkingDir}`, `--setuid=${user}`, `--setgid=${group}`];
  const output = execFileSync("unshare", [...other, ...Entrypoint, "operators"], { encoding: "utf8" });
  assert.match(output, /^mine-operator: My own\./m);
});
