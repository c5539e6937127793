import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { RayJob } from "./ray-job.ts";
import { submitScript } from "./ray-job-children.ts";

/** Ray's client as a submitting pod sees it: it knows a job once it is submitted, which has succeeded then. */
const PYTHON = `#!/bin/sh
case "$2" in
*submit_job*) printf %s "$4" > submitted;;
*) test -e submitted && echo SUCCEEDED;;
esac
`;

test("all of an entrypoint runs on the head, and nothing of it in the submitting pod", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "submit-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, script] of Object.entries({ ray: "#!/bin/sh\n", python: PYTHON })) {
    writeFileSync(join(folder, name), script);
    chmodSync(join(folder, name), 0o755);
  }
  const entrypoint = `cd /jobs && python 'a "b".py' $REGION; touch escaped\ntouch escaped | cat`;
  const template = { spec: { containers: [{ name: "ray-head", image: "rayproject/ray:2.46.0" }] } };
  const job = RayJob.new({
    metadata: { name: "census", namespace: "team" },
    spec: {
      entrypoint,
      runtimeEnvYAML: "env_vars: { REGION: north }",
      entrypointResources: '{"custom": 1}',
      rayClusterSpec: { headGroupSpec: { template } },
    },
  });
  const env = { PATH: `${folder}${delimiter}${process.env.PATH}` };
  execFileSync("bash", ["-c", "--", submitScript(job, 0, "head:8265")], { cwd: folder, env });
  assert.deepEqual(JSON.parse(readFileSync(join(folder, "submitted"), "utf8")), {
    entrypoint,
    submission_id: "census-0",
    runtime_env: { env_vars: { REGION: "north" } },
    entrypoint_resources: { custom: 1 },
  });
  assert.ok(!existsSync(join(folder, "escaped")));
});
