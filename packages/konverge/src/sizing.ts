export * from "@konverge/runtime/sizing";
