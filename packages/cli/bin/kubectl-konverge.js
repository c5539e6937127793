#!/usr/bin/env node
// The same program by the name that kubectl looks for: `kubectl konverge database status NAME`.
await import("./konverge.js");
