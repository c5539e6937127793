import assert from "node:assert/strict";
import { test } from "node:test";
import { documents } from "./documents.ts";
import { checklist, line } from "./form.ts";
import { type LineResult, playStory } from "./run.ts";

const cases = [{ namespace: "default" }, { namespace: "other" }] as const;

async function results(story: Parameters<typeof playStory>[1]): Promise<LineResult[]> {
  const document = checklist({ id: "D9", name: "a-document", cases, stories: [story] });
  const found: LineResult[] = [];
  for await (const result of playStory(document, story, { embedded: true, real: undefined })) found.push(result);
  return found;
}

test("a line passes when its check does, in each case", async () => {
  const visited: string[] = [];
  const [only] = await results(line("L1", "a title", async (stage) => void visited.push(stage.namespace)));
  assert.deepEqual(visited, ["default", "other"]);
  assert.equal(only?.result, "passed");
});

test("a line that fails in the second case only has failed, and says with which values", async () => {
  const [only] = await results(
    line("L1", "a title", async (stage) => assert.equal(stage.namespace, "default", "not there")),
  );
  assert.equal(only?.result, "failed");
  assert.match(only?.detail ?? "", /"namespace":"other".*not there/);
});

test("a line that a story never comes to has failed, and the ones before it have not", async () => {
  const found = await results({
    title: "a story",
    lines: { L1: "first", L2: "second" },
    async play(_stage, _values, check) {
      await check("L1", async () => {});
      throw new Error("the stage fell down");
    },
  });
  assert.deepEqual(
    found.map(({ line: number, result, detail }) => [number, result, detail]),
    [
      ["L1", "passed", "2 ways"],
      ["L2", "failed", "the stage fell down"],
    ],
  );
});

test("no line is checked twice in a document, whichever files describe it", async () => {
  const visited = new Set<string>();
  for (const { id, stories } of await documents()) {
    for (const number of stories.flatMap(({ lines }) => Object.keys(lines))) {
      assert.ok(!visited.has(`${id} ${number}`), `${id} ${number} is checked twice`);
      visited.add(`${id} ${number}`);
    }
  }
  assert.ok(visited.size > 0);
});
