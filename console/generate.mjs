// Writes src/api/schema.ts: a TypeScript type for each schema of the API's OpenAPI document, so that
// a member that is renamed there does not compile here. Usage: node generate.mjs
import { readFileSync, writeFileSync } from "node:fs";

const root = new URL(".", import.meta.url);
const source = new URL("../docs/operations/openapi.json", root);
const { schemas } = JSON.parse(readFileSync(source, "utf8")).components;

const PLAIN = { integer: "number", number: "number", string: "string", boolean: "boolean" };

function objectType(schema) {
  const extra = schema.additionalProperties;
  if (!schema.properties && extra && typeof extra === "object")
    return `Record<string, ${type(extra)}>`;
  if (!schema.properties) return "Record<string, unknown>";
  const required = new Set(schema.required ?? []);
  const member = ([name, one]) => `${name}${required.has(name) ? "" : "?"}: ${type(one)}`;
  return `{ ${Object.entries(schema.properties).map(member).join("; ")} }`;
}

function type(schema) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join(" | ");
  if (schema.type === "array") return `Array<${type(schema.items ?? {})}>`;
  if (schema.type === "object" || schema.properties) return objectType(schema);
  return PLAIN[schema.type] ?? "unknown";
}

const lines = Object.entries(schemas).map(
  ([name, schema]) => `export type ${name} = ${type(schema)};`,
);
const head = "// Made by generate.mjs of docs/operations/openapi.json; do not edit.\n";
writeFileSync(new URL("src/api/schema.ts", root), head + lines.join("\n") + "\n");
