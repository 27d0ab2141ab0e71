// Symbols of a TypeScript project and the references to them, by the language service that tsserver serves.
//
//   node references.cjs LIBRARY ROOT CONFIG symbols FOLDER       prints [path, qualname, kind, line, column] of each symbol
//   node references.cjs LIBRARY ROOT CONFIG references < PLACES   prints [[path, line, isDefinition, isImport]] of each place
"use strict";

const fs = require("fs");
const path = require("path");

const [library, root, config, command, folder] = process.argv.slice(2);
const ts = require(library);
const file = path.join(root, config);
const parsed = ts.parseJsonConfigFileContent(ts.readConfigFile(file, ts.sys.readFile).config, ts.sys, path.dirname(file), {}, file);
const snapshots = new Map();
const service = ts.createLanguageService({
  getCompilationSettings: () => parsed.options,
  getScriptFileNames: () => parsed.fileNames,
  getScriptVersion: () => "1",
  getScriptSnapshot: (name) => {
    if (!snapshots.has(name)) snapshots.set(name, fs.existsSync(name) ? ts.ScriptSnapshot.fromString(fs.readFileSync(name, "utf8")) : undefined);
    return snapshots.get(name);
  },
  getCurrentDirectory: () => root,
  getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
});
const program = service.getProgram();
const relative = (name) => path.relative(root, name).split(path.sep).join("/");

const isTest = (name) => /(^|\/)(tests?|__tests__|__mocks__|testing)\/|\.(test|spec|bench)\.|\.d\.ts$/.test(name);
const isFunction = (value) => value && (ts.isArrowFunction(value) || ts.isFunctionExpression(value));

function symbols() {
  const found = new Map();
  for (const source of program.getSourceFiles()) {
    const name = relative(source.fileName);
    if (name.startsWith("..") || name.includes("node_modules/") || !name.startsWith(folder) || isTest(name)) continue;
    const add = (node, around, kind) => {
      if (!node || !ts.isIdentifier(node)) return;
      const { line, character } = source.getLineAndCharacterOfPosition(node.getStart(source));
      const key = `${name}::${around}${node.text}`;
      if (!found.has(key)) found.set(key, [name, around + node.text, kind, line + 1, character]);
    };
    const members = (node) => {
      for (const member of node.members) {
        const around = `${node.name.text}.`;
        if (ts.isMethodDeclaration(member) || ts.isMethodSignature(member)) add(member.name, around, "method");
        else if (ts.isAccessor(member)) add(member.name, around, "property");
        else if (ts.isPropertyDeclaration(member) || ts.isPropertySignature(member) || ts.isEnumMember(member)) {
          add(member.name, around, isFunction(member.initializer) ? "method" : "attribute");
        } else if (ts.isConstructorDeclaration(member)) {
          for (const each of member.parameters) if (ts.isParameterPropertyDeclaration(each, member)) add(each.name, around, "attribute");
        }
      }
    };
    for (const node of source.statements) {
      if (ts.isFunctionDeclaration(node)) add(node.name, "", "function");
      else if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isEnumDeclaration(node)) {
        add(node.name, "", "class");
        if (node.name) members(node);
      } else if (ts.isTypeAliasDeclaration(node)) add(node.name, "", "class");
      else if (ts.isVariableStatement(node)) {
        for (const each of node.declarationList.declarations) add(each.name, "", isFunction(each.initializer) ? "function" : "variable");
      }
    }
  }
  return [...found.values()];
}

function references(place) {
  const name = path.join(root, place.path);
  const position = program.getSourceFile(name).getPositionOfLineAndCharacter(place.line - 1, place.column);
  const found = [];
  for (const group of service.findReferences(name, position) ?? []) {
    for (const each of group.references) {
      const source = program.getSourceFile(each.fileName);
      const inside = relative(each.fileName);
      if (!source || inside.startsWith("..") || inside.includes("node_modules/")) continue;
      const { line } = source.getLineAndCharacterOfPosition(each.textSpan.start);
      found.push([inside, line + 1, Boolean(each.isDefinition), isImport(source, each.textSpan.start)]);
    }
  }
  return found;
}

function isImport(source, position) {
  let inside = false;
  const visit = (node) => {
    if (position < node.getFullStart() || position >= node.getEnd()) return;
    if (ts.isImportDeclaration(node) || ts.isImportEqualsDeclaration(node) || ts.isExportDeclaration(node)) inside = true;
    else ts.forEachChild(node, visit);
  };
  ts.forEachChild(source, visit);
  return inside;
}

const answer = command === "symbols" ? symbols() : JSON.parse(fs.readFileSync(0, "utf8")).map(references);
process.stdout.write(JSON.stringify(answer));
