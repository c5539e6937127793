import { allScripts } from "./all-scripts.ts";
import { normalize } from "./normalize.ts";
import { play } from "./play.ts";
import { Recording } from "./recording.ts";
import { embeddedTarget } from "./target.ts";
import { startWebhooks } from "./webhooks.ts";

const AT_ONCE = 4;

/** The name of the first script whose answers are not as recorded; undefined when no script notices anything. */
export async function firstNoticed(): Promise<string | undefined> {
  const recording = new Recording();
  const scripts = allScripts().filter((script) => recording.has(script) && !script.alone);
  await using embedded = await embeddedTarget();
  await using webhooks = await startWebhooks();
  const variables = { webhooks: webhooks.url, caBundle: webhooks.caBundle };
  let noticed: string | undefined;
  const queue = scripts.entries();
  const worker = async () => {
    for (const [index, script] of queue) {
      if (noticed !== undefined) return;
      const namespace = `mutant-${index + 1}`;
      const results = normalize(await play(script, embedded, namespace, variables), namespace);
      if (recording.firstDifference(script, results) !== undefined) noticed ??= script.name;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return noticed;
}
