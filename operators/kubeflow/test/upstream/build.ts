// node operators/kubeflow/test/upstream/build.ts
// Builds Kubeflow's own training operator from the Go module proxy into a cache folder, for the tests that compare.
import { buildUpstream } from "./locate.ts";

const upstream = buildUpstream();
if (upstream.available) console.log(`${upstream.program} is there`);
else console.error(upstream.why);
process.exit(upstream.available ? 0 : 1);
