export * from "@konverge/testing";
