import { startCluster } from "@konverge/cluster";
import { guardStories } from "../../test/guard-stories.ts";

const nodes = [{ name: "node", capacity: { cpu: "4", memory: "8Gi", pods: "10" } }];

guardStories(() => startCluster({ nodes, images: ["db:1"] }));
