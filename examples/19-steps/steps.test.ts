import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./steps.scenario.ts";

test("steps go on where they were left", () => onEmbedded(scenario));
