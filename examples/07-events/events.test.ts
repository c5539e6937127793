import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./events.scenario.ts";

test("events report what happened", () => onEmbedded(scenario));
