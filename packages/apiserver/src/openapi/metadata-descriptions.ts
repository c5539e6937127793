/**
 * What `kubectl explain` says of the fields that every object has. Kinds of a CRD come with other descriptions; these
 * are the fields that no CRD describes.
 */
export const API_VERSION =
  "APIVersion defines the group and version of the kind, and so the form that this object is in.";
export const KIND = "Kind says what this object is, in CamelCase; it does not change.";
export const METADATA = "Standard object's metadata: its name, namespace, labels and whatever else every object has.";

/** Of the fields of ObjectMeta. */
export const METADATA_FIELDS: Readonly<Record<string, string>> = {
  annotations: "Annotations are texts of any length that tools keep with the object; nothing is selected by them.",
  creationTimestamp: "CreationTimestamp is a timestamp: when the server stored the object for the first time.",
  deletionGracePeriodSeconds: "How long the object may take to end by itself once it is being deleted.",
  deletionTimestamp: "DeletionTimestamp is set by the server when the deletion of the object is requested.",
  finalizers: "Finalizers name the controllers that still have to clean up: the object stays until the list is empty.",
  generateName: "GenerateName is a prefix from which the server makes a name when none is given.",
  generation: "Generation counts the changes of what is desired.",
  labels: "Labels are short texts by which objects are found and grouped.",
  managedFields: "ManagedFields record who set which field, for server-side apply.",
  name: "Name is unique among objects of the kind in a namespace; it cannot be changed.",
  namespace: "Namespace is where the object lives; kinds of the whole cluster have none.",
  ownerReferences: "OwnerReferences name the objects that this one depends on: it goes when the last of them goes.",
  resourceVersion: "ResourceVersion changes with each write; an update that carries an older one is refused.",
  uid: "UID is unique in time as well: an object made again under the same name has another.",
};
