import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./children.scenario.ts";

test("children are made, repaired, pruned when they are no longer wanted", () => onEmbedded(scenario));
