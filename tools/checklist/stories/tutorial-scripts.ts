import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { CustomResourceDefinition } from "@konverge/kinds";
import type { TestEnvironment } from "@konverge/operator-suite";
import { knowsOperator } from "../deployed.ts";
import type { Story } from "../form.ts";
import type { ModelCase } from "./model-case.ts";

const FOLDER = join(import.meta.dirname, "../../../operators/llm/tutorial");

/** Runs a script of the tutorial; it must succeed. */
async function script(stage: TestEnvironment, name: string): Promise<string> {
  const { code, stdout, stderr } = await stage.shell(`./${name}`, { cwd: FOLDER });
  assert.equal(code, 0, `${name}\n${stdout}${stderr}`);
  return stdout;
}

/** The scripts and files that the documents name. */
export const tutorialScripts: Story<ModelCase> = {
  title: "the tutorial's scripts",
  kubectl: true,
  where: "embedded",
  lines: {
    "L7-8": "any cluster will do that kubectl reaches",
    L48: "01-what-is-crd.yaml is there",
    L58: "./01-test-crd.sh runs",
    L105: "02-simple-operator.yaml is there",
    L115: "./02-test-operator.sh runs",
    L178: "./test-all-crd-operator.sh runs",
    L186: "./cleanup-all-crd-operator.sh leaves nothing",
  },
  async play(stage, _values, line) {
    await knowsOperator(stage);
    await line("L7-8", async () => assert.equal((await stage.kubectl("get", "nodes")).code, 0));
    await line("L48", async () => assert.ok(existsSync(join(FOLDER, "01-what-is-crd.yaml"))));
    await line("L58", async () => assert.match(await script(stage, "01-test-crd.sh"), /nothing runs/));
    await line("L105", async () => assert.ok(existsSync(join(FOLDER, "02-simple-operator.yaml"))));
    await line("L115", async () => assert.match(await script(stage, "02-test-operator.sh"), /3\/3/));
    await line("L186", async () => {
      await script(stage, "cleanup-all-crd-operator.sh");
      assert.equal(await stage.find(CustomResourceDefinition, "llmmodels.ai.example.com"), undefined);
    });
    await line("L178", async () => {
      await script(stage, "test-all-crd-operator.sh");
      await script(stage, "cleanup-all-crd-operator.sh");
    });
  },
};
