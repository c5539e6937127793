import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

/** Prints the packages and built-in modules that importing a module loads. */
const LIST = `
import { registerHooks } from "node:module";
const loaded = new Set();
registerHooks({ load(url, context, next) {
  loaded.add(/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\/(?!package\\.json$)/.exec(url)?.[1] ?? /(?<=packages\\/)[^/]+(?=\\/src\\/)/.exec(url)?.[0] ?? url);
  return next(url, context);
} });
await import(process.argv[1]);
console.log(JSON.stringify([...loaded]));
`;

async function loadedBy(module: string): Promise<string[]> {
  const args = [
    "--disable-warning=ExperimentalWarning",
    "--input-type=module",
    "--eval",
    LIST,
    import.meta.resolve(module),
  ];
  return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout) as string[];
}

test("importing konverge loads no server and no HTTP client", async () => {
  const loaded = await loadedBy("konverge");
  for (const one of ["undici", "ws", "yaml", "pino", "prom-client", "node:http", "node:tls", "apiserver"])
    assert.ok(!loaded.includes(one), `${one} is loaded`);
});
