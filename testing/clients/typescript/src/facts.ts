// Prints what the client's types say of each operation, as JSON schemas: names, types, what is required, enumerations.
// Reads the declarations alone; nothing is called. `cargo xtask schemas` writes what is printed into the repository.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

type Schema = { [keyword: string]: unknown };

const file = fileURLToPath(new URL('../src/operations.ts', import.meta.url));
const program = ts.createProgram([file], {
  strict: true,
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  skipLibCheck: true,
  noEmit: true,
});
const wrong = ts.getPreEmitDiagnostics(program);
if (wrong.length > 0) {
  const host = { getCanonicalFileName: String, getCurrentDirectory: () => '', getNewLine: () => '\n' };
  throw new Error(ts.formatDiagnostics(wrong, host));
}
const checker = program.getTypeChecker();
const schemas = new Map<string, Schema>();

/** The name of a type that the client exports, such as `dns/records.RecordResponse.ARecord`; none for others. */
function nameOf(type: ts.Type): string | undefined {
  const symbol = type.aliasSymbol ?? type.symbol;
  const home = symbol?.declarations?.[0]?.getSourceFile().fileName.match(/cloudflare\/resources\/(.*)\.d\.[cm]?ts$/)?.[1];
  if (home === undefined || symbol.name.startsWith('__') || (type.aliasTypeArguments ?? []).length > 0) return undefined;
  return `${home}.${checker.getFullyQualifiedName(symbol).replace(/^".*"\./, '')}`;
}

function schemaOf(type: ts.Type): Schema {
  const name = type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Union) ? nameOf(type) : undefined;
  if (name === undefined || checker.isArrayType(type)) return written(type);
  if (!schemas.has(name)) {
    schemas.set(name, {});
    schemas.set(name, written(type));
  }
  return { $ref: `#/schemas/${name}` };
}

function written(type: ts.Type): Schema {
  if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return {};
  if (type.flags & ts.TypeFlags.Null) return { type: 'null' };
  if (type.flags & ts.TypeFlags.BooleanLiteral) return { enum: [checker.typeToString(type) === 'true'] };
  if (type.flags & ts.TypeFlags.Boolean) return { type: 'boolean' };
  if (type.isStringLiteral() || type.isNumberLiteral()) return { enum: [type.value] };
  if (type.flags & ts.TypeFlags.String) return { type: 'string' };
  if (type.flags & ts.TypeFlags.Number) return { type: 'number' };
  if (type.isUnion()) return union(type.types.filter((member) => !(member.flags & ts.TypeFlags.Undefined)));
  if (checker.isArrayType(type)) {
    const item = checker.getTypeArguments(type as ts.TypeReference)[0];
    return { type: 'array', items: item === undefined ? {} : schemaOf(item) };
  }
  if (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection | ts.TypeFlags.NonPrimitive)) return object(type);
  throw new Error(`no schema for the type ${checker.typeToString(type)}`);
}

function union(members: ts.Type[]): Schema {
  const is = (flag: ts.TypeFlags) => (member: ts.Type) => (member.flags & flag) !== 0;
  const literals = members.filter((member) => member.isStringLiteral() || member.isNumberLiteral());
  const booleans = members.filter(is(ts.TypeFlags.BooleanLiteral));
  const rest = members.filter((member) => !literals.includes(member as never) && !booleans.includes(member));
  const branches: Schema[] = rest.map(schemaOf);
  if (literals.length > 0) {
    branches.unshift({ enum: literals.map((literal) => (literal as ts.LiteralType).value as string).sort() });
  }
  if (booleans.length > 0) branches.unshift(booleans.length > 1 ? { type: 'boolean' } : written(booleans[0]!));
  return branches.length === 1 ? branches[0]! : { anyOf: branches };
}

function object(type: ts.Type): Schema {
  const properties: { [name: string]: Schema } = {};
  const required: string[] = [];
  for (const property of checker.getPropertiesOfType(type)) {
    const declared = checker.getTypeOfSymbol(property);
    const optional = (property.flags & ts.SymbolFlags.Optional) !== 0;
    properties[property.name] = schemaOf(optional ? withoutUndefined(declared) : declared);
    if (!optional) required.push(property.name);
  }
  const index = checker.getIndexTypeOfType(type, ts.IndexKind.String);
  return {
    type: 'object',
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required: required.sort() } : {}),
    ...(index === undefined ? {} : { additionalProperties: schemaOf(index) }),
  };
}

/** The type of an optional field as it was written: with its name, and with its `null`. */
function withoutUndefined(type: ts.Type): ts.Type {
  const isNullable = type.isUnion() && type.types.some((member) => (member.flags & ts.TypeFlags.Null) !== 0);
  return isNullable ? type : checker.getNonNullableType(type);
}

const source = program.getSourceFile(file);
const declared = source?.statements.find(
  (statement) => ts.isInterfaceDeclaration(statement) && statement.name.text === 'Operations',
);
if (declared === undefined) throw new Error(`${file} declares no Operations`);
const operations: { [operation: string]: { [part: string]: Schema } } = {};
for (const operation of checker.getPropertiesOfType(checker.getTypeAtLocation(declared))) {
  const parts: { [part: string]: Schema } = {};
  for (const part of checker.getPropertiesOfType(checker.getTypeOfSymbol(operation))) {
    parts[part.name] = schemaOf(checker.getTypeOfSymbol(part));
  }
  operations[operation.name] = parts;
}
const manifest = JSON.parse(readFileSync(fileURLToPath(new URL('../package.json', import.meta.url)), 'utf8'));
const version: string = manifest.dependencies.cloudflare;
console.log(JSON.stringify({ source: `npm cloudflare ${version}`, operations, schemas: Object.fromEntries(schemas) }));
