import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./tenancy.scenario.ts";

test("an object brings about no more than its tenant may", () => onEmbedded(scenario));
