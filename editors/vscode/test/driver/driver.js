// In a real editor: opens a template, waits for findings, follows, renames, mends, and draws the graph. What came of it is written
// to the file that LOCUS_OUT names.
"use strict";

const fs = require("node:fs");
const vscode = require("vscode");

async function until(done) {
  for (let tries = 0; tries < 600; tries += 1) {
    const value = await done();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`this never came: ${done}`);
}

async function drive() {
  const folder = vscode.workspace.workspaceFolders[0].uri;
  const uri = vscode.Uri.joinPath(folder, "a.yaml");
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  const said = await until(() => {
    const all = vscode.languages.getDiagnostics(uri);
    return all.length > 0 && all;
  });
  const result = { diagnostics: said.map((one) => `${one.range.start.line}:${one.range.start.character} ${one.code.value ?? one.code}`) };
  const text = () => document.getText();
  const use = document.positionAt(text().indexOf("[net]") + 1);
  const found = await vscode.commands.executeCommand("vscode.executeDefinitionProvider", uri, use);
  const target = found[0].range ?? found[0].targetRange;
  result.definition = `${target.start.line}:${target.start.character}`;
  const hover = await vscode.commands.executeCommand("vscode.executeHoverProvider", uri, use);
  result.hover = hover[0].contents[0].value;
  const renamed = await vscode.commands.executeCommand("vscode.executeDocumentRenameProvider", uri, use, "lan");
  await vscode.workspace.applyEdit(renamed);
  result.renamed = text();
  const wrong = await until(() => vscode.languages.getDiagnostics(uri)[0]);
  const actions = await vscode.commands.executeCommand("vscode.executeCodeActionProvider", uri, wrong.range);
  await vscode.workspace.applyEdit(actions.find((action) => action.edit).edit);
  result.mended = text();
  await vscode.commands.executeCommand("locus.showGraph");
  const tabs = await until(() => {
    const all = vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.label));
    return all.includes("Location graph") && all;
  });
  result.tabs = tabs;
  // As it was, with what is wrong with it, for the picture.
  const whole = new vscode.Range(document.positionAt(0), document.positionAt(text().length));
  const before = new vscode.WorkspaceEdit();
  before.replace(uri, whole, result.renamed);
  await vscode.workspace.applyEdit(before);
  await vscode.commands.executeCommand("workbench.action.closeSidebar");
  await vscode.commands.executeCommand("workbench.actions.view.problems");
  return result;
}

exports.activate = async () => {
  let result;
  try {
    result = await drive();
  } catch (error) {
    result = { error: String(error.stack) };
  }
  fs.writeFileSync(`${process.env.LOCUS_OUT}.part`, JSON.stringify(result));
  fs.renameSync(`${process.env.LOCUS_OUT}.part`, process.env.LOCUS_OUT);
};
