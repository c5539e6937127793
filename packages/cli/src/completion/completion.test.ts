import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { konverge } from "../program.ts";
import { completionScript, SHELLS } from "./completion.ts";

const program = konverge((error) => {
  throw error;
});

const has = (shell: string) => spawnSync(shell, ["-c", "true"]).status === 0;

/** What bash offers for a line that ends with the last word. */
function offered(...words: string[]): string[] {
  const script = `${completionScript(program, "bash")}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
_konverge; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8", cwd: "/" });
  assert.equal(stderr, "");
  return stdout.split("\n").filter(Boolean);
}

test("bash completes commands, their parts, options and choices", { skip: !has("bash") }, () => {
  assert.deepEqual(offered("konverge", "doct"), ["doctor"]);
  assert.deepEqual(offered("konverge", "create", "v"), ["version"]);
  assert.deepEqual(offered("konverge", "up", "--name", "x", "--real"), ["--real-nodes"]);
  assert.deepEqual(offered("konverge", "doctor", "--output", "j"), ["json"]);
  assert.equal(offered("konverge", "envtest-").includes("envtest-apiserver"), false);
});

test("each shell reads its script without an error", () => {
  for (const shell of SHELLS) {
    const script = completionScript(program, shell);
    assert.match(script, /migrate-storage/);
    if (!has(shell)) continue;
    const { status, stderr } = spawnSync(shell, ["-n"], { input: script, encoding: "utf8" });
    assert.equal(`${status} ${stderr}`, "0 ", shell);
  }
});
