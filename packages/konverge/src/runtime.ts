export * from "@konverge/runtime";
