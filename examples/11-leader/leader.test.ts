import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./leader.scenario.ts";

test("one of two replicas is active, and the other acquires the lease when it ends", () => onEmbedded(scenario));
