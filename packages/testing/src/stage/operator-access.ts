export { hasWebhooks, type OperatorPlace, operatorAccess } from "@konverge/runtime";
