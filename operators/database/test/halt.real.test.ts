import { halts, sleepsAndWakes } from "./halt-stories.ts";
import { withPostgres } from "./postgres.ts";

withPostgres("fenced servers stop in order in their pods, and go on where they were", halts);
withPostgres("servers that all end together go on in the same term with all rows", sleepsAndWakes);
