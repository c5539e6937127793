export * from "@konverge/core";
