// Writes docs/reference/cli.md, after a change of the command's options.
import { writeFileSync } from "node:fs";
import { konverge } from "./program.ts";
import { reference } from "./reference.ts";

const page = new URL("../../../docs/reference/cli.md", import.meta.url);
writeFileSync(
  page,
  reference(
    konverge((error) => {
      throw error;
    }),
  ),
);
