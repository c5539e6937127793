// Runs the suite, in a separate thread, on a server with one mistake in it, and reports the first script that notices.
import { registerHooks } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type { Mutant } from "./mutants.ts";

const { file, find, replace } = workerData as Mutant;
const target = new URL(`../../packages/apiserver/src/${file}`, import.meta.url).href;
let isPlanted = false;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (url !== target) return loaded;
    const source = String(loaded.source);
    if (source.split(find).length !== 2) {
      throw new Error(
        `${file}: the text that the mutant changes occurs ${source.split(find).length - 1} times: ${find}`,
      );
    }
    isPlanted = true;
    return { ...loaded, source: source.replace(find, () => replace) };
  },
});

const { firstNoticed } = await import("./notice.ts");
const noticed = await firstNoticed();
if (!isPlanted) throw new Error(`${file} was never loaded`);
parentPort!.postMessage(noticed);
