import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./errors.scenario.ts";

test("each failure is treated as what it is", () => onEmbedded(scenario));
