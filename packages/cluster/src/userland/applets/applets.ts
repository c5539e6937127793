import type { Command } from "../process.ts";
import { FILES } from "./files.ts";
import { NETWORK } from "./network.ts";
import { SYSTEM } from "./system.ts";
import { tar } from "./tar.ts";
import { test } from "./test.ts";
import { TEXT } from "./text.ts";

/** The commands that every simulated image has, by name. */
export const APPLETS: Readonly<Record<string, Command>> = {
  ...TEXT,
  ...FILES,
  ...SYSTEM,
  ...NETWORK,
  tar,
  test,
  "[": test,
  "[[": test,
};
// Commands are found by names that scripts give: `constructor` is none.
Object.setPrototypeOf(APPLETS, null);
