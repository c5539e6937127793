import { test } from "node:test";
import { onEmbedded } from "../test/embedded.ts";
import { scenario } from "./takeover.scenario.ts";

test("another operator's objects become this one's", () => onEmbedded(scenario));
