export * from "@konverge/sizing";
