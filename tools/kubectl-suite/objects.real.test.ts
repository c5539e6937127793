import { findControlPlane } from "@konverge/real";
import { play } from "./play.ts";
import { embeddedServer, realServer } from "./servers.ts";
import { applying } from "./stories/apply.ts";
import { changes } from "./stories/changes.ts";
import { cluster } from "./stories/cluster.ts";
import { creation } from "./stories/creation.ts";
import { custom } from "./stories/custom.ts";
import { descriptions } from "./stories/descriptions.ts";
import { reading } from "./stories/reading.ts";

const plane = findControlPlane();

play(
  [...applying, ...changes, ...creation, ...reading, ...cluster, ...custom, ...descriptions],
  async () => [await realServer(), await embeddedServer()],
  plane.available ? false : plane.why,
);
