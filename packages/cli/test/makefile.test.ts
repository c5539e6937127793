import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const make = (...args: string[]) =>
  spawnSync("make", ["--no-print-directory", ...args], { cwd: ROOT, encoding: "utf8" });
const skip = spawnSync("make", ["--version"]).error ? "make is not installed" : false;

test("make targets call the command, with what they are given", { skip }, () => {
  const planned = (...args: string[]) => make("--dry-run", ...args).stdout;
  assert.match(planned("manifests"), /main\.ts manifests --output config/);
  assert.match(planned("install"), /main\.ts install --operators all/);
  assert.match(planned("run", "ARGS=--log-level=debug"), /main\.ts run --operators all --log-level=debug/);
  const image = "registry.example.com/training:v1";
  assert.match(planned("deploy", `IMG=${image}`), new RegExp(`main\\.ts deploy --image ${image}`));
  const built = planned("docker-build", "docker-push", `IMG=${image}`);
  assert.match(built, new RegExp(`docker build --tag ${image} \\.\\n[\\s\\S]*docker push ${image}`));
  assert.match(planned("undeploy", "OPERATORS=llm"), /main\.ts undeploy --operators llm/);
  assert.match(planned("uninstall", "ARGS=--force"), /main\.ts uninstall .*--force/);
});

test("without docker, make says what to do instead", { skip }, () => {
  const { status, stderr } = make("docker-build", "CONTAINER_TOOL=no-such-tool");
  assert.notEqual(status, 0);
  assert.match(stderr, /no-such-tool is not installed\. Install it, .*make run/);
});
