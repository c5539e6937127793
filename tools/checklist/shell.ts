import assert from "node:assert/strict";
import type { TestEnvironment } from "@konverge/operator-suite";

/** Runs a line of shell, which must succeed, and gives what it printed. */
export async function sh(
  stage: TestEnvironment,
  command: string,
  env?: Readonly<Record<string, string>>,
): Promise<string> {
  const { code, stdout, stderr } = await stage.shell(command, env ? { env } : {});
  assert.equal(code, 0, `$ ${command}\n${stdout}${stderr}`);
  return stdout;
}

/** Runs a line again and again until it succeeds and prints what matches. */
export async function shUntil(stage: TestEnvironment, command: string, wanted: RegExp): Promise<string> {
  let last = "";
  await stage
    .until(`\`${command}\` prints ${wanted}`, async () => {
      const { code, stdout, stderr } = await stage.shell(command);
      last = stdout + stderr;
      return code === 0 && wanted.test(stdout);
    })
    .catch((error: Error) => {
      throw new Error(`${error.message.split("\n")[0]}; at last it printed:\n${last}`);
    });
  return last;
}
