import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./external.scenario.ts";

test("something outside follows its object", () => onEmbedded(scenario));
