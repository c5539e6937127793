export * from "@konverge/schema";
