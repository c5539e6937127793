import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./references.scenario.ts";

test("an object follows what it refers to", () => onEmbedded(scenario));
