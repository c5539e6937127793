// Loaded before a test file. Node's test runner follows every promise, to know which test an error belongs to that nobody
// catches; scenarios make so many that a fifth of their CPU time goes into that. Without it such an error fails the file
// instead of one of its tests.
const asyncHooks = process.getBuiltinModule("node:async_hooks");
const { createHook } = asyncHooks;
const idle = { enable: () => idle, disable: () => idle };
asyncHooks.createHook = (callbacks) =>
  new Error().stack?.includes("node:internal/test_runner") ? idle : createHook(callbacks);
