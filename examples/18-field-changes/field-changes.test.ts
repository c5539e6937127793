import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./field-changes.scenario.ts";

test("a change is dealt with, old value at hand", () => onEmbedded(scenario));
