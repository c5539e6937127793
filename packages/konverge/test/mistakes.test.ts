import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { test } from "node:test";

const ROOT = resolve(import.meta.dirname, "../../..");
const FIXTURES = join(import.meta.dirname, "mistakes");

/** What the compiler says about a line, its explanation included. */
interface CompilerError {
  readonly line: string;
  readonly message: string;
}

function compile(): CompilerError[] {
  const folder = mkdtempSync(join(tmpdir(), "konverge-mistakes-"));
  try {
    const config = {
      extends: join(ROOT, "tsconfig.json"),
      compilerOptions: { typeRoots: [join(ROOT, "node_modules/@types")] },
      include: [FIXTURES, join(ROOT, "packages/*/src/**/*.d.ts")],
      exclude: [],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const args = ["--pretty", "false", "-p", folder];
    const { stdout } = spawnSync(join(ROOT, "node_modules/.bin/tsc"), args, { cwd: ROOT, encoding: "utf8" });
    return stdout
      .split(/\n(?! )/)
      .filter(Boolean)
      .map((text) => {
        const [, file = text, line = "", message = ""] = /^(\S+)\((\d+),\d+\): (.*)$/s.exec(text) ?? [];
        return { line: `${basename(file)}:${line}`, message };
      });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The comment `// error: …` before a line has a part of the message that the compiler must report for this line. */
function expectedErrors(): CompilerError[] {
  return globSync(join(FIXTURES, "*.ts"))
    .sort()
    .flatMap((file) =>
      readFileSync(file, "utf8")
        .split("\n")
        .flatMap((text, index) => {
          const message = /^\s*\/\/ error: (.*)$/.exec(text)?.[1];
          return message ? [{ line: `${basename(file)}:${index + 2}`, message }] : [];
        }),
    );
}

test("the compiler refuses typical mistakes at their line and names what is wrong", () => {
  const expected = expectedErrors();
  const reported = compile();
  assert.ok(expected.length >= 20);
  assert.deepEqual(
    reported.map(({ line }) => line),
    expected.map(({ line }) => line),
    reported.map(({ line, message }) => `${line}: ${message}`).join("\n"),
  );
  for (const [index, { line, message }] of expected.entries()) {
    const { message: actual } = reported[index]!;
    assert.ok(actual.includes(message), `${line} should report "${message}", not:\n${actual}`);
  }
});
