// The operator of workload.ts on Konverge.
//   node operator.ts            runs until it is stopped
//   node operator.ts compile    imports what it needs, and ends
//   node operator.ts cache N    caches all ConfigMaps, says so when there are N of them, and waits
//   node operator.ts shards     runs as one of several replicas, each with a share of the objects
import { setFlagsFromString } from "node:v8";
import { controller, run } from "konverge";
import { connect } from "konverge/client";
import { ConfigMap } from "konverge/kinds";
import { silentLog } from "konverge/observability";
import { Cache } from "konverge/runtime";
import { Widget } from "./widget.ts";

// As `konverge run` does.
setFlagsFromString("--semi-space-growth-factor=1");

const widgets = controller(Widget, {
  name: "widgets",
  owns: [ConfigMap],
  concurrency: 10,
  reconcile({ metadata: { name }, spec: { value } }) {
    const child = ConfigMap.draft({ metadata: { name }, data: { value } });
    return { children: [child], status: { value, child: name } };
  },
});

const [mode, count] = process.argv.slice(2);
const client = await connect(mode === "compile" ? { config: { server: "https://127.0.0.1" } } : {});
// What fills the compile cache of an image: everything is imported, nothing is done.
if (mode === "compile") process.exit(0);
if (mode === "cache") {
  const cache = new Cache(client);
  const view = cache.use(ConfigMap);
  cache.start();
  await view.whenSynced();
  if ([...view.keys()].length < Number(count)) throw new Error(`there are only ${[...view.keys()].length} objects`);
  console.log("cached");
  process.once("SIGTERM", () => process.exit(0));
} else {
  const sharding = mode === "shards" ? { sharding: { name: "widgets", namespace: "default" } } : {};
  const manager = await run(widgets, { client, log: silentLog, ...sharding });
  process.once("SIGTERM", () => void manager.stop().then(() => process.exit(0)));
}
