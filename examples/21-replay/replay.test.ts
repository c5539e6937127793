import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./replay.scenario.ts";

test("a recording shows what new code would do differently", () => onEmbedded(scenario));
