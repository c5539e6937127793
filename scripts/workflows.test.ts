import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

const workflows = globSync(".github/{workflows,actions/*}/*.yml").map(
  (file) => [file, readFileSync(file, "utf8")] as const,
);

test("workflows run only npm scripts that exist", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
  for (const [file, text] of workflows) {
    for (const [, name] of text.matchAll(/npm run ([\w:-]+)/g)) assert.ok(name! in scripts, `${file}: npm run ${name}`);
  }
});

test("actions of others are pinned to a commit, with its version beside it", () => {
  for (const [file, text] of workflows) {
    for (const [line, action] of text.matchAll(/uses: (\S+).*/g)) {
      if (action!.startsWith("./")) continue;
      assert.match(line, /@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, `${file}: ${line}`);
    }
  }
});

test("jobs have a time limit and no more permissions than reading, unless they ask for them", () => {
  for (const [file, text] of workflows.filter(([name]) => name.includes("workflows"))) {
    assert.match(text, /^permissions:\n {2}contents: read$/m, file);
    assert.equal([...text.matchAll(/runs-on:/g)].length, [...text.matchAll(/timeout-minutes:/g)].length, file);
  }
});

test("a release builds its image on base images by digest, whatever tags Dockerfile names", () => {
  const release = readFileSync(".github/workflows/release.yml", "utf8");
  const dockerfile = readFileSync("Dockerfile", "utf8");
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => /^\$\{(\w+)\}$/.exec(image!)?.[1]);
  const [, resolved = ""] = /for name in ([\w ]+); do/.exec(release) ?? [];
  assert.deepEqual(bases, resolved.split(" "));
  for (const base of bases) {
    assert.match(dockerfile, new RegExp(`^ARG ${base}=\\S+:\\S+$`, "m"));
    assert.ok(release.includes(`${base}=\${{ steps.base.outputs.${base} }}`), base);
  }
});
