// Writes docs/reference/permissions, after a change of what operators may do.
import { mkdirSync, writeFileSync } from "node:fs";
import { operators } from "@konverge/operators";
import { permissionPages } from "./permission-pages.ts";

const folder = new URL("../../../../docs/reference/permissions/", import.meta.url);
mkdirSync(folder, { recursive: true });
for (const [name, text] of permissionPages(operators)) writeFileSync(new URL(name, folder), text);
