/**
 * Filters for the `when` option of controllers and watches: which changes cause a reconcile.
 */
export {
  allPredicates,
  annotationsChanged,
  anyPredicate,
  type CacheChange,
  generationChanged,
  labelsChanged,
  type Predicate,
  valueChanged,
} from "@konverge/runtime";
