import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./cleanup.scenario.ts";

test("nothing goes before it is cleaned up after", () => onEmbedded(scenario));
