#!/usr/bin/env node
// `npm create konverge NAME` is `konverge init NAME`, with the command of the package that this one depends on.
process.argv.splice(2, 0, "init");
await import(new URL("../bin/konverge.js", import.meta.resolve("konverge")).href);
