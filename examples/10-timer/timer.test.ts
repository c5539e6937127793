import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./timer.scenario.ts";

test("something is done again after a while", () => onEmbedded(scenario));
