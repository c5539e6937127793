const _imports_0 = "/docs/npm-start.svg";
export {
  _imports_0 as _
};
