import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ApiServer } from "@konverge/apiserver";
import { Client } from "@konverge/client";
import { realClock, sleep } from "@konverge/core";
import { ConfigMap, CustomResourceDefinition, Namespace } from "@konverge/kinds";
import { controller, hotReload, run, silentLog } from "@konverge/runtime";
import { configMap, dataOf, logTo, Widget } from "./stage.ts";

const folder = mkdtempSync(join(tmpdir(), "konverge-reload-"));
after(() => rmSync(folder, { recursive: true }));
const clock = realClock();

async function until(what: string, condition: () => Promise<boolean> | boolean): Promise<void> {
  const end = clock.monotonic() + 60_000;
  while (!(await condition())) {
    if (clock.monotonic() > end) assert.fail(`it never came true that ${what}`);
    await sleep(clock, 20);
  }
}

test("a change of a module, or of one that it imports, takes the place of the version that runs", async () => {
  const server = new ApiServer({ clock });
  const client = new Client(server.transport, { clock });
  await client.create(CustomResourceDefinition, Widget.crd() as never);
  await client.create(Namespace, { metadata: { name: "default" } }).catch(() => {});
  await until("the kind is served", () =>
    client.list(Widget).then(
      () => true,
      () => false,
    ),
  );
  await client.create(Widget.new({ metadata: { name: "w", namespace: "default" }, spec: {} }));
  const [main, part] = [join(folder, "main.ts"), join(folder, "part.ts")];
  writeFileSync(part, 'export const word: string = "one";');
  writeFileSync(main, 'import { word } from "./part.ts";\nexport const text = () => word;');
  const complaints: string[] = [];
  let running = 0;
  const reload = await hotReload<{ text(): string }>({
    module: main,
    clock,
    log: logTo(complaints),
    async start({ text }) {
      assert.equal(running++, 0, "two versions run at the same time");
      const manager = await run(
        controller(Widget, {
          name: "reloaded",
          owns: [ConfigMap],
          reconcile: () => ({ children: [configMap("a", { text: text() })] }),
        }),
        { client, log: silentLog },
      );
      return {
        async [Symbol.asyncDispose]() {
          await manager.stop();
          running--;
        },
      };
    },
  });
  const isText = (text: string) => () =>
    dataOf(client, "default/a").then(
      (data) => data?.["text"] === text,
      () => false,
    );
  await until("the first version works", isText("one"));
  writeFileSync(part, 'export const word: string = "two";');
  await until("the second version works", isText("two"));
  writeFileSync(main, "export const text = (");
  await until("it is told that this is no module", () => complaints.length > 0);
  assert.match(
    complaints[0]!,
    /cannot be loaded, so the previous one keeps running: .*main\.ts:1: Expression expected/,
  );
  await client.delete(ConfigMap, "default/a");
  await until("the second version still works", isText("two"));
  writeFileSync(main, 'import { word } from "./part.ts";\nexport const text = () => word + " and three";');
  await until("the next version works", isText("two and three"));
  await reload.reload();
  assert.ok(reload.versions >= 4);
  await reload[Symbol.asyncDispose]();
  assert.equal(running, 0);
  server.close();
});

test("a first version that does not work is an error", async () => {
  const main = join(folder, "broken.ts");
  writeFileSync(main, 'throw new Error("broken from the start");');
  const start = async () => ({ async [Symbol.asyncDispose]() {} });
  await assert.rejects(
    hotReload({ module: main, start }),
    /broken\.ts cannot be loaded: .*broken\.ts:1:7: broken from the start$/,
  );
});

test("every save is seen, also of an editor that renames the new file over the old one, in folders that are new as well", async () => {
  const home = join(folder, "renamed");
  mkdirSync(home);
  const [main, part] = [join(home, "main.ts"), join(home, "parts", "part.ts")];
  const save = (file: string, text: string) => {
    writeFileSync(`${file}~`, text);
    renameSync(`${file}~`, file);
  };
  const words: string[] = [];
  save(main, 'export const word = "one";');
  await using _ = await hotReload<{ word: string }>({
    module: main,
    clock,
    start: async ({ word }) => {
      words.push(word);
      return { async [Symbol.asyncDispose]() {} };
    },
  });
  const reaches = (word: string) => until(`${word} runs`, () => words.at(-1) === word);
  for (const word of ["two", "three", "four"]) {
    save(main, `export const word = "${word}";`);
    await reaches(word);
  }
  mkdirSync(join(home, "parts"));
  save(part, 'export const word = "five";');
  save(main, 'export { word } from "./parts/part.ts";');
  await reaches("five");
  for (const word of ["six", "seven"]) {
    save(part, `export const word = "${word}";`);
    await reaches(word);
  }
  rmSync(join(home, "parts"), { recursive: true });
  mkdirSync(join(home, "parts"));
  save(part, 'export const word = "eight";');
  await reaches("eight");
  save(part, 'export const word = "nine";');
  await reaches("nine");
});
