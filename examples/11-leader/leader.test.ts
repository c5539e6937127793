import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./leader.scenario.ts";

test("one of two replicas acts, and the other takes over", () => onEmbedded(scenario));
