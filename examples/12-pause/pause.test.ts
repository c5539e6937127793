import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./pause.scenario.ts";

test("an object is not reconciled while its annotation says so", () => onEmbedded(scenario));
