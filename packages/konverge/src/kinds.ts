export * from "@konverge/kinds";
