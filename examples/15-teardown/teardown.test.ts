import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./teardown.scenario.ts";

test("what was built last is taken down first", () => onEmbedded(scenario));
