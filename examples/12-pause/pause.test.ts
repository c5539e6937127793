import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./pause.scenario.ts";

test("an object is left alone while somebody wants it so", () => onEmbedded(scenario));
