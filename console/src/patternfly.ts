// The parts of PatternFly that are used, each from its own folder: importing the package as a whole
// would bring the styles of all of them, a megabyte more.
export * from "@patternfly/react-core/dist/esm/components/Alert";
export * from "@patternfly/react-core/dist/esm/components/Button";
export * from "@patternfly/react-core/dist/esm/components/Card";
export * from "@patternfly/react-core/dist/esm/components/Checkbox";
export * from "@patternfly/react-core/dist/esm/components/ClipboardCopy";
export * from "@patternfly/react-core/dist/esm/components/ExpandableSection";
export * from "@patternfly/react-core/dist/esm/components/Form";
export * from "@patternfly/react-core/dist/esm/components/FormSelect";
export * from "@patternfly/react-core/dist/esm/components/Label";
export * from "@patternfly/react-core/dist/esm/components/Menu";
export * from "@patternfly/react-core/dist/esm/components/Modal";
export * from "@patternfly/react-core/dist/esm/components/Nav";
export * from "@patternfly/react-core/dist/esm/components/Pagination";
export * from "@patternfly/react-core/dist/esm/components/Progress";
export * from "@patternfly/react-core/dist/esm/components/SearchInput";
export * from "@patternfly/react-core/dist/esm/components/Spinner";
export * from "@patternfly/react-core/dist/esm/components/TextArea";
export * from "@patternfly/react-core/dist/esm/components/TextInput";
export * from "@patternfly/react-core/dist/esm/components/Title";
export * from "@patternfly/react-core/dist/esm/components/Tooltip";
