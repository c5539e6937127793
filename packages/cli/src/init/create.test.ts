import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { projectStage } from "../../test/project-stage.ts";
import { createVersion } from "./create-version.ts";
import { createWebhook } from "./create-webhook.ts";

const beta = { kind: "Cache", version: "v1beta1" };
const webhook = { kind: "Cache", defaulting: true, validation: true };

test("a project with another version and a webhook type-checks, and its tests pass", async () => {
  using project = projectStage();
  const { folder, lines, tell } = project;
  await createVersion(beta, folder, tell);
  await createWebhook(webhook, join(folder, "src"), tell);
  assert.ok(lines.includes("src/cache.ts has the version v1beta1 now"), lines.join("\n"));
  assert.match(project.read("src/apis.ts"), /admissions: AdmissionWebhook\[\] = \[cacheAdmission\];/);
  project.test("src/cache-conversion.test.ts", "src/cache-admission.test.ts");
  project.lint();
  // With webhooks and conversion, too, the first thing that a user runs works.
  assert.match(project.run(process.execPath, "--disable-warning=ExperimentalWarning", "src/start.ts"), /has converged/);

  // A second version more, and a field that is called otherwise in it.
  await createVersion({ ...beta, version: "v1" }, folder, tell);
  project.write(
    "src/cache-v1.ts",
    project.read("src/cache-v1.ts").replace("text: z.string().min(1)", "words: z.string()"),
  );
  const source = project
    .read("src/cache.ts")
    .replace(
      "toStored: ({ spec, status }) => ({ spec, status })",
      "toStored: ({ spec: { words }, status }) => ({ spec: { text: words }, status })",
    )
    .replace(
      "fromStored: ({ spec, status }) => ({ spec, status })",
      "fromStored: ({ spec: { text }, status }) => ({ spec: { words: text }, status })",
    );
  project.write("src/cache.ts", source);
  project.write("src/cache-v1.ts", project.read("src/cache-v1.ts").replace(".spec.text", ".spec.words"));
  project.check();
  project.test("src/cache-conversion.test.ts");

  // What the conversion forgets, its test finds.
  project.write("src/cache.ts", project.read("src/cache.ts").replace("words: text }", 'words: "forgotten" }'));
  assert.throws(() => project.test("src/cache-conversion.test.ts"), /changes spec\.words/);
});

test("what is there is not written again, and a file that cannot be extended is named before anything is written", async () => {
  using project = projectStage();
  const { folder, lines, tell } = project;
  await createVersion(beta, folder, tell);
  const [source, version] = [project.read("src/cache.ts"), `${project.read("src/cache-v1beta1.ts")}// mine\n`];
  project.write("src/cache-v1beta1.ts", version);
  await createWebhook(webhook, folder, tell);
  project.write("src/cache-admission.ts", `${project.read("src/cache-admission.ts")}// mine\n`);
  lines.length = 0;
  await createVersion(beta, folder, tell);
  await createWebhook(webhook, folder, tell);
  assert.equal(project.read("src/cache.ts"), source);
  assert.equal(project.read("src/cache-v1beta1.ts"), version);
  assert.match(project.read("src/cache-admission.ts"), /mine/);
  assert.ok(lines.includes("src/cache.ts unchanged: Cache has the version v1beta1"), lines.join("\n"));
  assert.ok(lines.includes("src/cache-admission.ts kept: it exists, and is not overwritten"), lines.join("\n"));

  project.write("src/cache.ts", source.replace("  versions: {", "  versions:\n {"));
  await assert.rejects(
    createVersion({ ...beta, version: "v1" }, folder, tell),
    /src\/cache\.ts is not changed: .*versions\.v1 and conversion\.v1/,
  );
  assert.equal(existsSync(join(folder, "src/cache-v1.ts")), false);
  await assert.rejects(
    createWebhook({ ...webhook, kind: "Other" }, folder, tell),
    /no kind Other: .*create api --kind Other/,
  );
  project.write("src/cache.ts", "import nothing from './nothing.ts';\n");
  await assert.rejects(createVersion(beta, folder, tell), /src\/cache\.ts cannot be loaded: .*nothing\.ts/);
});
