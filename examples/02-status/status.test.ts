import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./status.scenario.ts";

test("an object says how it is doing", () => onEmbedded(scenario));
