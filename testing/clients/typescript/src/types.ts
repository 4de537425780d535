// Compares answers with the types that the client declares for them: what they lack, what they have too much.
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import type { Noted } from './answers.js';

/** Every difference once, as `Type.field: what`. */
export function differences(noted: Noted[]): string[] {
  const file = fileURLToPath(new URL('../src/answers.ts', import.meta.url));
  const program = ts.createProgram([file], {
    strict: true,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    skipLibCheck: true,
    noEmit: true,
  });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const declared = source?.statements.find(
    (statement) => ts.isInterfaceDeclaration(statement) && statement.name.text === 'Answers',
  );
  if (declared === undefined) throw new Error(`${file} declares no Answers`);
  const answers = checker.getTypeAtLocation(declared);
  const found = new Set<string>();
  for (const { route, value } of noted) {
    const property = answers.getProperty(route);
    if (property === undefined) throw new Error(`Answers has no type for ${route}`);
    compare(checker, checker.getTypeOfSymbol(property), value, route, found);
  }
  return [...found].sort();
}

function compare(checker: ts.TypeChecker, type: ts.Type, value: unknown, at: string, found: Set<string>): void {
  if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return;
  const members = type.isUnion() ? type.types : [type];
  const fitting = members.filter((member) => fits(checker, member, value));
  if (fitting.length === 0) {
    found.add(`${at}: ${value === null ? 'null' : 'another type'}`);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    const item = checker.getTypeArguments(fitting[0] as ts.TypeReference)[0];
    for (const one of value) if (item !== undefined) compare(checker, item, one, at, found);
    return;
  }
  // Of the types that could be meant, the one from which it differs least.
  const verdicts = fitting.map((member) => {
    const own = new Set<string>();
    fields(checker, member, value as { [field: string]: unknown }, at, own);
    return own;
  });
  verdicts.sort((a, b) => a.size - b.size)[0]?.forEach((difference) => found.add(difference));
}

function fields(
  checker: ts.TypeChecker,
  type: ts.Type,
  value: { [field: string]: unknown },
  at: string,
  found: Set<string>,
): void {
  // `"…/zones/zones".Zone.Owner` is called Zone.Owner; types without a name are called by their place.
  const name = type.symbol && checker.getFullyQualifiedName(type.symbol).replace(/^".*"\./, '');
  const here = name === undefined || name.startsWith('__') ? at : name;
  for (const property of checker.getPropertiesOfType(type)) {
    const optional = (property.flags & ts.SymbolFlags.Optional) !== 0;
    if (!(property.name in value) && !optional) found.add(`${here}.${property.name}: missing`);
  }
  for (const [field, inner] of Object.entries(value)) {
    const property = checker.getPropertyOfType(type, field);
    const index = checker.getIndexTypeOfType(type, ts.IndexKind.String);
    if (property !== undefined) {
      compare(checker, checker.getTypeOfSymbol(property), inner, `${here}.${field}`, found);
    } else if (index !== undefined) {
      compare(checker, index, inner, `${here}.${field}`, found);
    } else {
      found.add(`${here}.${field}: extra`);
    }
  }
}

/** Whether the value can be meant by the type: its sort, and of an object its literals (`type: 'A'`). */
function fits(checker: ts.TypeChecker, type: ts.Type, value: unknown): boolean {
  if (value === null) return (type.flags & ts.TypeFlags.Null) !== 0;
  if (typeof value === 'string') {
    return type.isStringLiteral() ? type.value === value : (type.flags & ts.TypeFlags.String) !== 0;
  }
  if (typeof value === 'number') {
    return type.isNumberLiteral() ? type.value === value : (type.flags & ts.TypeFlags.Number) !== 0;
  }
  if (typeof value === 'boolean') return checker.typeToString(type) === String(value);
  if (!(type.flags & ts.TypeFlags.Object) || checker.isArrayType(type) !== Array.isArray(value)) return false;
  return checker.getPropertiesOfType(type).every((property) => {
    const inner = checker.getTypeOfSymbol(property);
    const given = (value as { [field: string]: unknown })[property.name];
    return !inner.isStringLiteral() || inner.value === given;
  });
}
